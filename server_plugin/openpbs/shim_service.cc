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

constexpr int kPoll = 5;  // milliseconds between two looks while a client waits for the service

// Returns whether the client has closed its end. If so, nobody waits for an answer, and the server has to
// read from the connection to notice that.
bool has_left(int sock) {
    pollfd peer{sock, POLLRDHUP, 0};
    return poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

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

void Shim::release_turn(const Connection& connection) {
    if (turn_ == connection) turn_.reset();
}

void Shim::end(const Connection& connection) {
    release_turn(connection);
    const auto found = held_.find(connection.sock);
    if (found == held_.end() || !(found->second.connection == connection)) return;
    const Step step = found->second.step;
    // If the server has done its part, don't abandon the plugin's part, even though nobody waits for the
    // reply.
    const bool goes_on = !found->second.server_reply.empty();
    if (!goes_on && (step == Step::checking || step == Step::answering))
        link_.send(Abandon{found->second.ticket});
    held_.erase(found);
}

void Shim::ask(Held& waiting, Ask::What what, std::uint32_t privilege) {
    waiting.ticket = ++last_ticket_;
    Ask message;
    message.ticket = waiting.ticket;
    message.what = what;
    message.privilege = privilege;
    message.address = waiting.address;
    message.request = waiting.request;
    // Check the message first. If the service couldn't read it, the connection to the service would end for
    // all clients.
    if (const auto readable =
            to_service(std::string_view(packet_of(ToService(message))).substr(ifl::kPacketHeaderSize));
        !readable)
        return refuse(waiting, readable.error().message);
    if (!link_.up()) return refuse(waiting, link_.why_down());
    link_.send(message);
}

void Shim::ask_apart(int sock, Ask::What what, ifl::Manage body) {
    Ask message;
    message.ticket = ++last_ticket_;
    message.what = what;
    message.privilege = PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR;
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
        } else if (auto* shown = std::get_if<Shown>(&message)) {
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
        shown_.clear();
        silent_told_ = false;
    }
    take(link_.receive(std::chrono::milliseconds(0)));
    const bool silent = link_.up() && link_.silent(now) > kLongSilence;
    if (silent && !silent_told_)
        options_.log(
            fmt::format("the policy service hasn't said anything for {} seconds", link_.silent(now).count()));
    silent_told_ = silent;
    if (link_.up()) return;
    for (auto& [sock, waiting] : held_) {
        if (waiting.step == Step::checking || waiting.step == Step::server) {
            refuse(waiting, fmt::format("{}; nothing has been changed", link_.why_down()));
        } else if (waiting.step == Step::answering) {
            refuse(waiting,
                   fmt::format("{}; whether the request has been carried out isn't known", link_.why_down()));
        }
    }
}

void Shim::look_after_held() {
    if (held_.empty()) return;
    const Clock::time_point now = Clock::now();
    std::vector<Connection> gone;
    for (auto& [sock, waiting] : held_) {
        const bool late = now > waiting.deadline;
        const bool refused = late && waiting.step == Step::probing;  // the server has refused the probe
        const bool reads_nothing = now > waiting.deadline + options_.time_limit;
        const bool wants_answer = waiting.step != Step::probing && waiting.step != Step::sending;
        if (!(connection_of(sock) == waiting.connection) || has_left(sock) || refused ||
            (reads_nothing && !wants_answer)) {
            gone.push_back(waiting.connection);
        } else if (late && wants_answer) {
            const bool asked = waiting.step == Step::answering;
            if (asked || waiting.step == Step::checking) link_.send(Abandon{waiting.ticket});
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
    if (held_.empty() && link_.up()) return timeout;
    const int most = held_.empty() ? 1000 : kPoll;
    return timeout < 0 ? most : std::min(timeout, most);
}

int Shim::wait(int epoll, epoll_event* events, int most, int timeout, const sigset_t* signals) {
    look_after_link();
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
