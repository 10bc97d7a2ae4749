// The expected starts of waiting jobs that have no reservation.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "server_plugin/scheduler/framework/intake.h"
#include "server_plugin/scheduler/framework/lookahead.h"
#include "server_plugin/scheduler/framework/plain_jobs.h"

namespace pbs::sched {

// Looks ahead for jobs one after the other: each is expected to start as soon as it can if all earlier ones
// start as expected. A job that is held up starts after all earlier jobs that are held up or hold it up.
//
// For most jobs only the room on vnodes decides. They are found, and kept from cycle to cycle, by the free
// amounts of vnodes over time (KeptEstimates). The others need a look-ahead, in which the expected starts of
// all jobs before them are reserved.
class Expectations : CyclePart {
  public:
    explicit Expectations(const CycleParts& parts);
    ~Expectations();
    Expectations(const Expectations&) = delete;
    Expectations& operator=(const Expectations&) = delete;

    struct Expected {
        Instant start{};
        const Placement* placement = nullptr;
        bool is_kept = false;  // start and place are those of the last cycle with expectations
    };
    // Returns the expected start and place of a job; nullopt: none is known. The placement is valid until the
    // next call.
    std::optional<Expected> of(JobSlot job);
    // Returns whether this cycle may do more of this work. It counts instants that are tried, and jobs that
    // end or begin before them. Each takes at most some microseconds.
    bool may_go_on() const { return work_ < kMostWork; }

  private:
    static constexpr std::size_t kMostWork = 1'000'000;
    using Estimate = KeptEstimates::Estimate;
    using Plain = PlainJobs::Plain;
    static constexpr auto kFarthest = PlainJobs::kFarthest;
    // A plain job that has been expected, but isn't reserved yet.
    struct Waiting {
        Candidate candidate;
        const QueueView* view = nullptr;
        std::size_t estimate = 0;  // its index in the chain
    };

    std::optional<Expected> look_ahead(Candidate& candidate, const CandidateQueues& queues, bool held_up,
                                       const std::optional<Plain>& plain);
    void note(JobSlot job, std::size_t first, std::size_t work, const std::optional<Plain>& plain);
    void reserve_waiting();

    const CycleParts& parts_;
    std::ptrdiff_t kept_ = static_cast<std::ptrdiff_t>(c_.state.reservations.size());
    std::size_t work_ = 0;
    Instant held_up_until_ = in_.now;
    PlainJobs plain_;
    KeptEstimates own_;
    KeptEstimates& chain_;
    std::vector<Waiting> waiting_;
};

}  // namespace pbs::sched
