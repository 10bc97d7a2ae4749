// The shim's functions for held requests: questions to the policy service, the service's answers, and work
// between two requests.

#include <fmt/format.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ifl/error_text.h"
#include "server_plugin/openpbs/shim.h"
#include "server_plugin/openpbs/shim_terms.h"

namespace pbs::openpbs {
namespace {

constexpr std::uint32_t kOfManagers = PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR;
constexpr int kPoll = 5;          // milliseconds between two looks while a client waits for the service
constexpr int kPollChanges = 20;  // the same, if clients wait for nothing but changes

// Joins the texts of two successful replies to one request: the server's reply about its part, and the
// service's reply about the plugin's part.
std::string joined(const std::string& servers, const std::string& ours) {
    auto first = ifl::decode_reply(servers);
    auto second = ifl::decode_reply(ours);
    if (!first || !second) return ours;
    auto* text = std::get_if<ifl::TextReply>(&first->body);
    auto* more = std::get_if<ifl::TextReply>(&second->body);
    if (text == nullptr || text->text.empty()) return ours;
    if (more == nullptr || more->text.empty()) return servers;
    more->text = text->text + "\n" + more->text;
    return ifl::encode_reply(*second);
}

}  // namespace

bool has_left(int sock) {
    pollfd peer{sock, POLLRDHUP, 0};
    return poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

bool Shim::Held::waits_for_changes() const {
    return step == Step::answering && kind_of(request.extend) == "changes" &&
           !request.extend.ends_with(";timeout=0");
}

Ask Shim::Held::question(Ask::Kind what, std::uint32_t privilege) const {
    return {ticket, what, privilege, address, request};
}

void Shim::release_turn(const Connection& connection) {
    if (turn_ == connection) turn_.reset();
}

void Shim::end(const Connection& connection) {
    release_turn(connection);
    const auto found = held_.find(connection.sock);
    if (found == held_.end() || !(found->second.connection == connection)) return;
    abandon(found->second);
    // The server carries the start out even though nobody waits for it.
    if (found->second.step == Step::starting) link_.send(Started{found->second.ticket});
    held_.erase(found);
}

void Shim::abandon(const Held& waiting) {
    const bool asked = waiting.step == Step::checking || waiting.step == Step::answering;
    const bool granted = waiting.is_start() && waiting.step == Step::server;
    // The ticket of a registered connection stands for all of its registrations: look_after_registered()
    // gives it up.
    if (std::ranges::find(registered_, waiting.ticket, &Registered::ticket) != registered_.end()) return;
    // If the server has done its part, don't abandon the plugin's part, even though nobody waits for the
    // reply.
    if ((asked || granted) && waiting.server_reply.empty()) link_.send(Abandon{waiting.ticket});
}

// Returns a ticket for the request. The registrations of a connection have one ticket.
std::uint64_t Shim::ticket_for(const Held& waiting) {
    const auto known = std::ranges::find(registered_, waiting.connection, &Registered::connection);
    const bool again = known != registered_.end() && kind_of(waiting.request.extend) == "registration";
    return again ? known->ticket : ++last_ticket_;
}

// Notes that the service has registered the connection as a scheduler.
void Shim::note_registration(const Held& waiting) {
    auto known = std::ranges::find(registered_, waiting.connection, &Registered::connection);
    if (known == registered_.end())
        known = registered_.insert(registered_.end(), {waiting.connection, waiting.ticket});
    const auto same = [&](const Ask& one) { return one.request.body == waiting.request.body; };
    if (std::ranges::none_of(known->requests, same))
        known->requests.push_back(waiting.question(Ask::Kind::again, kOfManagers));
}

void Shim::ask(Held& waiting, Ask::Kind what, std::uint32_t privilege) {
    waiting.ticket = ticket_for(waiting);
    const Ask message = waiting.question(what, privilege);
    // Check the message first. If the service couldn't read it, the connection to the service would end for
    // all clients.
    if (const auto readable =
            to_service(std::string_view(packet_of(ToService(message))).substr(ifl::kPacketHeaderSize));
        !readable)
        return refuse(waiting, readable.error().message);
    if (!link_.up()) return refuse(waiting, link_.why_down());
    link_.send(message);
}

void Shim::end_wait(Held& waiting) {
    abandon(waiting);
    std::string& extend = waiting.request.extend;
    extend = extend.substr(0, extend.rfind(';')) + ";timeout=0";
    waiting.deadline = Clock::now() + options_.time_limit;
    ask(waiting, Ask::Kind::whole, kOfManagers);
}

void Shim::ask_apart(int sock, Ask::Kind what, ifl::Manage body) {
    Ask message;
    message.ticket = ++last_ticket_;
    message.what = what;
    message.privilege = kOfManagers;
    message.address = address_of(sock);
    message.request = {ifl::RequestType::manager, current_.user, std::move(body), {}};
    link_.send(message);
}

int Shim::await(const Connection& connection) {
    const Clock::time_point until = Clock::now() + options_.patience;
    for (;;) {
        Held* waiting = held(connection.sock);
        if (waiting == nullptr) return 0;
        if (waiting->step != Step::checking && waiting->step != Step::answering) return reply_now(*waiting);
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
        if (left.count() <= 0) return reply_now(*waiting);
        take(link_.receive(left));
        if (!link_.up()) look_after_link();
    }
}

void Shim::take(std::vector<FromService> messages) {
    for (FromService& message : messages) {
        if (auto* answer = std::get_if<Answer>(&message)) {
            const auto found = std::ranges::find_if(held_, [&](const auto& entry) {
                return entry.second.ticket == answer->ticket &&
                       (entry.second.step == Step::checking || entry.second.step == Step::answering);
            });
            if (found != held_.end()) {
                answered(found->second, std::move(answer->parts));
            } else if (answer->ticket == last_ticket_) {
                other_answer_ = std::move(answer->parts);
            }
        } else if (auto* shown = std::get_if<AddedAttributes>(&message)) {
            const std::pair key{shown->object_type, shown->name};
            if (shown->attributes.empty()) {
                shown_.erase(key);
            } else {
                shown_[key] = std::move(shown->attributes);
            }
        }
    }
}

void Shim::answered(Held& waiting, std::vector<std::string> parts) {
    if (parts.empty()) return refuse(waiting, "the policy service gave an empty answer");
    const int code = code_of(parts.front());
    if (waiting.step == Step::checking && code == 0) {
        waiting.step = Step::server;
        return;
    }
    if (waiting.is_start() && waiting.step == Step::answering && code == 0) {
        const auto reply = ifl::decode_reply(parts.front());
        const auto* place = reply ? std::get_if<ifl::TextReply>(&reply->body) : nullptr;
        if (place == nullptr) {
            abandon(waiting);
            return refuse(waiting, "the policy service has named no place");
        }
        std::get<ifl::RunJob>(waiting.request.body).destination = place->text;
        waiting.step = Step::server;
        return;
    }
    if (code == 0 && kind_of(waiting.request.extend) == "registration") note_registration(waiting);
    if (!waiting.wants_reply()) parts.clear();
    if (!waiting.server_reply.empty()) {
        if (code == 0) {
            parts.front() = joined(waiting.server_reply, parts.front());
        } else if (auto reply = ifl::decode_reply(parts.front())) {
            const auto* text = std::get_if<ifl::TextReply>(&reply->body);
            parts.front() = ifl::encode_reply(ifl::Reply::error(
                code, fmt::format("the server has done its part of the request, the rest failed: {}",
                                  text != nullptr ? text->text : std::string(ifl::error_text(code)))));
        }
    }
    waiting.answer.assign(std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
    waiting.step = Step::sending;
    release_turn(waiting.connection);
}

void Shim::refuse(Held& waiting, const std::string& why) {
    waiting.step = Step::answering;
    answered(waiting, {ifl::encode_reply(ifl::Reply::error(PBSE_SYSTEM, why))});
}

int Shim::reply_now(Held& waiting) {
    if (waiting.step != Step::sending || waiting.answer.size() != 1) return 0;
    const std::string reply = std::move(waiting.answer.front());
    const Connection connection = waiting.connection;
    end(connection);
    return forward(connection.sock, reply);
}

void Shim::send_answers() {
    std::vector<int> sending;
    for (const auto& [sock, waiting] : held_)
        if (waiting.step == Step::sending) sending.push_back(sock);
    if (sending.empty()) return;
    library_.use_connections();
    for (const int sock : sending) {
        Held* waiting = held(sock);
        while (waiting != nullptr && !waiting->answer.empty()) {
            pollfd ready{sock, POLLOUT, 0};
            if (poll(&ready, 1, 0) <= 0) break;
            // Send a part only when the client has taken all parts before, so that the server never waits for
            // the client.
            int unsent = 0;
            if ((ready.revents & POLLOUT) == 0 || ioctl(sock, SIOCOUTQ, &unsent) != 0) {
                waiting->answer.clear();
                break;
            }
            if (unsent != 0) break;
            if (library_.put(sock, waiting->answer.front()) != 0 || library_.flush(sock) != 0) {
                waiting->answer.clear();
                break;
            }
            waiting->answer.pop_front();
        }
        if (waiting != nullptr && waiting->answer.empty()) end(waiting->connection);
    }
}

// ---- Work between requests.

void Shim::look_after_link() {
    const Clock::time_point now = Clock::now();
    if (link_.connect(now)) {
        refuse_under_way();
        shown_.clear();
        silent_told_ = false;
        for (const Registered& one : registered_)
            for (const Ask& request : one.requests) link_.send(request);
        for (auto& [sock, waiting] : held_) {
            if (!waiting.waits_for_changes()) continue;
            waiting.deadline = now + options_.time_limit + kLongestWait;
            link_.send(waiting.question(Ask::Kind::again, kOfManagers));
        }
    }
    take(link_.receive(std::chrono::milliseconds(0)));
    const bool silent = link_.up() && link_.silent(now) > kLongSilence;
    if (silent && !silent_told_)
        options_.log(
            fmt::format("the policy service hasn't said anything for {} seconds", link_.silent(now).count()));
    silent_told_ = silent;
    if (!link_.up()) refuse_under_way();
}

void Shim::refuse_under_way() {
    for (auto& [sock, waiting] : held_) {
        if (waiting.step == Step::checking || waiting.step == Step::server) {
            refuse(waiting, fmt::format("{}; nothing has been changed", link_.why_down()));
        } else if (waiting.step == Step::answering && !waiting.waits_for_changes()) {
            refuse(waiting,
                   fmt::format("{}; whether the request has been carried out isn't known", link_.why_down()));
        }
    }
}

void Shim::look_after_registered() {
    std::erase_if(registered_, [this](const Registered& one) {
        const bool there =
            connection_of(one.connection.sock) == one.connection && !has_left(one.connection.sock);
        if (!there) link_.send(Abandon{one.ticket});
        return !there;
    });
}

void Shim::look_after_held() {
    if (held_.empty()) return;
    const Clock::time_point now = Clock::now();
    std::vector<Connection> gone;
    for (auto& [sock, waiting] : held_) {
        const bool late = now > waiting.deadline;
        // The server answers the client itself: it has refused the probe, or takes long to start the job.
        const bool left_alone = waiting.step == Step::probing || waiting.step == Step::starting;
        const bool refused = late && left_alone;
        const bool reads_nothing = now > waiting.deadline + options_.time_limit;
        const bool wants_answer = !left_alone && waiting.step != Step::sending;
        if (!(connection_of(sock) == waiting.connection) || has_left(sock) || refused ||
            (reads_nothing && !wants_answer)) {
            gone.push_back(waiting.connection);
        } else if (late && wants_answer) {
            const bool asked = waiting.step == Step::answering;
            abandon(waiting);
            refuse(waiting, fmt::format("the policy service didn't answer in {} seconds; {}",
                                        options_.time_limit.count(),
                                        asked ? "whether the request has been carried out isn't known"
                                              : "nothing has been changed"));
        }
    }
    for (const Connection& connection : gone) end(connection);
}

bool Shim::next_event(epoll_event& event) {
    for (auto& [sock, waiting] : held_) {
        const bool due = waiting.step == Step::server || waiting.step == Step::proving ||
                         (waiting.step == Step::turn && !turn_);
        if (!due) continue;
        event = {};
        event.events = EPOLLIN;
        event.data.fd = sock;
        return true;
    }
    return false;
}

int Shim::next_timeout(int timeout) const {
    if (held_.empty() && registered_.empty() && link_.up()) return timeout;
    const bool only_changes =
        std::ranges::all_of(held_, [](const auto& entry) { return entry.second.waits_for_changes(); });
    const int most = held_.empty() ? 1000 : only_changes ? kPollChanges : kPoll;
    return timeout < 0 ? most : std::min(timeout, most);
}

int Shim::wait(int epoll, epoll_event* events, int most, int timeout, const sigset_t* signals) {
    look_after_link();
    look_after_registered();
    look_after_held();
    send_answers();
    epoll_event event{};
    const bool due = next_event(event);
    // Events of the shim and events for which the server itself waits take turns.
    if (due && !event_before_) {
        event_before_ = true;
        events[0] = event;
        return 1;
    }
    event_before_ = false;
    return library_.real().wait(epoll, events, most, due ? 0 : next_timeout(timeout), signals);
}

}  // namespace pbs::openpbs
