#include "server_plugin/host/state/equivalence.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <sstream>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/state/values.h"

namespace pbs::host {

bool is_equivalent(std::istream& file, std::string_view user, std::string_view host, std::string_view as) {
    if (user.empty() || host.empty() || as.empty() || as == "root") return false;
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string named;
        std::string who;
        if (!(words >> named)) continue;
        words >> who;
        const bool denies = named.front() == '-';
        if (!same_name(denies ? std::string_view(named).substr(1) : std::string_view(named), host)) continue;
        if (denies) return false;
        if (who.empty() ? user == as : user == who) return true;
    }
    return false;
}

bool is_equivalent(std::string_view user, std::string_view host, std::string_view as,
                   const std::string& path) {
    constexpr std::size_t kLargest = std::size_t{1} << 20;
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info {};
    if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != 0 ||
        (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return false;
    const auto text = read_fd(fd.get(), path, kLargest);
    if (!text) return false;
    std::istringstream file(*text);
    return is_equivalent(file, user, host, as);
}

}  // namespace pbs::host
