// Network: gives clients turns, in which their requests are answered within bounds of memory.

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <uv.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/net/network_impl.h"
#include "server_plugin/host/policy/plugin.h"

namespace pbs::host {
namespace {

// The pause, in milliseconds, between two checks whether waiting answers may go on.
constexpr uint64_t kLaterMs = 5;
// The pause between two looks for clients that have gone while they wait for a change, and for waits that are
// over.
constexpr uint64_t kWaitingMs = 250;
// A connection gets another turn when it has fewer bytes of replies to send than this.
constexpr std::size_t kMostUnsent = size_t{256} << 10;
// An answer that is made in steps ends its turn after this many bytes.
constexpr std::size_t kMostOfATurn = size_t{64} << 10;
// The memory of a decoded request, as a multiple of its bytes.
constexpr std::size_t kDecodedByBytes = 3;
// The time for which serve() answers requests before the loop looks for other events. It is short, because a
// command sends four requests, each after the reply to the last one, and so waits for four such turns.
constexpr std::chrono::milliseconds kLoopTurn{2};
// The time for which serve() answers requests while there is something to commit. It is longer, because each
// commit waits for the disk.
constexpr std::chrono::milliseconds kCommitTurn{10};
// The most requests that are committed together, so that no client waits long for the other requests.
constexpr std::size_t kMostHeld = 1024;

// Returns whether the request changes one of the plugin's own objects.
bool changes_plugin_object(const ifl::Request& request) {
    const auto* manage = std::get_if<ifl::Manage>(&request.body);
    return request.type == ifl::RequestType::manager && manage != nullptr &&
           is_plugin_type(manage->object_type);
}

}  // namespace

// Gives turns to the connections that have work, for a limited time; then commits, and returns to the loop.
void Network::Impl::serve() {
    if (closing_) return;
    accepts_left_ = kAcceptsOfATurn;
    if (unaccepted_socket_) accept_guarded(reinterpret_cast<uv_stream_t*>(&socket_), true);
    if (unaccepted_tcp_) accept_guarded(reinterpret_cast<uv_stream_t*>(&tcp_), false);
    const auto first = Steady::now();
    for (auto begin = first; begin < first + (held_.empty() ? kLoopTurn : kCommitTurn) && !closing_;) {
        const auto turn = clients_.next();
        if (!turn) break;
        Peer& peer = *peers_.at(turn->connection);
        peer.turn = Peer::Turn::none;
        if (waits_for_memory(peer)) {
            guard(peer, [&] { want_turn(peer); });
            continue;
        }
        guard(peer, [&] {
            step(peer);
            write(peer);
            recount(peer);
        });
        const auto end = Steady::now();
        if (!peer.closing) {
            clients_.took(*peer.client, end - begin);
            guard(peer, [&] { want_turn(peer); });
        }
        begin = end;
    }
    const bool settled = guarded(server_.parts.log, "commit", [this] { settle(); });
    lines_.reset();
    if (clients_.anybody_ready() || !settled) {
        uv_idle_start(&no_wait_, [](uv_idle_t*) {});
    } else {
        uv_idle_stop(&no_wait_);
    }
}

void Network::Impl::step(Peer& peer) {
    if (!peer.full_limits && auth_.known(peer.id)) now_known(peer);
    if (peer.closing || peer.close_after_write) return;
    if (peer.asked != nullptr) {
        answer_on(peer);
    } else {
        take_request(peer);
    }
}

// Notes that the connection wants a turn, at once or when there is memory for it. If the connection has no
// request or answer to work on, reads from it instead. So nothing is read before all earlier requests of the
// connection are answered.
void Network::Impl::want_turn(Peer& peer) {
    using Turn = Peer::Turn;
    if (peer.closing || peer.close_after_write || closing_ || peer.turn == Turn::later || peer.checked)
        return;
    if (peer.asked == nullptr && !peer.unread) {
        read(peer);
        return;
    }
    if (std::exchange(peer.reading, false)) uv_read_stop(&peer.handle.stream);
    if (peer.turn != Turn::none) {
        clients_.forget(*peer.client, peer.id);
        peer.turn = Turn::none;
    }
    if (peer.outgoing() >= kMostUnsent) return;  // the end of a write calls this function again
    if (waits_for_memory(peer)) {
        clients_.want_memory(*peer.client, peer.id);
        peer.turn = Turn::memory;
    } else {
        clients_.want_turn(*peer.client, peer.id);
        peer.turn = Turn::ready;
        uv_idle_start(&no_wait_, [](uv_idle_t*) {});
    }
}

// Returns whether the connection has to wait because its user has too much memory in use. A connection with
// unsent bytes has to wait, unless its answer has reserved its memory at the beginning (Steps::size). Without
// unsent bytes it may begin a request up to a higher bound of memory, and an answer that is under way goes
// on. So one of the user's connections can always go on, and then frees its memory.
bool Network::Impl::waits_for_memory(const Peer& peer) const {
    if (clients_.may_take(*peer.client) || peer.client->busy == 0) return false;
    const bool on_its_way = peer.outgoing() != 0;
    if (peer.asked == nullptr) return on_its_way || !clients_.may_begin(*peer.client);
    return on_its_way && peer.asked->context.rest->size() == 0;
}

// Returns whether an incomplete request may grow. One connection of each user may always have as much memory
// as a request can need.
bool Network::Impl::may_grow(const Peer& peer) const {
    return clients_.may_take(*peer.client) || peer.client->bytes - peer.bytes <= kAlwaysMemory;
}

void Network::Impl::recount(Peer& peer) {
    if (peer.client == nullptr) return;
    const auto& submission = peer.session.submission;
    std::size_t bytes = peer.decoder.size() + peer.unsent.size() + peer.being_written +
                        (submission ? submission->script.capacity() : 0);
    if (peer.tls != nullptr) bytes += peer.tls->size();
    if (peer.asked != nullptr)
        bytes += peer.asked->size + peer.asked->parts.bytes() + peer.asked->context.rest->size();
    // One that waits for a change doesn't release memory soon.
    const bool works = peer.asked != nullptr && !peer.asked->context.rest->waits();
    const bool busy = works || peer.writing || !peer.unsent.empty();
    const int busy_more = static_cast<int>(busy) - static_cast<int>(peer.busy);
    const auto more = static_cast<std::ptrdiff_t>(bytes) - static_cast<std::ptrdiff_t>(peer.bytes);
    peer.bytes = bytes;
    peer.busy = busy;
    clients_.count(*peer.client, more, busy_more);
    most_bytes_since_return_ = std::max(most_bytes_since_return_, clients_.bytes());
}

void Network::Impl::take_request(Peer& peer) {
    if (peer.tls != nullptr && !decrypt(peer)) return;
    if (auth_.token_due(peer.id)) {
        take_credential(peer);
        return;
    }
    const std::size_t unread = peer.decoder.unread();
    auto decoded = peer.decoder.next();
    if (std::holds_alternative<ifl::RequestDecoder::NeedMore>(decoded)) {
        peer.unread = false;
    } else if (auto* bad = std::get_if<ifl::RequestDecoder::Malformed>(&decoded)) {
        server_.parts.log.write(LogEvent::debug, LogClass::request, peer.key,
                                fmt::format("bad request: {}", bad->error.message));
        settle();
        send(peer, ifl::Reply::error(bad->error.code), true);
    } else {
        peer.waiting = Steady::now();
        handle(peer, std::get<ifl::Request>(std::move(decoded)), unread - peer.decoder.unread());
    }
}

void Network::Impl::handle(Peer& peer, ifl::Request request, std::size_t size) {
    if (!may_be_clear(peer, request)) {
        refuse_clear(peer, request);
        return;
    }
    // Commit the held requests first, so that a request that can't share their commit is answered by the
    // committed state. Requests that judge() answers, such as Connect, read no configuration: for them only
    // replies on their own connection have to be sent first.
    ifl::AuthDecision decision = auth_.judge(peer.id, request);
    const bool handled = decision.action == ifl::AuthDecision::Action::handle;
    const bool submits = handled && may_share_commit(request, peer.session);
    const bool grouped = submits || (handled && changes_plugin_object(request));
    if (grouped ? held_.size() >= kMostHeld || submits != submissions_held_ : handled || peer.held != 0)
        settle();
    if (handled) submissions_held_ = submits;
    if (peer.closing) return;
    if (!decision.reason.empty())
        server_.parts.log.write(LogEvent::security, LogClass::request, peer.key,
                                fmt::format("refused: {}", decision.reason));
    peer.used = Steady::now();
    switch (decision.action) {
        case ifl::AuthDecision::Action::close:
            finish(peer);
            return;
        case ifl::AuthDecision::Action::reply:
            send(peer, std::move(decision.reply), false);
            return;
        case ifl::AuthDecision::Action::reply_and_close:
            send(peer, std::move(decision.reply), true);
            return;
        case ifl::AuthDecision::Action::handle:
            break;
    }
    Identity who;
    who.user = auth_.user(peer.id).value_or("");
    who.host = peer.host;
    who.privilege = privilege_of(server_.state, server_.options.starter, who.user, who.host);
    if (server_.parts.log.writes(LogEvent::debug2)) {
        if (!lines_) lines_.emplace(server_.parts.log);
        server_.parts.log.write(
            LogEvent::debug2, LogClass::request, peer.key,
            fmt::format("request {} from {}", ifl::request_name(request.type), who.at_host()));
    }
    if (request.type == ifl::RequestType::job_script && peer.session.submission && !may_grow(peer)) {
        peer.session.submission.reset();
        send(peer,
             ifl::Reply::error(PBSE_SYSTEM,
                               "The scripts that you are submitting at once are too long together: "
                               "submit this one again when the others are queued"),
             false);
        return;
    }
    auto asked = std::make_unique<OpenRequest>(server_, peer.session, std::move(request), std::move(who),
                                               kDecodedByBytes * size);
    Context& context = asked->context;
    CommitGroup& submissions = server_.commit_group;
    const bool was_uncommitted = submissions.uncommitted();
    submissions.take(submits);
    // The reply's place among the held ones needs no memory after the change.
    if (held_.size() == held_.capacity()) held_.reserve(std::max<std::size_t>(16, 2 * held_.size()));
    ifl::Reply reply = begin_answer(context);
    if (reply.code == PBSE_SCHEDCONNECTED) {
        drop_ended_programs(peer);
        reply = begin_answer(context);
    }
    submissions.take(false);
    // The request's own change may have committed the submissions before it. Then send the replies to these.
    if (was_uncommitted && !submissions.uncommitted()) settle();
    if (peer.closing) return;
    if (context.rest != nullptr) {
        peer.asked = std::move(asked);
        answer_on(peer);
        return;
    }
    note(*asked, reply.code != 0);
    // Hold even a refusal until the commit, because an uncommitted request may be its reason.
    if (submissions.uncommitted() ||
        (server_.parts.plugin != nullptr && server_.parts.plugin->uncommitted())) {
        held_.push_back({peer.id, std::move(reply), std::move(context.when_committed)});
        ++peer.held;
        if (!grouped) settle();
        return;
    }
    if (context.when_committed) context.when_committed();
    const bool close_after = reply.code == PBSE_UNKREQ;
    if (ifl::has_reply(context.request.type)) send(peer, std::move(reply), close_after);
    after_();
}

void Network::Impl::note(const OpenRequest& asked, bool refused) {
    std::string object;
    if (const auto* status = std::get_if<ifl::Status>(&asked.request.body)) object = status->object;
    server_.counters.request_answered({.type = asked.request.type,
                                       .who = asked.who.at_host(),
                                       .object = std::move(object),
                                       .at = asked.came,
                                       .took = Steady::now() - asked.began},
                                      refused);
}

// Makes steps of an answer, until the turn is over.
void Network::Impl::answer_on(Peer& peer) {
    using Remaining = Steps::Remaining;
    OpenRequest& asked = *peer.asked;
    // Commit the held requests first, so that a commit by this answer has only its own changes.
    if (asked.context.ticket != 0 || server_.commit_group.uncommitted()) settle();
    if (peer.closing) return;
    const auto until = Steady::now() + kUserTurn;
    std::optional<ifl::Reply> instead;
    Remaining left;
    do left = go_on(asked.context, asked.parts, asked.shown, instead);
    while (left == Remaining::more && asked.parts.bytes() < kMostOfATurn && Steady::now() < until);
    if (instead && (asked.shown || !asked.parts.empty())) {
        drop(peer, "its reply could not be made whole");
        return;
    }
    if (left == Remaining::nothing) {
        if (instead) {
            if (ifl::has_reply(asked.context.request.type)) send(peer, std::move(*instead), false);
        } else {
            for (ifl::StatusPart& part : asked.parts.take_full()) send_part(peer, std::move(part), true);
            for (ifl::StatusPart& part : asked.parts.take()) send_part(peer, std::move(part), false);
        }
        note(asked, instead && instead->code != 0);
        peer.asked.reset();
        peer.used = Steady::now();  // the time that the answer took isn't idle time of the client
        after_();
        return;
    }
    for (ifl::StatusPart& part : asked.parts.take_full()) {
        send_part(peer, std::move(part), true);
        asked.shown = true;
    }
    if (left == Remaining::later) try_later(peer);
}

void Network::Impl::try_later(Peer& peer) {
    peer.turn = Peer::Turn::later;
    if (peer.asked->context.rest->waits()) return wait_for_changes(peer);
    later_.push_back(peer.id);
    if (later_.size() == 1) start_later();
}

void Network::Impl::start_later() {
    uv_update_time(loop_);
    uv_timer_start(
        &later_timer_,
        [](uv_timer_t* timer) {
            auto& network = *static_cast<Impl*>(timer->data);
            guarded(network.server_.parts.log, "waiting requests", [&network] { network.look_at_later(); });
        },
        kLaterMs, 0);
}

void Network::Impl::look_at_later() {
    for (const uint64_t id : std::exchange(later_, {})) {
        const auto at = peers_.find(id);
        if (at != peers_.end() && at->second->turn == Peer::Turn::later) give_turn(*at->second);
    }
}

void Network::Impl::give_turn(Peer& peer) {
    peer.turn = Peer::Turn::none;
    guard(peer, [&] { want_turn(peer); });
}

// Keeps the connection until a change, which is looked for whenever the loop is about to wait. Waiting
// connections get no turns, so that many of them cost little.
void Network::Impl::wait_for_changes(Peer& peer) {
    waiting_.push_back(peer.id);
    if (waiting_.size() > 1) return;
    uv_prepare_start(&before_wait_, [](uv_prepare_t* prepare) {
        auto& network = *static_cast<Impl*>(prepare->data);
        const int64_t change = network.server_.parts.plugin->last_change();
        if (std::exchange(network.looked_at_change_, change) != change)
            guarded(network.server_.parts.log, "waiting requests",
                    [&network] { network.look_at_waiting(false); });
    });
    uv_update_time(loop_);
    uv_timer_start(
        &waiting_timer_,
        [](uv_timer_t* timer) {
            auto& network = *static_cast<Impl*>(timer->data);
            guarded(network.server_.parts.log, "waiting requests",
                    [&network] { network.look_at_waiting(true); });
        },
        kWaitingMs, kWaitingMs);
}

// Gives a turn to the connections whose answers may go on. `for_ends`: drops those whose clients have gone.
void Network::Impl::look_at_waiting(bool for_ends) {
    std::vector<Peer*> waiting;
    for (const uint64_t id : std::exchange(waiting_, {})) {
        const auto at = peers_.find(id);
        if (at == peers_.end() || at->second->turn != Peer::Turn::later) continue;
        Peer& peer = *at->second;
        if (peer.asked != nullptr && peer.asked->context.rest->waits()) {
            waiting.push_back(&peer);
            continue;
        }
        if (peer.asked != nullptr) peer.asked->began = Steady::now();  // the wait isn't the server's work
        give_turn(peer);
    }
    if (for_ends) drop_ended(waiting);
    for (const Peer* peer : waiting) waiting_.push_back(peer->id);
    if (!waiting_.empty()) return;
    uv_prepare_stop(&before_wait_);
    uv_timer_stop(&waiting_timer_);
}

// Drops the connections of clients that have gone, and removes them from `peers`. poll() finds them, because
// nothing is read from a connection whose request is being answered.
void Network::Impl::drop_ended(std::vector<Peer*>& peers) {
    std::vector<pollfd> ends;
    for (Peer* peer : peers) {
        uv_os_fd_t fd = -1;
        uv_fileno(reinterpret_cast<uv_handle_t*>(&peer->handle.stream), &fd);
        ends.push_back({fd, POLLRDHUP, 0});
    }
    if (::poll(ends.data(), ends.size(), 0) <= 0) return;
    std::vector<Peer*> left;
    for (std::size_t i = 0; i < peers.size(); ++i) {
        if (ends[i].revents == 0) {
            left.push_back(peers[i]);
        } else {
            drop(*peers[i], "");
        }
    }
    peers = std::move(left);
}

// Drops the connections of registered programs that have ended, but not that of `newcomer`. The server may
// not have noticed the end of a program that waits for changes, or whose answer is due: nothing is read from
// a connection whose request is being answered.
void Network::Impl::drop_ended_programs(const Peer& newcomer) {
    std::vector<Peer*> programs;
    for (const auto& [id, peer] : peers_)
        if (peer != &newcomer && !peer->session.registered.empty()) programs.push_back(peer);
    drop_ended(programs);
}

// Commits all held requests, and sends their replies. If the commit fails, none of the requests has happened,
// and their clients get its error.
void Network::Impl::settle() {
    CommitGroup& submissions = server_.commit_group;
    if (held_.empty() && !submissions.uncommitted()) return;
    lines_.reset();
    // Takes all the memory that it needs itself before it takes the replies, so that none is lost without its
    // connection.
    std::vector<uint64_t> answered;
    answered.reserve(held_.size());
    std::vector<Held> held = std::exchange(held_, {});
    Result<void> done;
    const bool known = guarded(server_.parts.log, "commit", [&] {
        done = submissions_held_ ? submissions.commit() : server_.parts.plugin->commit(server_.now());
        if (!done)
            server_.parts.log.error("commit",
                                    fmt::format("{} requests failed: {}", held.size(), done.error().message));
    });
    for (Held& one : held) {
        if (known && done && one.when_committed)
            guarded(server_.parts.log, "after a commit", one.when_committed);
        const auto to = peers_.find(one.peer);
        if (to == peers_.end()) continue;
        Peer& peer = *to->second;
        --peer.held;
        if (!known) {
            drop(peer, "");
            continue;
        }
        // If the making of a reply throws, only the reply's own connection is lost.
        guard(peer, [&] {
            send(peer,
                 done ? std::move(one.reply) : ifl::Reply::error(done.error().code, done.error().message),
                 false);
        });
        if (answered.empty() || answered.back() != one.peer) answered.push_back(one.peer);
    }
    for (const uint64_t id : answered) {
        const auto to = peers_.find(id);
        if (to == peers_.end()) continue;
        guard(*to->second, [&] {
            write(*to->second);
            recount(*to->second);
        });
    }
    after_();
}

}  // namespace pbs::host
