#include "migrate/read_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "values/fd.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

tl::unexpected<std::string> unreadable(int error) {
    return tl::unexpected(fmt::format("can't be read: {}", values::system_text(error)));
}

const char* kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a named pipe";
    return S_ISSOCK(mode) ? "a socket" : "a device";
}

}  // namespace

tl::expected<std::string, std::string> read_file(const std::string& path, std::uintmax_t longest) {
    const auto too_large = [&] {
        return tl::unexpected(fmt::format("is too large, expected at most {} bytes", longest));
    };
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return unreadable(errno);
    if (!S_ISREG(info.st_mode))
        return tl::unexpected(fmt::format("is {}, expected a file", kind_of(info.st_mode)));
    // Check the size before the file is in memory.
    if (static_cast<std::uintmax_t>(info.st_size) > longest) return too_large();
    // A pipe may have taken the file's place since: don't wait for its writer.
    const values::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file) return unreadable(errno);
    std::string out;
    std::array<char, 65536> part{};
    while (true) {
        const ssize_t got = ::read(file.get(), part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return unreadable(errno);
        if (got == 0) return out;
        out.append(part.data(), static_cast<std::size_t>(got));
        if (out.size() > longest) return too_large();
    }
}

}  // namespace pbs::migrate
