#include "server_plugin/host/life/message.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/base/spawn.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/life/launch.h"
#include "server_plugin/host/run/job_env.h"
#include "values/number.h"

namespace pbs::host {
namespace {

constexpr const char* kWriterArgument = "--write-message";
constexpr std::size_t kMostWriters = 64;

}  // namespace

Result<MessageWriter> MessageWriter::start(Server& server, const Job& job, char stream,
                                           std::string_view text) {
    auto start = job_start(job, server, {});
    if (!start) return tl::unexpected(start.error());
    const auto owner = find_user(start->uid);
    Account entry;
    entry.name = start->user;
    if (owner) entry.home = owner->home;
    // With Join_Path there is only one file for both streams.
    if (start->join == "oe") stream = 'o';
    if (start->join == "eo") stream = 'e';
    const std::string path = output_file(*start, entry, stream);
    server.reap();
    if (server.message_writers + server.killed_children.size() >= kMostWriters)
        return fail(PBSE_SYSTEM,
                    fmt::format("{}: {} messages are being written already, or can't be: try later", path,
                                kMostWriters));
    const pid_t pid = spawn(server.options.program,
                            {"pbs_server", kWriterArgument, start->user, fmt::format("{}", start->uid),
                             fmt::format("{}", start->gid), path},
                            fmt::format("PBS: {}\n", text));
    if (pid < 0)
        return fail(PBSE_SYSTEM, fmt::format("{}: its writer can't be run: {}", path, system_text(-pid)));
    return MessageWriter(server, pid, path);
}

MessageWriter::MessageWriter(Server& server, pid_t pid, std::string path)
    : server_(server),
      pid_(pid),
      path_(std::move(path)),
      until_(std::chrono::steady_clock::now() + server.options.message_time) {
    ++server_.message_writers;
}

MessageWriter::MessageWriter(MessageWriter&& other) noexcept
    : server_(other.server_),
      pid_(std::exchange(other.pid_, 0)),
      path_(std::move(other.path_)),
      until_(other.until_) {}

MessageWriter::~MessageWriter() {
    if (pid_ == 0) return;
    --server_.message_writers;
    ::kill(pid_, SIGKILL);
    server_.killed_children.push_back(pid_);
}

std::optional<Result<void>> MessageWriter::poll() {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == 0) {
        if (std::chrono::steady_clock::now() < until_) return std::nullopt;
        return fail(PBSE_SYSTEM,
                    fmt::format("{}: not written within {} seconds, given up", path_,
                                std::chrono::duration<double>(server_.options.message_time).count()));
    }
    --server_.message_writers;
    pid_ = 0;
    if (ended > 0 && status == 0) return Result<void>();
    const bool told = ended > 0 && WIFEXITED(status);
    return fail(PBSE_SYSTEM,
                fmt::format("{}: {}", path_, told ? system_text(WEXITSTATUS(status)) : "its writer died"));
}

bool is_message_writer(int argc, char** argv) {
    return argc > 1 && std::string_view(argv[1]) == kWriterArgument;
}

int message_writer_main(int argc, char** argv) {
    if (argc != 6) {
        (void)std::fprintf(stderr, "pbs_server: %s is for the server's own use\n", argv[1]);
        return EINVAL;
    }
    const auto uid = values::number<uid_t>(argv[3]);
    const auto gid = values::number<gid_t>(argv[4]);
    if (!uid || !gid) return EINVAL;
    const auto text = read_fd(STDIN_FILENO, "the message");
    if (!text) return EIO;
    if (::geteuid() == 0 && (::initgroups(argv[2], *gid) != 0 || ::setgid(*gid) != 0 || ::setuid(*uid) != 0))
        return errno;
    const Fd file(::open(argv[5], O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC));
    if (!file) return errno;
    struct stat info {};
    if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return EINVAL;
    errno = EIO;
    return write_all(file.get(), *text) ? 0 : errno;
}

}  // namespace pbs::host
