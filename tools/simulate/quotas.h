// Observes the quotas of a simulation: how full their counters are, and which jobs wait for them.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/simulate/engine.h"

namespace pbs::simulate {

class QuotaWatch {
  public:
    // Notes the comment of a waiting job. Pass an empty text when the job starts or leaves.
    void comment(std::uint32_t job, std::string_view text);
    // Notes the use of the counters after a cycle. Quotas that aren't in force are left out.
    void counters(Instant now, std::span<const sched::QuotaUse> uses);
    // Returns the figures by limit, "q1 (guests): ncpus".
    std::map<std::string, QuotaOfRun> end(Instant now);

  private:
    struct Watched {
        QuotaOfRun figures;
        std::int64_t most = 0;
        std::set<std::uint32_t> waited;  // jobs that have ever waited
        std::int64_t waiting = 0;        // jobs that wait at present
        bool full = false;               // a counter is at its limit
    };
    void note_times(Instant now);

    Instant last_{};
    std::map<std::string, Watched, std::less<>> limits_;
    std::unordered_map<std::uint32_t, std::string> waits_for_;  // by job: the limit
};

}  // namespace pbs::simulate
