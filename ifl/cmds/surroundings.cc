#include "ifl/cmds/surroundings.h"

#include <netdb.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "values/pbs_conf.h"

namespace pbs::cmds {

namespace {

struct FreeInfo {
    void operator()(addrinfo* info) const { freeaddrinfo(info); }
};

// The host's full name from the resolver, else from the kernel.
std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
    addrinfo hints{};
    hints.ai_flags = AI_CANONNAME;
    hints.ai_family = AF_UNSPEC;
    addrinfo* found = nullptr;
    if (getaddrinfo(name.data(), nullptr, &hints, &found) != 0) return name.data();
    const std::unique_ptr<addrinfo, FreeInfo> owner(found);
    return found->ai_canonname != nullptr ? found->ai_canonname : name.data();
}

// The working directory under the name by which the user went there, if that is still the same directory.
Result<std::string> working_directory(const std::map<std::string, std::string>& variables) {
    std::array<char, 4096> buffer{};
    if (getcwd(buffer.data(), buffer.size()) == nullptr)
        return fail(fmt::format("cannot tell the working directory: {}", std::strerror(errno)), 1);
    const auto named = variables.find("PWD");
    struct stat here {};
    struct stat there {};
    if (named != variables.end() && named->second.starts_with('/') && stat(".", &here) == 0 &&
        stat(named->second.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
        here.st_ino == there.st_ino)
        return named->second;
    return std::string(buffer.data());
}

}  // namespace

Result<SubmitEnvironment> submit_environment() {
    SubmitEnvironment environment;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals != std::string_view::npos && equals > 0)
            environment.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    auto directory = working_directory(environment.variables);
    if (!directory) return tl::unexpected(directory.error());
    environment.directory = std::move(*directory);
    environment.host = host_name();
    utsname system{};
    environment.system = uname(&system) == 0 ? system.sysname : "";
    return environment;
}

OptionContext option_context(const SubmitEnvironment& environment) {
    return {std::time(nullptr), environment.host, environment.directory};
}

std::string server_home() {
    if (const char* home = std::getenv("PBS_HOME"); home != nullptr && *home != '\0') return home;
    const char* named = std::getenv("PBS_CONF_FILE");
    auto conf = values::read_pbs_conf(values::pbs_conf_path(named == nullptr ? "" : named));
    if (const auto home = conf.find("PBS_HOME"); home != conf.end()) return std::move(home->second);
    // The default is the home of this project's package if the package is installed, else OpenPBS's.
    constexpr const char* kOfPackage = "/var/spool/pbspolicy";
    std::error_code error;
    return std::filesystem::is_directory(kOfPackage, error) ? kOfPackage : "/var/spool/pbs";
}

}  // namespace pbs::cmds
