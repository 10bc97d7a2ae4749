// Inspector's function that shows the counters of quotas.

#include "server_plugin/scheduler/scheduler_impl.h"
#include "server_plugin/scheduler/state/quota_book.h"

namespace pbs::sched {

std::vector<QuotaUse> Inspector::quotas(Instant now, std::string_view sched, bool with_jobs,
                                        std::optional<std::string_view> user) {
    const Policy* policy = impl_->active_policy(sched, now);
    if (policy == nullptr || policy->settings.quotas.empty()) return {};
    Tables& tables = impl_->tables;
    CycleState state;
    state.now = now;
    state.settings = &policy->settings;
    state.planning = Planning::by(policy->settings, tables.preempts && tables.has_closings);
    state.resources = &tables.resources;
    state.strings = &tables.strings;
    state.queues = &tables.queues;
    state.vnodes = &tables.vnodes;
    state.tables = &tables;
    QuotaBook book;
    book.begin_to_show(state);
    return book.shown(state, with_jobs, user);
}

}  // namespace pbs::sched
