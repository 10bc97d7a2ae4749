// The running jobs whose ends a look-ahead has passed: their use by all that filters read, and their shares
// of vnodes (FitIndex::begin_ahead()). Both stay from one look-ahead to the next, which mostly goes to nearly
// the same instant. So it counts only the ends between the two instants, and those of jobs that have started
// or ended since.
#pragma once

#include <cstdint>
#include <vector>

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/tables.h"
#include "values/sum.h"

namespace pbs::sched {

struct Holding;

class PassedEnds {
  public:
    // Forgets all.
    void clear() { *this = {}; }
    // Returns whether begin() was called since clear(), the vnodes still have the shares, and the server has
    // amounts of the same resources. A program of server_dyn_res that reports first adds one.
    bool is_good(const CycleState& state) const;
    // Begins with no end after `now` passed. O(vnodes).
    void begin(CycleState& state, const Tables& tables, Instant now);

    // The ends after from() and up to until() are passed.
    Instant from() const { return from_; }
    Instant until() const { return until_; }
    bool has(Instant end) const { return from_ < end && end <= until_; }
    // Sets the span. The caller counts the ends by which it differs from the one before.
    void set_span(Instant from, Instant until) {
        from_ = from;
        until_ = std::max(from, until);
    }
    // Counts a job whose end is passed (sign 1), or takes it out (sign -1).
    void count(CycleState& state, const Tables& tables, const Holding& holding, int sign);
    // Subtracts the use by the jobs from the state (sign -1), or adds it again (sign 1): as far as filters
    // read it for a job of these entities in this view.
    void apply(CycleState& state, Tables& tables, QueueView& view, const Entities& whose, int sign) const;

  private:
    struct OfServer {
        std::uint32_t resource = 0;
        bool given_back = false;  // as ServerAmount::given_back
        values::Sum in_use{};
    };
    struct OfView {
        std::int64_t running = 0;
        std::int64_t nodes = 0;
        std::vector<values::Sum> in_use{};  // as QueueView::in_use
    };

    std::uint64_t number_ = 0;  // of the shares of vnodes
    bool is_sound_ = false;     // false while an end is counted, in case that memory is short
    Instant from_ = Instant::min();
    Instant until_ = Instant::min();
    std::int64_t running_ = 0;
    std::int64_t dedicated_running_ = 0;
    std::vector<OfView> views_{};        // by number of the view
    std::vector<OfServer> of_server_{};  // as CycleState::server_amounts
    RunCounts counts_{};
};

}  // namespace pbs::sched
