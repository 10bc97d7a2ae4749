#include "server_plugin/host/run/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include "ifl/pbs_error.h"
#include "server_plugin/host/run/launch_message.h"
#include "server_plugin/host/run/shepherd_protocol.h"
#include "server_plugin/posix/spawn.h"

namespace pbs::host {

namespace {

// The most answers that one call of carry() takes.
constexpr int kMostAnswers = 64;

tl::unexpected<Error> start_error(int error, std::string_view what) {
    return fail(may_pass(error) ? PBSE_TRYAGAIN : PBSE_SYSTEM,
                fmt::format("{}: {}", what, system_text(error)));
}

}  // namespace

Launcher::~Launcher() {
    // Close the socket: the launcher's process ends when it sees that. Don't wait for it.
    socket_.reset();
    if (process_ > 0) ::waitpid(process_, nullptr, WNOHANG);
}

Result<void> Launcher::begin() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return start_error(errno, "socketpair");
    Fd ours(ends[0]);
    const Fd theirs(ends[1]);
    posix::Spawn helper(posix::Spawn::Signals::blocked);
    for (const int fd : {0, 1, 2}) helper.give_nothing(fd);
    helper.give(theirs.get(), kLauncherFd);
    helper.close_from(kLauncherFd + 1);
    const pid_t pid = helper.start(program_, {"pbs_shepherd", kLauncherArgument, home_});
    if (pid < 0) return start_error(-pid, program_);
    process_ = pid;
    socket_ = std::move(ours);
    waits_ = false;
    watch(false, EPOLL_CTL_ADD);
    return {};
}

void Launcher::watch(bool writable, int operation) const {
    epoll_event event{};
    event.events = EPOLLIN | (writable ? EPOLLOUT : 0U);
    event.data.u64 = data_;
    static_cast<void>(::epoll_ctl(epoll_, operation, socket_.get(), &event));
}

Result<void> Launcher::ask(const RunId& id) {
    return put(id, {});
}

bool Launcher::forget(const RunId& id) {
    return put(id, launch_message::kForget).has_value();
}

Result<void> Launcher::put(const RunId& id, const std::string& note) {
    if (!socket_)
        if (auto begun = begin(); !begun) return begun;
    unsent_.push_back(launch_message::write(id, note));
    send_some();
    return {};
}

void Launcher::send_some() {
    bool full = false;
    while (!unsent_.empty() && !full) {
        const std::string& text = unsent_.front();
        full = ::send(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0;
        if (!full) unsent_.pop_front();
    }
    // If sending failed because the launcher is gone, carry() finds that out.
    if (full != waits_) watch(full, EPOLL_CTL_MOD);
    waits_ = full;
}

bool Launcher::carry(std::deque<Answer>& answers) {
    if (!socket_) return true;
    for (int i = 0; i < kMostAnswers; ++i) {
        const bool there =
            received_.size > 0 || launch_message::receive(socket_.get(), MSG_DONTWAIT, received_);
        if (!there && (errno == EAGAIN || errno == EINTR)) break;
        auto message = there ? launch_message::parse(received_.view()) : std::nullopt;
        if (!message) {
            end();
            return false;
        }
        Answer& answer =
            answers.emplace_back(Answer{std::move(message->id), {}, {}, std::move(message->note)});
        received_.size = 0;  // the answer is kept: nothing takes memory from here on
        auto& [process, notify] = received_.descriptors;
        if (!notify) continue;
        answer.process = std::move(process);
        answer.notify = std::move(notify);
        ::fcntl(answer.notify.get(), F_SETFL, O_NONBLOCK);
    }
    send_some();
    return true;
}

void Launcher::end() {
    socket_.reset();
    received_.size = 0;
    unsent_.clear();
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
}

}  // namespace pbs::host
