#include "server_plugin/scheduler/model/allocations.h"

#include <utility>

namespace pbs::sched {
namespace {

double of_group(const NodeHours& groups, std::string_view group) {
    const auto found = groups.find(group);
    return found == groups.end() ? 0 : found->second;
}

}  // namespace

void Allocations::set_allocated(NodeHours groups) {
    allocated_ = std::move(groups);
    allocated_known_ = true;
}

void Allocations::set_used(NodeHours groups) {
    used_ = std::move(groups);
    used_known_ = true;
    std::erase_if(charges_, [](const auto& charge) { return charge.second.ended; });
    charged_.clear();
    for (const auto& [job, charge] : charges_) charged_[charge.group] += charge.node_hours;
}

void Allocations::charge(std::string_view job_id, std::string_view group, double node_hours) {
    const auto [place, made] =
        charges_.try_emplace(std::string(job_id), Charge{std::string(group), node_hours, false});
    // A job that runs again uses more; a job that is reported twice doesn't.
    if (!made && !std::exchange(place->second.ended, false)) return;
    if (!made) place->second.node_hours += node_hours;
    charged_[place->second.group] += node_hours;
}

void Allocations::job_ended(std::string_view job_id) {
    const auto found = charges_.find(std::string(job_id));
    if (found != charges_.end()) found->second.ended = true;
}

Allocations::Standing Allocations::of(std::string_view group) const {
    const auto found = allocated_.find(group);
    Standing standing;
    standing.listed = found != allocated_.end();
    if (standing.listed) standing.allocated = found->second;
    standing.used = of_group(used_, group) + of_group(charged_, group);
    return standing;
}

Allocations::State Allocations::state() const {
    State state;
    if (allocated_known_) state.allocated = allocated_;
    if (used_known_) state.used = used_;
    state.charges.insert(charges_.begin(), charges_.end());
    state.charged = charged_;
    return state;
}

void Allocations::restore(State state) {
    allocated_known_ = state.allocated.has_value();
    used_known_ = state.used.has_value();
    allocated_ = std::move(state.allocated).value_or(NodeHours());
    used_ = std::move(state.used).value_or(NodeHours());
    charges_ = {state.charges.begin(), state.charges.end()};
    charged_ = std::move(state.charged);
}

}  // namespace pbs::sched
