// One job that an operator wants started (qrun): is there room for it? Of all filters only those about what
// there is are asked, as OpenPBS's scheduler does for qrun; what is allowed is the operator's business.

#include <algorithm>

#include "server_plugin/scheduler/framework/cycle_parts.h"

namespace pbs::sched {

Decisions Cycle::place(JobSlot job) {
    Decisions out;
    out.memory = std::make_unique<std::pmr::monotonic_buffer_resource>();
    state_.at_request = true;
    state_.vnodes = &t_.vnodes;  // even if the policy tries a larger machine (FAKE_MACHINE_MULT)
    QueueView& view = *make_view(t_.jobs.queue[job], 0, false);
    fill_view(view);
    Candidate c = candidate({job, JobClass::normal, nodes_of_ordered(job), t_.jobs.signature[job]});
    set_walltime(c, view);
    Reason reason;
    for (const Filter* filter : p_.filters)
        if (!reason && (filter->traits & about_room) != 0) reason = check(*filter, c, view).reason;
    if (!reason) {
        decide_start(out, {job, &view, std::move(state_.placement), state_.ends(c)}, {});
        return out;
    }
    refuse(job, reason);
    const std::string_view line = answer_text(out, answers_.back());
    t_.jobs.comment[job] = answers_.back().number;  // so that the next cycle says what it finds instead
    out.list.push_back({DecisionKind::comment, t_.jobs.handle[job], {}, line, {}, {}});
    return out;
}

Decisions place_job(const CycleInput& input, JobSlot job) {
    return Cycle(input).place(job);
}

}  // namespace pbs::sched
