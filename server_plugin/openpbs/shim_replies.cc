// The shim's functions that encode replies, which the server calls as it writes them.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include "server_plugin/openpbs/shim.h"
#include "server_plugin/openpbs/shim_terms.h"
#include "values/object_types.h"
#include "values/text.h"
#include "values/utc.h"

namespace pbs::openpbs {
namespace {

bool for_everybody(std::string_view kind) {
    const values::ObjectTypeRow* type = values::find_type(kind);
    return type != nullptr && type->own;
}

// Returns whether ordinary users see only a part of the objects of this kind. Managers see all shares;
// managers and operators see all jobs and quotas.
bool less_for_others(std::string_view kind) {
    return kind == "fairshare" || kind == "explanation" || kind == "quota_use";
}

// Returns the attributes with these names, in the order of the names.
ifl::Attributes named(const ifl::Attributes& attributes, const RawAttributes& names) {
    ifl::Attributes out;
    for (const RawAttribute& name : names)
        for (const ifl::Attribute& one : attributes)
            if (values::same_word(one.name, name.name)) out.push_back(one);
    return out;
}

}  // namespace

int Shim::forward(int sock, const std::string& reply) {
    return library_.put(sock, reply);
}

int Shim::encode_reply(int sock, void* reply) {
    Held* const started = starting(sock);
    if (started == nullptr && (!is_current(sock) || current_.course == Course::pass))
        return library_.real().encode_reply(sock, reply);
    const auto data = library_.encoded(sock, reply);
    if (!data) return data.error();
    if (started != nullptr) return after_start(*started, *data);
    const Course course = current_.course;
    if (course == Course::listing) return after_listing(sock, *data);
    if (course == Course::settle) return after_settled(sock, *data);
    Held* waiting = held(sock);
    // The server's further replies on this connection are for other requests of the client, and pass
    // unchanged.
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
            return 0;  // the reply is to a probe that only waits: the answer follows
    }
}

int Shim::after_probe(Held& waiting, const std::string& reply) {
    const Connection connection = waiting.connection;
    const int sock = connection.sock;
    const bool status = waiting.request.type == ifl::RequestType::status_scheduler;
    if (code_of(reply) != (status ? 0 : PBSE_IVALREQ)) {
        const bool wants_reply = waiting.wants_reply();
        end(connection);
        return wants_reply ? forward(sock, reply) : 0;
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
        ask(waiting, Ask::Kind::whole, PBS_PRIV_NONE);
    } else if (waiting.is_start()) {
        waiting.step = Step::answering;
        ask(waiting, Ask::Kind::whole, PBS_PRIV_OPERATOR);
    } else {
        if (turn_ && *turn_ != connection) {
            waiting.step = Step::turn;
            return 0;
        }
        turn_ = connection;
        waiting.step = waiting.shared ? Step::checking : Step::answering;
        ask(waiting, waiting.shared ? Ask::Kind::check : Ask::Kind::whole,
            PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR);
    }
    return await(connection);
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
        ask(waiting, Ask::Kind::whole, PBS_PRIV_NONE);
    else if (command_of_proof(waiting.request.extend) == PBS_CMD_CREATE)
        ask(waiting, Ask::Kind::whole, PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR);
    else
        ask(waiting, Ask::Kind::whole, PBS_PRIV_OPERATOR);
    if (kind == "changes") waiting.deadline += kLongestWait;
    // The server doesn't wait while a program waits for changes.
    return waiting.waits_for_changes() ? 0 : await(connection);
}

// Handles the server's answer to a start that the service has tested.
int Shim::after_start(Held& waiting, const std::string& reply) {
    const Connection connection = waiting.connection;
    const bool wants_reply = waiting.wants_reply();
    if (is_current(connection.sock)) current_.course = Course::pass;
    // If the server has refused the start, end() is to abandon it.
    if (code_of(reply) != 0) waiting.step = Step::server;
    end(connection);
    return wants_reply ? forward(connection.sock, reply) : 0;
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
    ask(waiting, Ask::Kind::commit, PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR);
    return await(connection);
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
        if (lives && one && (body.command == PBS_CMD_CREATE || body.command == PBS_CMD_DELETE))
            ask_apart(sock, Ask::Kind::commit, {body.command, body.object_type, body.object, {}});
        if (!current_.warning.empty() && plugin_schedules(body.object))
            return forward(sock, ifl::encode_reply(ifl::Reply::warning(current_.warning)));
    }
    return forward(sock, reply);
}

// Adds the plugin's attributes to an object in a listing. time_zone, server_time and policy_attached are
// added only if the client has named them. Returns whether the object has changed.
bool Shim::add_shown(ifl::ObjectStatus& object) const {
    const std::size_t before = object.attributes.size();
    if (!current_.servers_wanted) object.attributes.clear();
    if (!current_.servers_own.empty()) object.attributes = named(object.attributes, current_.servers_own);
    const auto wants = [&](const std::string& name) {
        if (current_.all_wanted)
            return name != "time_zone" && name != "server_time" && name != "policy_attached";
        return std::ranges::any_of(current_.wanted,
                                   [&](const std::string& one) { return values::same_word(one, name); });
    };
    // If the service is silent, show the reason in place of the policy_service that it sent last.
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
            if (one.name == "scheduled_by" && !one.value.starts_with("pbs_sched") && !link_.up())
                object.attributes.back().value = "nobody";
        }
    if (current_.object_type == PBS_OBJ_SERVER && wants("server_time")) {
        const std::chrono::sys_seconds now{std::chrono::seconds(std::time(nullptr))};
        object.attributes.push_back({"server_time", {}, values::utc_text(now), ifl::Op::set});
    }
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

}  // namespace pbs::openpbs
