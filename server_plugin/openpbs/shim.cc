#include "server_plugin/openpbs/shim.h"

#include <arpa/inet.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <utility>

#include "ifl/dis.h"
#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/owned.h"
#include "values/object_types.h"

namespace pbs::openpbs {
namespace {

constexpr unsigned long kManager = 9;
constexpr unsigned long kStatusQueue = 20;
constexpr unsigned long kStatusServer = 21;
constexpr unsigned long kStatusSched = 81;
constexpr unsigned long kRegisterSched = 98;
constexpr std::size_t kLongestUser = 257;    // as libpbs reads it
constexpr std::size_t kLongestObject = 600;  // libpbs reads fewer, and says so
constexpr std::size_t kLongestNames = 1U << 20;
constexpr int kPoll = 5;  // milliseconds, while a client waits for the service
constexpr std::chrono::seconds kLongSilence{60};
constexpr std::uint32_t kLastType = PBS_OBJ_QUOTA_USE;

// Does the request change jobs, or perhaps remove them? The server itself tells its scheduler of new jobs.
bool changes_jobs(unsigned long type) {
    constexpr std::array<unsigned long, 17> kTypes{6,  7,  11, 12, 13, 14, 15, 17, 23,
                                                   50, 72, 90, 91, 92, 96, 97, 100};
    return std::ranges::find(kTypes, type) != kTypes.end();
}

bool is_own_type(std::uint64_t type) {
    return type >= PBS_OBJ_POLICY && type <= kLastType;
}

// The code of a reply, from its packet's data; PBSE_PROTOCOL if the data isn't a reply.
int code_of(const std::string& reply) {
    ifl::DisReader in(reply);
    (void)in.get_unsigned("type");
    (void)in.get_unsigned("version");
    const int code = in.get_i32("code");
    return in.failed() ? PBSE_PROTOCOL : code;
}

std::string header(unsigned long type, const std::string& user) {
    std::string data;
    ifl::DisWriter out(data);
    out.put_unsigned(ifl::kProtocolType);
    out.put_unsigned(ifl::kProtocolVersion);
    out.put_unsigned(type);
    out.put_string(user);
    return data;
}

std::string address_of(int sock) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    std::array<char, INET_ADDRSTRLEN> text{};
    if (getpeername(sock, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET)
        return {};
    return inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size()) != nullptr ? text.data() : "";
}

// The kind in an extend string: "history" in "object=history;limit=5".
std::string_view kind_of(std::string_view extend) {
    constexpr std::string_view kBegin = "object=";
    if (!extend.starts_with(kBegin)) return {};
    extend.remove_prefix(kBegin.size());
    return extend.substr(0, extend.find(';'));
}

bool for_everybody(std::string_view kind) {
    const values::ObjectTypeRow* type = values::find_type(kind);
    return type != nullptr && type->own;
}

// Is only a part of the kind shown to everybody? Managers see all shares, operators all jobs and quotas.
bool less_for_others(std::string_view kind) {
    return kind == "fairshare" || kind == "explanation" || kind == "quota_use";
}

// The probe's command. Only requesters to whom all of a kind is shown are allowed to give it.
std::uint32_t command_of_proof(std::string_view kind) {
    return kind == "fairshare" ? PBS_CMD_CREATE : PBS_CMD_SET;
}

std::uint32_t listed_type(unsigned long request) {
    return request == kStatusServer  ? PBS_OBJ_SERVER
           : request == kStatusQueue ? PBS_OBJ_QUEUE
                                     : PBS_OBJ_SCHED;
}

// Has the client closed its end? Then nobody waits for an answer, and the server has to see that.
bool has_left(int sock) {
    pollfd peer{sock, POLLRDHUP, 0};
    return poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

std::string utc_text() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

// The attributes of these names, in their order.
ifl::Attributes named(const ifl::Attributes& attributes, const RawAttributes& names) {
    ifl::Attributes out;
    for (const RawAttribute& name : names)
        for (const ifl::Attribute& one : attributes)
            if (strcasecmp(one.name.c_str(), name.name.c_str()) == 0) out.push_back(one);
    return out;
}

// Joins the texts of two successful replies: the server's to its part, and the service's to ours.
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

Shim::Shim(const Library& library, Link& link, ShimOptions options)
    : library_(library), link_(link), options_(std::move(options)) {}

Shim::Connection Shim::connection_of(int sock) const {
    struct stat status {};
    if (fstat(sock, &status) != 0) return {};
    return {sock, status.st_ino};
}

bool Shim::is_schedulers(const Connection& connection) const {
    return schedulers_.contains({connection.sock, connection.inode});
}

Shim::Held* Shim::held(int sock) {
    const auto found = held_.find(sock);
    if (found == held_.end()) return nullptr;
    if (found->second.connection == connection_of(sock)) return &found->second;
    end(found->second.connection);
    return nullptr;
}

void Shim::release_turn(const Connection& connection) {
    if (turn_ == connection) turn_.reset();
}

void Shim::end(const Connection& connection) {
    release_turn(connection);
    const auto found = held_.find(connection.sock);
    if (found == held_.end() || !(found->second.connection == connection)) return;
    const Step step = found->second.step;
    // Once the server has done its part, ours is done too, even if nobody waits for it.
    const bool goes_on = !found->second.server_reply.empty();
    if (!goes_on && (step == Step::checking || step == Step::answering))
        link_.send(Abandon{found->second.ticket});
    held_.erase(found);
}

// ---- Requests, as they are read.

int Shim::feed_header(unsigned long type, void* request, int* type_out, int* version_out) {
    return library_.feed(header(type, current_.user), [&] {
        return library_.real().decode_header(current_.connection.sock, request, type_out, version_out);
    });
}

int Shim::decode_header(int sock, void* request, int* type, int* version) {
    current_ = Current{};
    if (!library_.on_connection()) return library_.real().decode_header(sock, request, type, version);
    current_.connection = connection_of(sock);
    if (Held* waiting = held(sock)) return decode_header_again(*waiting, request, type, version);
    unsigned long protocol = 0;
    unsigned long protocol_version = 0;
    if (const int rc = library_.get_unsigned(sock, protocol); rc != 0) return rc;
    std::string data;
    ifl::DisWriter out(data);
    out.put_unsigned(protocol);
    const auto feed = [&] {
        return library_.feed(data,
                             [&] { return library_.real().decode_header(sock, request, type, version); });
    };
    // libpbs reads no further in a request of another protocol.
    if (protocol != ifl::kProtocolType) return feed();
    if (const int rc = library_.get_unsigned(sock, protocol_version); rc != 0) return rc;
    if (const int rc = library_.get_unsigned(sock, current_.type); rc != 0) return rc;
    if (const int rc = library_.get_text(sock, kLongestUser, current_.user); rc != 0) return rc;
    out.put_unsigned(protocol_version);
    out.put_unsigned(current_.type);
    out.put_string(current_.user);
    // Tell the service now, before the server makes the change: what it asks the server after this is then
    // answered with the change.
    if (changes_jobs(current_.type) && !is_schedulers(current_.connection)) link_.send(Changed{PBS_OBJ_JOB});
    if (current_.type == kRegisterSched) {
        if (schedulers_.size() > 1000) schedulers_.clear();
        schedulers_.insert({current_.connection.sock, current_.connection.inode});
    }
    return feed();
}

// Reads on a connection whose request isn't answered yet: anything else that the client may have sent waits.
int Shim::decode_header_again(Held& waiting, void* request, int* type, int* version) {
    current_.user = waiting.request.user;
    current_.type = kManager;
    current_.course = Course::again;
    if (waiting.step == Step::turn && !turn_) {
        waiting.step = Step::probing;
        current_.course = Course::probe;
    } else if (waiting.step == Step::server || waiting.step == Step::proving) {
        current_.course = waiting.step == Step::server ? Course::server : Course::prove;
        waiting.step = Step::probing;
    } else {
        // The client's further bytes would bring us here again and again: wait for the service meanwhile.
        take(link_.receive(std::chrono::milliseconds(1)));
    }
    return feed_header(kManager, request, type, version);
}

int Shim::feed_manage(int sock, void* request, unsigned long command, unsigned long object_type,
                      std::string_view object, const RawAttributes& attributes) {
    std::string data;
    ifl::DisWriter out(data);
    out.put_unsigned(command);
    out.put_unsigned(object_type);
    out.put_string(object);
    put_raw(out, attributes);
    return library_.feed(data, [&] { return library_.real().decode_manage(sock, request); });
}

int Shim::probe(int sock, void* request, unsigned long command) {
    current_.extend = Extend{};
    return feed_manage(sock, request, command, PBS_OBJ_POLICY, {}, {});
}

int Shim::decode_manage(int sock, void* request) {
    if (!library_.on_connection() || current_.connection.sock != sock || current_.type != kManager)
        return library_.real().decode_manage(sock, request);
    if (current_.course == Course::probe || current_.course == Course::again)
        return probe(sock, request, PBS_CMD_CREATE);
    if (current_.course == Course::prove) {
        const Held* waiting = held(sock);
        const std::string_view kind =
            waiting == nullptr ? std::string_view() : kind_of(waiting->request.extend);
        return probe(sock, request, command_of_proof(kind));
    }
    if (current_.course == Course::server) {
        const Held& waiting = held_.at(sock);
        const auto& body = std::get<ifl::Manage>(waiting.request.body);
        current_.extend = Extend{!waiting.request.extend.empty(), waiting.request.extend};
        return feed_manage(sock, request, body.command, body.object_type, body.object, waiting.servers_part);
    }
    if (is_schedulers(current_.connection)) return library_.real().decode_manage(sock, request);
    unsigned long command = 0;
    unsigned long object_type = 0;
    std::string object;
    RawAttributes attributes;
    if (const int rc = library_.get_unsigned(sock, command); rc != 0) return rc;
    if (const int rc = library_.get_unsigned(sock, object_type); rc != 0) return rc;
    if (const int rc = library_.get_text(sock, kLongestObject, object); rc != 0) return rc;
    if (const int rc = library_.get_attributes(sock, attributes); rc != 0) return rc;
    constexpr unsigned long kMost = UINT32_MAX;
    if (command > kMost || object_type > kMost)
        return feed_manage(sock, request, command, object_type, object, attributes);
    return classify(
        sock, request,
        {static_cast<std::uint32_t>(command), static_cast<std::uint32_t>(object_type), object, {}},
        std::move(attributes));
}

int Shim::classify(int sock, void* request, ifl::Manage body, RawAttributes attributes) {
    const std::uint32_t type = body.object_type;
    const bool own = is_own_type(type) && body.command <= PBS_CMD_UNSET;
    const bool settable =
        body.command == PBS_CMD_CREATE || body.command == PBS_CMD_SET || body.command == PBS_CMD_UNSET;
    const auto ours = [&](const RawAttribute& one) { return own || is_ours(type, one.name); };
    if (own || (settable && std::ranges::any_of(attributes, ours))) {
        for (const RawAttribute& one : attributes)
            if (ours(one)) body.attributes.push_back(one.attribute());
        std::erase_if(attributes, ours);
        const int rc = hold(sock, {ifl::RequestType::manager, current_.user, std::move(body), {}});
        if (rc != 0) return rc;
        Held& waiting = held_.at(sock);
        waiting.shared = !own;
        waiting.servers_part = std::move(attributes);
        return probe(sock, request, PBS_CMD_CREATE);
    }
    const bool known =
        type == PBS_OBJ_SERVER || type == PBS_OBJ_QUEUE || type == PBS_OBJ_SCHED || type == PBS_OBJ_RESOURCE;
    if (known || type == PBS_OBJ_NODE) {
        current_.course = Course::settle;
        current_.body = body;
        if (body.command != PBS_CMD_UNSET) current_.warning = warning_of(type, body.object, attributes);
        if (body.command == PBS_CMD_DELETE && known && type != PBS_OBJ_SERVER)
            return before_delete(sock, request, body, attributes);
    }
    return feed_manage(sock, request, body.command, type, body.object, attributes);
}

// Keeps a request until it is answered.
int Shim::hold(int sock, ifl::Request request) {
    Extend extend;
    if (!current_.extend) {
        if (const int rc = library_.get_extend(sock, extend.text, extend.present); rc != 0) return rc;
    } else {
        extend = *current_.extend;
    }
    request.extend = std::move(extend.text);
    Held waiting;
    waiting.connection = current_.connection;
    waiting.request = std::move(request);
    waiting.address = address_of(sock);
    waiting.deadline = Clock::now() + options_.time_limit;
    held_[sock] = std::move(waiting);
    current_.course = Course::probe;
    return 0;
}

// Asks the service before a deletion: an object of ours that names the queue or resource prevents it.
int Shim::before_delete(int sock, void* request, const ifl::Manage& body, const RawAttributes& attributes) {
    if (link_.up() && !body.object.empty()) {
        other_answer_.reset();
        Ask check;
        check.ticket = ++last_ticket_;
        check.what = Ask::What::check;
        check.privilege = PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR;
        check.address = address_of(sock);
        check.request = {ifl::RequestType::manager, current_.user, body, {}};
        link_.send(check);
        const Clock::time_point until = Clock::now() + options_.patience;
        while (!other_answer_ && link_.up() && Clock::now() < until)
            take(link_.receive(std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now())));
        if (other_answer_ && !other_answer_->empty() && code_of(other_answer_->front()) != 0) {
            Extend skipped;
            if (const int rc = library_.get_extend(sock, skipped.text, skipped.present); rc != 0) return rc;
            current_.refusal = other_answer_->front();
            return probe(sock, request, PBS_CMD_CREATE);
        }
    }
    return feed_manage(sock, request, body.command, body.object_type, body.object, attributes);
}

int Shim::decode_status(int sock, void* request) {
    const unsigned long type = current_.type;
    const bool looks = type == kStatusQueue || type == kStatusServer || type == kStatusSched;
    if (!library_.on_connection() || current_.connection.sock != sock || !looks ||
        is_schedulers(current_.connection))
        return library_.real().decode_status(sock, request);
    std::string name;
    RawAttributes wanted;
    if (const int rc = library_.get_text(sock, kLongestNames, name); rc != 0) return rc;
    if (const int rc = library_.get_attributes(sock, wanted); rc != 0) return rc;
    Extend extend;
    if (const int rc = library_.get_extend(sock, extend.text, extend.present); rc != 0) return rc;
    current_.extend = extend;
    if (type == kStatusSched && !kind_of(extend.text).empty())
        return hold_status(sock, request, name, wanted);
    current_.object_type = listed_type(type);
    current_.all_wanted = wanted.empty();
    std::erase_if(wanted, [&](const RawAttribute& one) {
        if (find_owned(current_.object_type, one.name) == nullptr) return false;
        current_.wanted.push_back(one.name);
        return true;
    });
    current_.servers_wanted = current_.all_wanted || !wanted.empty();
    current_.course = Course::listing;
    // Ask OpenPBS's server for all attributes of schedulers: if it doesn't know a requested one, it answers
    // twice, and ends.
    if (type == kStatusSched) current_.servers_own = std::exchange(wanted, {});
    std::string data;
    ifl::DisWriter out(data);
    out.put_string(name);
    put_raw(out, wanted);
    return library_.feed(data, [&] { return library_.real().decode_status(sock, request); });
}

int Shim::hold_status(int sock, void* request, const std::string& name, const RawAttributes& wanted) {
    ifl::Status body{name, {}};
    for (const RawAttribute& one : wanted) body.wanted.push_back(one.attribute());
    if (const int rc = hold(sock, {ifl::RequestType::status_scheduler, current_.user, body, {}}); rc != 0)
        return rc;
    current_.extend = Extend{};
    std::string data;
    ifl::DisWriter out(data);
    out.put_string("");
    out.put_unsigned(0);
    return library_.feed(data, [&] { return library_.real().decode_status(sock, request); });
}

int Shim::decode_extend(int sock, void* request) {
    if (!library_.on_connection() || current_.connection.sock != sock || !current_.extend)
        return library_.real().decode_extend(sock, request);
    std::string data;
    ifl::DisWriter out(data);
    out.put_unsigned(current_.extend->present ? 1 : 0);
    if (current_.extend->present) out.put_string(current_.extend->text);
    return library_.feed(data, [&] { return library_.real().decode_extend(sock, request); });
}

// ---- Replies, as they are written.

int Shim::forward(int sock, const std::string& reply) {
    return library_.put(sock, reply);
}

int Shim::encode_reply(int sock, void* reply) {
    if (!library_.on_connection() || current_.connection.sock != sock || current_.course == Course::pass)
        return library_.real().encode_reply(sock, reply);
    const auto data = library_.encoded(sock, reply);
    if (!data) return data.error();
    const Course course = current_.course;
    if (course == Course::listing) return after_listing(sock, *data);
    if (course == Course::settle) return after_settled(sock, *data);
    Held* waiting = held(sock);
    // Replies to earlier requests of the client come later: they aren't ours.
    current_.course = Course::pass;
    if (waiting == nullptr) return forward(sock, *data);
    switch (course) {
        case Course::probe:
            return after_probe(*waiting, *data);
        case Course::server:
            return after_server(*waiting, *data);
        case Course::prove:
            return after_proof(*waiting, *data);
        default:
            return 0;  // the answer is on its way
    }
}

int Shim::after_probe(Held& waiting, const std::string& reply) {
    const Connection connection = waiting.connection;
    const int sock = connection.sock;
    const bool status = waiting.request.type == ifl::RequestType::status_scheduler;
    if (code_of(reply) != (status ? 0 : PBSE_IVALREQ)) {
        end(connection);
        return forward(sock, reply);
    }
    if (!link_.up()) {
        refuse(waiting, link_.why_down());
        return reply_now(waiting);
    }
    if (status) {
        if (!for_everybody(kind_of(waiting.request.extend))) {
            waiting.step = Step::proving;
            return 0;
        }
        waiting.step = Step::answering;
        ask(waiting, Ask::What::whole, PBS_PRIV_NONE);
    } else {
        if (turn_ && *turn_ != connection) {
            waiting.step = Step::turn;
            return 0;
        }
        turn_ = connection;
        waiting.step = waiting.shared ? Step::checking : Step::answering;
        ask(waiting, waiting.shared ? Ask::What::check : Ask::What::whole,
            PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR);
    }
    await(connection);
    Held* now = held(sock);
    return now == nullptr ? 0 : reply_now(*now);
}

int Shim::after_proof(Held& waiting, const std::string& reply) {
    const Connection connection = waiting.connection;
    const bool proved = code_of(reply) == PBSE_IVALREQ;
    const std::string_view kind = kind_of(waiting.request.extend);
    if (!proved && !less_for_others(kind)) {
        end(connection);
        return forward(connection.sock, reply);
    }
    waiting.step = Step::answering;
    if (!proved)
        ask(waiting, Ask::What::whole, PBS_PRIV_NONE);
    else if (command_of_proof(kind) == PBS_CMD_CREATE)
        ask(waiting, Ask::What::whole, PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR);
    else
        ask(waiting, Ask::What::whole, PBS_PRIV_OPERATOR);
    await(connection);
    Held* now = held(connection.sock);
    return now == nullptr ? 0 : reply_now(*now);
}

int Shim::after_server(Held& waiting, const std::string& reply) {
    const Connection connection = waiting.connection;
    if (code_of(reply) != 0) {
        end(connection);
        return forward(connection.sock, reply);
    }
    waiting.server_reply = reply;
    link_.send(Changed{std::get<ifl::Manage>(waiting.request.body).object_type});
    waiting.step = Step::answering;
    ask(waiting, Ask::What::commit, PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR);
    await(connection);
    Held* now = held(connection.sock);
    return now == nullptr ? 0 : reply_now(*now);
}

int Shim::after_settled(int sock, const std::string& reply) {
    current_.course = Course::pass;
    const int code = code_of(reply);
    if (current_.refusal && code == PBSE_IVALREQ) return forward(sock, *current_.refusal);
    if (code == 0) {
        const ifl::Manage& body = current_.body;
        link_.send(Changed{body.object_type});
        const bool lives = body.object_type == PBS_OBJ_QUEUE || body.object_type == PBS_OBJ_SCHED;
        const bool one = !body.object.empty() && body.object.front() != '@';
        if (lives && one && (body.command == PBS_CMD_CREATE || body.command == PBS_CMD_DELETE)) {
            Ask commit;
            commit.ticket = ++last_ticket_;
            commit.what = Ask::What::commit;
            commit.privilege = PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR;
            commit.address = address_of(sock);
            commit.request = {ifl::RequestType::manager,
                              current_.user,
                              ifl::Manage{body.command, body.object_type, body.object, {}},
                              {}};
            link_.send(commit);
        }
        if (!current_.warning.empty() && plugin_schedules(body.object))
            return forward(sock, ifl::encode_reply(ifl::Reply::warning(current_.warning)));
    }
    return forward(sock, reply);
}

// Adds our attributes to a listing of an object. Attributes that every object has are shown only if asked for
// by name.
bool Shim::add_shown(ifl::ObjectStatus& object) const {
    const std::size_t before = object.attributes.size();
    if (!current_.servers_wanted) object.attributes.clear();
    if (!current_.servers_own.empty()) object.attributes = named(object.attributes, current_.servers_own);
    const auto wants = [&](const std::string& name) {
        if (current_.all_wanted)
            return name != "time_zone" && name != "server_time" && name != "policy_attached";
        return std::ranges::any_of(current_.wanted, [&](const std::string& one) {
            return strcasecmp(one.c_str(), name.c_str()) == 0;
        });
    };
    // The reason for the service's silence takes the place of its last message.
    std::string silent;
    if (!link_.up())
        silent = link_.why_down();
    else if (const auto time = link_.silent(Clock::now()); time > kLongSilence)
        silent = fmt::format("it hasn't said anything for {} seconds", time.count());
    const std::string key = current_.object_type == PBS_OBJ_SERVER ? std::string() : object.name;
    if (const auto found = shown_.find({current_.object_type, key}); found != shown_.end())
        for (const ifl::Attribute& one : found->second) {
            if (!wants(one.name) || (!silent.empty() && one.name == "policy_service")) continue;
            object.attributes.push_back(one);
            if (one.name == "scheduled_by" && one.value == "pbs_policy" && !link_.up())
                object.attributes.back().value = "nobody";
        }
    if (current_.object_type == PBS_OBJ_SERVER && wants("server_time"))
        object.attributes.push_back({"server_time", {}, utc_text(), ifl::Op::set});
    if (current_.object_type == PBS_OBJ_SERVER && wants("policy_attached"))
        object.attributes.push_back({"policy_attached", {}, options_.attachment, ifl::Op::set});
    if (current_.object_type == PBS_OBJ_SCHED && wants("policy_service") && !silent.empty())
        object.attributes.push_back({"policy_service", {}, silent, ifl::Op::set});
    return !current_.servers_wanted || !current_.servers_own.empty() || object.attributes.size() != before;
}

int Shim::after_listing(int sock, const std::string& data) {
    take(link_.receive(std::chrono::milliseconds(0)));
    auto reply = ifl::decode_reply(data);
    if (!reply || !reply->more_parts) current_.course = Course::pass;
    auto* status = reply ? std::get_if<ifl::StatusReply>(&reply->body) : nullptr;
    if (status == nullptr || reply->code != 0) return forward(sock, data);
    bool changed = false;
    for (ifl::ObjectStatus& object : status->objects) changed = add_shown(object) || changed;
    return forward(sock, changed ? ifl::encode_reply(*reply) : data);
}

// ---- The service.

void Shim::ask(Held& waiting, Ask::What what, std::uint32_t privilege) {
    waiting.ticket = ++last_ticket_;
    Ask message;
    message.ticket = waiting.ticket;
    message.what = what;
    message.privilege = privilege;
    message.address = waiting.address;
    message.request = waiting.request;
    // A message that the service can't read would end the connection for all: check it first.
    if (const auto readable =
            to_service(std::string_view(packet_of(ToService(message))).substr(ifl::kPacketHeaderSize));
        !readable)
        return refuse(waiting, readable.error().message);
    if (!link_.up()) return refuse(waiting, link_.why_down());
    link_.send(message);
}

void Shim::await(const Connection& connection) {
    const Clock::time_point until = Clock::now() + options_.patience;
    for (;;) {
        const Held* waiting = held(connection.sock);
        if (waiting == nullptr || (waiting->step != Step::checking && waiting->step != Step::answering))
            return;
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
        if (left.count() <= 0) return;
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
            // Send a part only when the client has taken the one before, so that none keeps the server
            // waiting.
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

// ---- Between requests.

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
        const bool refused = late && waiting.step == Step::probing;  // by the server
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
    // Our events take turns with those that the server itself waits for.
    if (due && !event_before_) {
        event_before_ = true;
        events[0] = event;
        return 1;
    }
    event_before_ = false;
    return library_.real().wait(epoll, events, most, due ? 0 : next_timeout(timeout), signals);
}

}  // namespace pbs::openpbs
