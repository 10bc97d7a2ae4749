#include "server_plugin/host/requests/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// With these codes a request is refused because the requester lacks rights, whoever he is.
constexpr std::array kRefusals = {PBSE_PERM, PBSE_BADCRED, PBSE_BADUSER, PBSE_BADGRP, PBSE_QACESS};
// These codes mean missing rights only if the requester isn't a manager. To a manager they mean an attribute
// that nobody can set, or a host that can't exist.
constexpr std::array kRefusalsOfOthers = {PBSE_ATTRRO, PBSE_BADHOST};

template <typename Codes>
bool among(const Codes& codes, int code) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

bool is_refusal(const Context& context, int code) {
    return among(kRefusals, code) || (!context.who.manager() && among(kRefusalsOfOthers, code));
}

// Bounds on the parts of the log line, because the texts in a request may be very long.
constexpr size_t kMostNames = 20;
constexpr size_t kMostBytes = 1024;
constexpr size_t kLongestShown = 256;
constexpr size_t kMostJobs = 20;

std::string shown(std::string_view name) {
    return name.size() <= kLongestShown ? std::string(name)
                                        : std::string(name.substr(0, kLongestShown)) + "...";
}

std::string names_of(const ifl::Attributes& attributes) {
    std::string out;
    for (size_t i = 0; i < attributes.size(); ++i) {
        const ifl::Attribute& attribute = attributes[i];
        const std::string name =
            shown(attribute.resource.empty() ? attribute.name : attribute.name + "." + attribute.resource);
        if (i == kMostNames || out.size() + name.size() > kMostBytes)
            return out + fmt::format(" and {} more)", attributes.size() - i);
        out += (i == 0 ? " (" : ", ") + name;
    }
    return out.empty() ? out : out + ")";
}

std::string object_of(const ifl::Manage& body, ifl::RequestType type) {
    constexpr std::array kCommands = {"create", "delete", "set", "unset"};
    std::string out;
    if (type == ifl::RequestType::manager && body.command < kCommands.size())
        out = fmt::format(" {} {}", kCommands[body.command], type_name(body.object_type));
    if (!body.object.empty()) out += " " + shown(body.object);
    return out + names_of(body.attributes);
}

// Returns the object of the request as the log line shows it: " set queue batch (started)", " 12.svr".
std::string object_of(const ifl::Request& request) {
    return std::visit(
        [&](const auto& body) -> std::string {
            using Body = std::decay_t<decltype(body)>;
            if constexpr (std::is_same_v<Body, ifl::Manage>) {
                return object_of(body, request.type);
            } else if constexpr (std::is_same_v<Body, ifl::QueueJob>) {
                return fmt::format(" into queue \"{}\"{}", shown(body.destination),
                                   names_of(body.attributes));
            } else if constexpr (requires { body.destination; }) {
                return fmt::format(" {} {}", shown(body.job), shown(body.destination));
            } else if constexpr (requires { body.job; }) {
                return " " + shown(body.job);
            } else if constexpr (requires { body.object; }) {
                return body.object.empty() ? "" : " " + shown(body.object);
            }
            return {};
        },
        request.body);
}

void write(const Context& context, std::string_view object, std::string_view why) {
    context.server.parts.log.write(
        LogEvent::security, LogClass::request, ifl::request_name(context.request.type),
        fmt::format("refused: {}{} by {} from {}: {}", ifl::request_name(context.request.type), object,
                    requestor(context), context.session.from, why));
}

}  // namespace

Result<void> may_use(const State& state, const Identity& who) {
    if (who.manager()) return {};
    if (state.server.boolean("acl_host_enable", false) && !same_name(who.host, state.host_name) &&
        !acl_allows(state.server.list("acl_hosts"), who.host, AclKind::host))
        return fail(PBSE_BADHOST);
    if (state.server.boolean("acl_user_enable", false) &&
        !acl_allows(state.server.list("acl_users"), who.at_host(), AclKind::user))
        return fail(PBSE_PERM);
    return {};
}

void log_refusal(const Context& context, const ifl::Reply& reply) {
    if (const auto* list = std::get_if<ifl::DeleteReply>(&reply.body)) {
        size_t refused = 0;
        for (const auto& [job, code] : list->failed)
            if (is_refusal(context, static_cast<int>(code)) && ++refused <= kMostJobs)
                write(context, " " + shown(job), values::trim(ifl::error_text(static_cast<int>(code))));
        if (refused > kMostJobs) write(context, "", fmt::format("and {} more jobs", refused - kMostJobs));
        return;
    }
    if (!is_refusal(context, reply.code)) return;
    const auto* text = std::get_if<ifl::TextReply>(&reply.body);
    write(context, object_of(context.request),
          text != nullptr && !text->text.empty() ? std::string_view(text->text)
                                                 : values::trim(ifl::error_text(reply.code)));
}

}  // namespace pbs::host
