#include "server_plugin/host/life/checkpoint.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/mom_config.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/posix/spawn.h"

namespace pbs::host {
namespace {

std::string value_of(std::string_view parameter, const Server& server, const Job& job) {
    const Attributes& a = job.attributes;
    const auto user = find_user(std::string(a.text("euser")));
    if (parameter == "%jobid") return job.id;
    if (parameter == "%sid") return std::string(a.text("session_id"));
    if (parameter == "%uid") return user ? std::to_string(user->uid) : std::string();
    if (parameter == "%gid") return user ? std::to_string(user->gid) : std::string();
    if (parameter == "%login") return std::string(a.text("euser"));
    if (parameter == "%owner") return std::string(a.text("Job_Owner"));
    if (parameter == "%path") return fmt::format("{}/checkpoint/{}.CK", server.options.home, job.id);
    return std::string(parameter);
}

pid_t run(const Server& server, const Job& job, const CheckpointAction& action) {
    const std::string folder = server.options.home + "/checkpoint";
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return -errno;
    std::vector<std::string> arguments{action.program};
    for (const std::string& argument : action.arguments) arguments.push_back(value_of(argument, server, job));
    posix::Spawn program;
    for (const int fd : {0, 1, 2}) program.give_nothing(fd);
    program.close_from(3);
    return program.start(action.program, std::move(arguments));
}

// Returns the outcome of a checkpoint program; nullopt: it still runs.
std::optional<Result<void>> outcome(Server& server, const Checkpoint& checkpoint) {
    int status = 0;
    const pid_t ended = ::waitpid(checkpoint.pid, &status, WNOHANG);
    if (ended == 0) {
        if (std::chrono::steady_clock::now() < checkpoint.until) return std::nullopt;
        ::kill(-checkpoint.pid, SIGKILL);
        server.killed_children.push_back(checkpoint.pid);
        return fail(PBSE_SYSTEM, "the program took too long");
    }
    if (ended > 0 && status == 0) return Result<void>();
    if (ended > 0 && WIFEXITED(status))
        return fail(PBSE_SYSTEM, fmt::format("the program ended with {}", WEXITSTATUS(status)));
    return fail(PBSE_SYSTEM, "the program was killed");
}

}  // namespace

bool may_checkpoint(const Server& server, const Job& job) {
    return server.state.checkpoints && job.attributes.text("Checkpoint") != "n" &&
           job.substate == substate::kRunning;
}

void begin_checkpoint(Server& server, const Job& job, std::function<void(const Result<void>&)> done) {
    const auto action = read_mom_config(server.options.home).checkpoint;
    if (!action) return done(fail(PBSE_SYSTEM, "mom_priv/config names no program"));
    const pid_t pid = run(server, job, *action);
    if (pid < 0) return done(fail(PBSE_SYSTEM, fmt::format("{}: {}", action->program, system_text(-pid))));
    server.checkpoints.push_back({pid, std::chrono::steady_clock::now() + action->timeout, std::move(done)});
}

void poll_checkpoints(Server& server) {
    for (std::size_t i = 0; i < server.checkpoints.size();) {
        const auto result = outcome(server, server.checkpoints[i]);
        if (!result) {
            ++i;
            continue;
        }
        const auto done = std::move(server.checkpoints[i].done);
        server.checkpoints.erase(server.checkpoints.begin() + static_cast<std::ptrdiff_t>(i));
        done(*result);
    }
}

}  // namespace pbs::host
