// The reservations for the first waiting jobs (top jobs) that last from one cycle to the next.
//
// A look-ahead, the search for the start of one top job, takes time for every job that ends before. With
// many top jobs it is nearly all of a cycle's work, and most cycles find what the last one found: an arrival
// moves nothing; nor do jobs that the cycle starts, because it has judged them against the reservations; nor
// does the end of a job at its planned end. A job that ends earlier leaves its vnodes to top jobs with
// chunks that fit there by their starts. For these a look-ahead is made again. If it finds another start or
// place, those after it are made again, too.
//
// If not even one look-ahead is needed, because no job has left vnodes earlier than planned, a cycle takes
// all reservations over at once (KeptTops::Whole).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/planning.h"
#include "server_plugin/scheduler/placement/vnodes.h"
#include "server_plugin/scheduler/state/limits.h"
#include "values/tables.h"

namespace pbs::sched {

struct Tables;

class KeptTops {
  public:
    struct Top {
        JobHandle job{};
        std::uint32_t view = 0;  // the number of the view in which the job will start
        QueueSlot queue = kNoSlot;
        std::uint32_t host = 0;
        Instant start{};
        Instant end{};
        Placement placement;
        bool has_limits = false;  // the job has to observe limits on running jobs
        friend bool operator==(const Top&, const Top&) = default;
    };
    // A job that the cycle has started, as the reservations assume it.
    struct Assumed {
        JobHandle job{};
        Instant end{};
        std::vector<VnodeSlot> vnodes{};  // in order, each once
    };

    // All reservations as the last cycle left them, with the starts of that cycle.
    struct Whole {
        std::vector<Reservation> reservations{};
        Reservations on_vnodes{};
        std::unordered_map<QueueSlot, std::int64_t> made{};  // the number that counts for each backfill_depth
        std::vector<JobSlot> jobs{};                         // sorted
        Instant first_start{};
    };

    // The reservations, in the order in which they were made.
    std::vector<Top> list;
    // The same, if nothing else happened to the jobs that come before the last of these.
    std::optional<Whole> whole;

    // ---- Events. A change that these don't describe has to clear() the
    // reservations.

    // Notes that a job started. REQUIRES: it holds its places.
    void started(const Tables& tables, JobSlot job);
    // Notes that a running job ends. REQUIRES: it still holds its places.
    void ended(const Tables& tables, JobSlot job, Instant now);
    void clear();

    // ---- Cycles.

    // Returns whether the events leave reservations that may be kept. `is_late`: a running job has passed
    // its planned end, so that it is expected to end at another instant in each cycle.
    bool may_be_used(const Tables& tables, bool is_late) const;
    // Returns whether no job has left vnodes earlier than planned.
    bool is_nothing_freed() const { return freed_.empty(); }
    // Returns whether a look-ahead would find the same start and place for this job with this request in a
    // pool.
    bool still_holds(const Tables& tables, const Top& top, PoolId pool, const Request& request) const;
    // Notes the end of the cycle that has made, or kept, the list.
    void cycle_ended(const Tables& tables, const Planning& planning, const NodeSize& node_size,
                     std::vector<Assumed> assumed);

  private:
    static constexpr std::size_t kMostFreed = 64;

    values::HashMap<JobHandle, Assumed> assumed_;  // the started jobs that no event has confirmed yet
    // The vnodes on which jobs ended, each with the latest planned end of these.
    values::HashMap<VnodeSlot, Instant> freed_;
    Planning planning_;
    NodeSize node_size_;
    std::uint64_t vnodes_version_ = 0;
};

}  // namespace pbs::sched
