#include "server_plugin/host/life/queue_rules.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/equivalence.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {
namespace {

// Checks that the job may run as `user`. A user of this host may submit for himself only; its root may submit
// for any user. The owner of a job that another server handed in counts as a user of another host, because
// only that server has checked him. With flatuid, he may run jobs as the user of the same name here;
// /etc/hosts.equiv may permit other users.
Result<void> may_map(const Job& job, const Server& server, std::string_view user) {
    if (job.handed_in() && is_equivalent(job.owner(), job.owner_host(), user)) return {};
    if (user == job.owner()) {
        const bool local = !job.handed_in() && same_name(job.owner_host(), server.state.host_name);
        if (local || server.state.server.boolean("flatuid", false)) return {};
        return fail(
            PBSE_BADUSER,
            fmt::format("Bad UID for job execution: {} is not known to be a user of this host (see flatuid)",
                        job.attributes.text("Job_Owner")));
    }
    if (!job.handed_in() && job.owner() == "root" && same_name(job.owner_host(), server.state.host_name))
        return {};
    return fail(PBSE_BADUSER,
                fmt::format("Bad UID for job execution: {} may not run jobs as {}", job.owner(), user));
}

Result<void> set_group(Job& job, const Server& server, const User& user) {
    static const AttributeDef& egroup = *job_table().find("egroup");
    const std::string wanted = entry_for_host(job.attributes.list("group_list"), server.state.host_name);
    if (wanted.empty()) {
        job.attributes.set(egroup, {}, user.group);
        return {};
    }
    int error = 0;
    const bool is_member = in_group(user, wanted, &error);
    if (error != 0) return fail(PBSE_SYSTEM, not_looked_up("group", wanted, error));
    if (!is_member)
        return fail(PBSE_BADGRP,
                    fmt::format("Bad GID for job execution: {} is not in group {}", user.name, wanted));
    job.attributes.set(egroup, {}, wanted);
    return {};
}

// Compares a limit with a request, as OpenPBS does. Returns a number below 0 if the limit is less than the
// request, above 0 if the limit is more, and 0 if they are equal. Texts are compared by their characters. A
// limit that is a list equals the request if it has all requested entries, else it is more. A boolean that
// differs is more, too. So a request never exceeds a maximum that is a list or a boolean.
int compared(Type type, std::string_view limit, std::string_view asked) {
    if (is_amount(type)) {
        const auto order = amount_of(type, limit) <=> amount_of(type, asked);
        return order < 0 ? -1 : order > 0 ? 1 : 0;
    }
    if (type == Type::text) return limit.compare(asked);
    if (type != Type::list) return limit == asked ? 0 : 1;
    const std::vector<std::string> has = split_list(limit);
    return std::ranges::all_of(
               split_list(asked),
               [&](const std::string& one) { return std::ranges::find(has, one) != has.end(); })
               ? 0
               : 1;
}

// Returns whether the request exceeds one of these limits (is below one, if `maximum` is false), and sets
// `which` to that limit. A limit is ignored if `before` has one for the same resource. OpenPBS has no maximum
// of `nodes`, so TORQUE's count of nodes limits no job.
bool outside(const Attributes& limits, std::string_view name, const Job& job, const State& state,
             bool maximum, std::string& which, const Attributes* before = nullptr) {
    for (const AttributeValue& limit : limits.all_of(name)) {
        if (before != nullptr && before->has(name, limit.resource())) continue;
        const Resource* resource = state.resources.find(limit.resource());
        const AttributeValue* asked = job.attributes.find("Resource_List", limit.resource());
        if (resource == nullptr || asked == nullptr || (maximum && resource->name == "nodes")) continue;
        const int order = compared(resource->type, limit.value(), asked->value());
        if (maximum ? order < 0 : order > 0) {
            which = fmt::format("{}={} against {}.{}={}", limit.resource(), asked->value(), name,
                                limit.resource(), limit.value());
            return true;
        }
    }
    return false;
}

}  // namespace

Result<void> set_execution_user(Job& job, Server& server) {
    static const AttributeDef& euser = *job_table().find("euser");
    std::string name = entry_for_host(job.attributes.list("User_List"), server.state.host_name);
    if (name.empty()) name = job.owner();
    int error = 0;
    const auto user = server.recent_users.find(name, server.now(), error);
    if (error != 0) return fail(PBSE_SYSTEM, not_looked_up("user", name, error));
    if (!user)
        return fail(PBSE_BADUSER, fmt::format("Bad UID for job execution: there is no user {} here", name));
    if (user->uid == 0 && job.handed_in())
        return fail(PBSE_BADUSER, "Bad UID for job execution: no job of another server is run as root");
    if (user->uid == 0 &&
        !acl_allows(server.state.server.list("acl_roots"), job.attributes.text("Job_Owner"), AclKind::user))
        return fail(PBSE_BADUSER,
                    "Bad UID for job execution: root's jobs are not run unless acl_roots names it");
    if (auto ok = may_map(job, server, name); !ok) return ok;
    std::string reason;
    if (!server.parts.executor.may_run_as(user->uid, reason))
        return fail(PBSE_BADUSER, fmt::format("Bad UID for job execution: {}", reason));
    job.attributes.set(euser, {}, user->name);
    return set_group(job, server, *user);
}

Result<void> within_limits(const Job& job, const Queue& queue, const State& state) {
    std::string which;
    if (outside(queue.attributes, "resources_min", job, state, false, which) ||
        outside(queue.attributes, "resources_max", job, state, true, which))
        return fail(PBSE_EXCQRESC,
                    fmt::format("Job violates queue and/or server resource limits: {} of queue {}", which,
                                queue.name));
    // The server's maximum counts only for resources without a maximum of the queue.
    if (outside(state.server, "resources_max", job, state, true, which, &queue.attributes))
        return fail(PBSE_EXCQRESC,
                    fmt::format("Job violates queue and/or server resource limits: {} of the server", which));
    return {};
}

Result<void> may_enter(const Job& job, const Queue& queue, CountedJobs& counted, Entry entry) {
    const Attributes& attributes = queue.attributes;
    if (entry != Entry::managed) {
        if (!queue.enabled()) return fail(PBSE_QUNOENB, fmt::format("Queue is not enabled: {}", queue.name));
        const AttributeValue* most = attributes.find("max_queuable");
        if (most != nullptr &&
            counted.others_in(queue, job.handle) >= amount_of(Type::integer, most->value()))
            return fail(PBSE_MAXQUED, "Maximum number of jobs already in queue");
        if (auto ok = fits_array_size(job, queue); !ok) return ok;
        if (entry == Entry::submitted && attributes.boolean("from_route_only", false))
            return fail(
                PBSE_QACESS,
                fmt::format("Access to queue is denied: {} takes jobs from route queues only", queue.name));
        if (attributes.boolean("acl_host_enable", false) &&
            !acl_allows(attributes.list("acl_hosts"), job.owner_host(), AclKind::host))
            return fail(PBSE_BADHOST);
        if (attributes.boolean("acl_group_enable", false) &&
            !acl_allows(attributes.list("acl_groups"), job.attributes.text("egroup"), AclKind::group))
            return fail(PBSE_QACESS);
        if (attributes.boolean("acl_user_enable", false) &&
            !acl_allows(attributes.list("acl_users"), job.attributes.text("Job_Owner"), AclKind::user))
            return fail(PBSE_QACESS);
        if (auto ok = within_queued_jobs(job, queue, counted); !ok) return ok;
        if (auto ok = within_queued_amounts(job, queue, counted); !ok) return ok;
    }
    return within_limits(job, queue, counted.state());
}

}  // namespace pbs::host
