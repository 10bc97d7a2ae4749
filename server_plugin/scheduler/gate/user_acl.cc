// acl_users of the queue. The first entry that names the owner decides; without one, no. The host part of an
// entry isn't looked at: the server compares it when the job is moved.

#include <string_view>

#include "server_plugin/scheduler/gate/gate.h"

namespace pbs::sched {
namespace {

Reason check(CycleState& state, const Candidate& job, QueueView& view) {
    if (!view.queue->user_acl) return {};
    const std::string_view owner = state.strings->text(job.owner);
    for (std::string_view entry : view.queue->acl_users) {
        const bool denies = entry.starts_with('-');
        if (denies || entry.starts_with('+')) entry.remove_prefix(1);
        const auto user = entry.substr(0, entry.find('@'));
        if (!user.empty() && user != "*" && user != owner) continue;
        if (!denies) return {};
        break;
    }
    return {Because::not_in_acl, view.slot};
}

unsigned reads(const CycleState&, const QueueView& view) {
    return view.queue->user_acl ? reads_owner : 0U;
}

bool is_open(const CycleState&, const QueueView& view) {
    return !view.queue->user_acl;
}

}  // namespace

extern const Gate user_acl_gate;
const Gate user_acl_gate{"user_acl", "", tells_access, always, check, by_configuration, reads, is_open};

}  // namespace pbs::sched
