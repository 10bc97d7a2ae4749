// acl_users of the queue. The first entry that names the owner decides; if none does, the job is refused. The
// filter ignores the host in an entry, because the server checks it when the job is moved.

#include <string_view>

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {
namespace {

Refusal check_user_acl(const OwnerUse& owner, const QueueFacts& o) {
    if (!o.queue->user_acl) return {};
    const std::string_view name = owner.name();
    for (std::string_view entry : o.queue->acl_users) {
        const bool denies = entry.starts_with('-');
        if (denies || entry.starts_with('+')) entry.remove_prefix(1);
        const auto user = entry.substr(0, entry.find('@'));
        if (!user.empty() && user != "*" && user != name) continue;
        if (!denies) return {};
        break;
    }
    return Refusal::for_good({ReasonCode::not_in_acl, o.slot});
}

bool is_open_user_acl(const QueueFacts& o) {
    return !o.queue->user_acl;
}

}  // namespace

extern const Filter kUserAclFilter{
    .name = "user_acl", .traits = by_limits_only, .check = check_user_acl, .is_open = is_open_user_acl};

}  // namespace pbs::sched
