#include "tools/simulate/program.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <vector>

#include "server_plugin/posix/spawn.h"
#include "tools/simulate/files.h"
#include "values/text.h"

namespace pbs::simulate {
namespace {

// The variables that name a server to the C API.
constexpr std::array<std::string_view, 5> kOfServer = {
    "PBS_HOME=", "PBS_CONF_FILE=", "PBS_DEFAULT=", "PBS_SERVER=", "PBS_BATCH_SERVICE_PORT="};

// Returns this process's environment, in which the variables of the server name the simulated one.
Result<std::vector<std::string>> environment_with(const std::string& home) {
    const std::string conf = home + "/pbs.conf";
    if (auto done = write_file(conf, fmt::format("PBS_HOME={}\nPBS_SERVER=simulation\n", home)); !done)
        return tl::unexpected(done.error());
    std::vector<std::string> all;
    for (char** one = environ; *one != nullptr; ++one)
        if (std::ranges::none_of(
                kOfServer, [&](std::string_view name) { return std::string_view(*one).starts_with(name); }))
            all.emplace_back(*one);
    all.push_back("PBS_HOME=" + home);
    all.push_back("PBS_CONF_FILE=" + conf);
    return all;
}

std::string how_ended(const siginfo_t& info) {
    if (info.si_code == CLD_EXITED) return fmt::format("with exit status {}", info.si_status);
    return fmt::format("by signal {}", info.si_status);
}

}  // namespace

Result<Program> Program::start(const std::string& command, const std::string& home) {
    auto environment = environment_with(home);
    if (!environment) return tl::unexpected(environment.error());
    posix::Spawn spawn;
    spawn.give_nothing(STDIN_FILENO);
    spawn.give_nothing(STDOUT_FILENO);
    spawn.close_from(STDERR_FILENO + 1);
    const pid_t pid = spawn.start("/bin/sh", {"sh", "-c", command}, *std::move(environment));
    if (pid < 0)
        return tl::unexpected(fmt::format("can't start '{}': {}", command, values::system_text(-pid)));
    return Program(pid);
}

void Program::terminate() const {
    if (pid_ > 0) ::kill(-pid_, SIGTERM);
}

const std::string& Program::ended() {
    siginfo_t info{};
    // Leave the process for the destructor to reap: until then its number, that of its group, stays in use.
    if (ended_.empty() && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_)
        ended_ = how_ended(info);
    return ended_;
}

Program::~Program() {
    if (pid_ <= 0) return;
    terminate();
    constexpr int kTries = 200;
    for (int i = 0; i < kTries && ended().empty(); ++i) usleep(10'000);
    ::kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace pbs::simulate
