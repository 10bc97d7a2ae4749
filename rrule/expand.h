// From a rule to its occurrences. Internal to rrule/.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rrule/recurrence.h"
#include "rrule/rule_text.h"

namespace pbs::rrule {

// The occurrences of one rule without COUNT and UNTIL, which are limits on them (recurrence.cc).
//
// HOURLY, DAILY and WEEKLY rules are expanded here, as each of their days can be judged by itself; MONTHLY
// and YEARLY rules are expanded by libical 3. Two limits of libical are worked round: it ends in 2582, so
// dates are moved by whole cycles of 400 years, after which the Gregorian calendar repeats with the same
// weekdays; and it walks from DTSTART on (at 2 us a step, 9 s for an HOURLY rule that never occurs), so it's
// started at the beginning of the period that is asked for, with the parts that DTSTART implies written out.
class RuleExpander {
  public:
    // `anchor` is DTSTART, or what stands for it; occurrences before it count only if `since_ever`.
    RuleExpander(const text::Rule& rule, Local anchor, bool since_ever);
    ~RuleExpander();
    RuleExpander(RuleExpander&&) noexcept;

    // False when libical doesn't take the rule.
    bool valid() const;

    // Appends the occurrences in [from, to), ascending, without duplicates.
    void expand(Local from, Local to, std::vector<Local>& out) const;

    // Days after which the pattern repeats (Recurrence::period_days).
    std::int64_t period_days() const;

  private:
    struct Impl;
    std::unique_ptr<const Impl> impl_;
};

}  // namespace pbs::rrule
