// The vnodes that the filters of quotas select. A rule may name many patterns, and matching them with each
// vnode takes long, so the answers last until vnodes change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server_plugin/scheduler/model/quota.h"
#include "server_plugin/scheduler/state/cycle_state.h"
#include "values/tables.h"

namespace pbs::sched {

class QuotaVnodes {
  public:
    struct Answers {
        // By the slot of each vnode: 0 if the filter doesn't select it, else 1 plus the number (Interner) of
        // the value that a rule with braces counts by, or 1 without braces.
        std::vector<std::uint32_t> values;
        values::HashMap<std::uint32_t, std::vector<VnodeSlot>> vnodes;  // by these values but 0
    };
    using Values = std::shared_ptr<const Answers>;

    // Returns the answers for the vnodes of the cycle. The larger machine of an assumption
    // (fake_machine_mult) has other vnodes: its answers aren't kept.
    Values values(const CycleState& state, const objects::QuotaFilter& filter);

  private:
    std::uint64_t version_ = 0;  // Inventory::version() of these answers
    values::HashMap<std::string, Values> by_filter_;
    std::size_t numbers_ = 0;  // of all answers
};

}  // namespace pbs::sched
