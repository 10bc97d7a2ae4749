#include "tools/simulate/external.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <variant>

#include "tools/simulate/report.h"
#include "values/text.h"

namespace pbs::simulate {
namespace {

// The longest wait for the sockets. After it, checks whether the program has ended or does nothing.
constexpr int kLookEvery = 100;  // milliseconds
// While a client has this many bytes of answers to read, its further requests aren't answered.
constexpr std::size_t kMostUnread = std::size_t{1} << 20;

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    return set;
}

Result<values::Fd> listen_at(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return tl::unexpected(fmt::format("{}: a shorter path is needed for a socket (TMPDIR)", path));
    std::memcpy(address.sun_path, path.c_str(), path.size());
    values::Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener || bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener.get(), SOMAXCONN) != 0)
        return tl::unexpected(fmt::format("{}: can't listen: {}", path, values::system_text(errno)));
    return listener;
}

}  // namespace

HeldSignals::HeldSignals() {
    const sigset_t set = ending_signals();
    pthread_sigmask(SIG_BLOCK, &set, &before_);
}

HeldSignals::~HeldSignals() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

ExternalScheduler::ExternalScheduler(ExternalOptions options, std::unique_ptr<HeldSignals> held,
                                     values::TemporaryFolder folder, values::Fd listener, values::Fd signals,
                                     Program program)
    : options_(std::move(options)),
      held_(std::move(held)),
      folder_(std::move(folder)),
      listener_(std::move(listener)),
      signals_(std::move(signals)),
      program_(std::move(program)) {}

Result<ExternalScheduler> ExternalScheduler::start(ExternalOptions options) {
    // From here on these signals come as data, so that the program and the folder don't outlive this process.
    auto held = std::make_unique<HeldSignals>();
    const sigset_t set = ending_signals();
    values::Fd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals) return tl::unexpected(fmt::format("signalfd: {}", values::system_text(errno)));
    auto folder = values::TemporaryFolder::make("pbs_simulate");
    if (!folder) return tl::unexpected(folder.error());
    // The C API looks here for the socket of the server whose home is the folder.
    const std::string server_priv = folder->file("server_priv");
    if (mkdir(server_priv.c_str(), S_IRWXU) != 0)
        return tl::unexpected(fmt::format("{}: {}", server_priv, values::system_text(errno)));
    auto listener = listen_at(server_priv + "/pbs.sock");
    if (!listener) return tl::unexpected(listener.error());
    auto program = Program::start(options.command, folder->path());
    if (!program) return tl::unexpected(program.error());
    return ExternalScheduler(std::move(options), std::move(held), *std::move(folder), *std::move(listener),
                             std::move(signals), *std::move(program));
}

ExternalScheduler::~ExternalScheduler() {
    if (!listener_) return;  // moved from
    // Send the signal before closing the connections: the program would take their end for an error.
    program_.terminate();
    clients_.clear();
}

std::string ExternalScheduler::named(SimulatedServer& server, const std::string& what) const {
    return fmt::format("the program '{}' {}, at {} of the simulation", options_.command, what,
                       time_text(server.now(), server.scheduler().zone()));
}

bool ExternalScheduler::is_due(const SimulatedServer& server, const ProgramSession& session) const {
    if (server.now() >= session.wait->until) return true;
    if (session.wait->for_record || session.wait->version == server.changes().version()) return false;
    return options_.interval <= Seconds(1) || server.now() >= last_turn_ + options_.interval;
}

void ExternalScheduler::end_waits(SimulatedServer& server) {
    bool ended = false;
    for (Client& client : clients_) {
        if (!client.session.wait || !is_due(server, client.session)) continue;
        take(client, ProgramRequests::end_wait(server, client.session));
        ended = true;
    }
    if (!ended) return;
    last_turn_ = server.now();
    ++turns_;
}

Instant ExternalScheduler::next_turn(const SimulatedServer& server) const {
    Instant next = Instant::max();
    for (const Client& client : clients_) {
        if (!client.session.wait) continue;
        next = std::min(next, client.session.wait->until);
        if (!client.session.wait->for_record && client.session.wait->version != server.changes().version())
            next = std::min(next, last_turn_ + options_.interval);
    }
    return next;
}

void ExternalScheduler::take(Client& client, const std::vector<std::string>& packets) {
    for (const std::string& packet : packets) client.out += packet;
    send(client);
}

void ExternalScheduler::send(Client& client) {
    std::size_t sent = 0;
    while (sent < client.out.size()) {
        const ssize_t some = ::send(client.socket.get(), client.out.data() + sent, client.out.size() - sent,
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (some < 0 && errno == EINTR) continue;
        if (some < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
            client.out.clear();
            client.closes = true;
            return;
        }
        if (some < 0) break;
        sent += static_cast<std::size_t>(some);
    }
    client.out.erase(0, sent);
}

bool ExternalScheduler::has_room(const Client& client) {
    return !client.closes && !client.session.wait && client.out.size() < kMostUnread;
}

// Answers the requests that have come whole, up to one that has to wait.
void ExternalScheduler::serve(SimulatedServer& server, Client& client) {
    while (has_room(client)) {
        auto decoded = client.requests.next();
        if (std::holds_alternative<ifl::RequestDecoder::NeedMore>(decoded)) return;
        asked_ = Clock::now();
        if (const auto* bad = std::get_if<ifl::RequestDecoder::Malformed>(&decoded)) {
            take(client, {ifl::reply_packet(ifl::Reply::error(bad->error.code, bad->error.message))});
            client.closes = true;
            return;
        }
        const auto& request = std::get<ifl::Request>(decoded);
        if (request.type == ifl::RequestType::disconnect)
            client.closes = true;
        else
            take(client, requests_.answer(server, client.session, request));
    }
}

// Reads what has come. Returns false at the end of the connection.
bool ExternalScheduler::receive(Client& client) {
    std::array<char, ifl::kReadSize> bytes{};
    while (true) {
        const ssize_t some = recv(client.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (some > 0) {
            client.requests.feed({bytes.data(), static_cast<std::size_t>(some)});
            return true;
        }
        if (some == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) return false;
        if (errno != EINTR) return true;
    }
}

void ExternalScheduler::accept_all() {
    while (true) {
        const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && errno == EINTR) continue;
        if (fd < 0) return;
        clients_.emplace_back(fd);
        asked_ = Clock::now();
    }
}

void ExternalScheduler::drop_closed() {
    for (auto client = clients_.begin(); client != clients_.end();) {
        if (!client->closes || !client->out.empty()) {
            ++client;
            continue;
        }
        requests_.forget(client->session);
        client = clients_.erase(client);
    }
}

// Waits for bytes from the program and reads them, for kLookEvery at most. Errors: SIGINT, SIGTERM or SIGHUP
// came; poll() failed.
Result<void> ExternalScheduler::wait_for_requests() {
    // Look at the program first: what it has sent before its end is read below.
    const bool ended = !program_.ended().empty();
    std::vector<pollfd> ready = {{listener_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    for (const Client& client : clients_) {
        short events = has_room(client) ? POLLIN : 0;
        if (!client.out.empty()) events |= POLLOUT;
        ready.push_back({client.socket.get(), events, 0});
    }
    if (poll(ready.data(), ready.size(), ended ? 0 : kLookEvery) < 0 && errno != EINTR)
        return tl::unexpected(fmt::format("poll: {}", values::system_text(errno)));
    signalfd_siginfo signal{};
    if (ready[1].revents != 0 && read(signals_.get(), &signal, sizeof signal) == sizeof signal)
        return tl::unexpected(fmt::format("ended by signal {}", signal.ssi_signo));
    auto state = ready.begin() + 2;
    for (Client& client : clients_) {
        const short events = (state++)->revents;
        if ((events & POLLOUT) != 0) send(client);
        if ((events & (POLLIN | POLLHUP | POLLERR)) == 0 || receive(client)) continue;
        client.closes = true;
        client.out.clear();
    }
    if (ready[0].revents != 0) accept_all();
    drop_closed();
    gone_ = ended && clients_.empty() && ready[0].revents == 0;
    return {};
}

// Returns whether each connection of the program that schedules waits for changes. False: there is none.
bool ExternalScheduler::waits() const {
    bool one = false;
    for (const Client& client : clients_) {
        if (!client.session.schedules) continue;
        if (!client.session.wait || !client.out.empty()) return false;
        one = true;
    }
    return one;
}

Result<void> ExternalScheduler::check_patience(SimulatedServer& server) const {
    const auto now = Clock::now();
    const auto since = [&](Clock::time_point at) { return now - at > options_.patience; };
    if (since(std::max(asked_, advanced_)))
        return tl::unexpected(
            named(server, fmt::format("has asked for nothing for {} s", options_.patience.count())));
    if (since(advanced_))
        return tl::unexpected(
            named(server, fmt::format("has asked for {} s without starting a job or letting "
                                      "simulated time go on",
                                      options_.patience.count())));
    return {};
}

Result<void> ExternalScheduler::turn(SimulatedServer& server) {
    if (gone_ && server.waiting_jobs() == 0 && server.jobs_to_come() == 0) return {};
    progress_ = server.progress();
    advanced_ = Clock::now();
    if (last_turn_ == Instant::min()) {
        last_turn_ = server.now();
        ++turns_;
    }
    end_waits(server);
    while (true) {
        for (Client& client : clients_) serve(server, client);
        drop_closed();
        if (server.progress() != progress_) {
            progress_ = server.progress();
            advanced_ = Clock::now();
        }
        if (waits()) {
            end_waits(server);  // of changes that another connection has made
            if (waits()) return {};
        }
        if (gone_) {
            if (server.waiting_jobs() == 0 && server.jobs_to_come() == 0) return {};
            return tl::unexpected(named(
                server, fmt::format("has ended {}, with {} waiting and {} to come", program_.ended(),
                                    values::counted(server.waiting_jobs(), "job"), server.jobs_to_come())));
        }
        if (options_.stop.stop_requested()) return tl::unexpected(std::string("it was stopped"));
        if (auto done = check_patience(server); !done) return done;
        if (auto done = wait_for_requests(); !done) return done;
    }
}

}  // namespace pbs::simulate
