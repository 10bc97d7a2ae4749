// The search for the number of chunks of a job with a select_range, now or in a look-ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server_plugin/scheduler/framework/context.h"

namespace pbs::sched {

class RangeSearch : CyclePart {
  public:
    // Does the job, in its present state, get a number of a range?
    static bool is_for(const CycleContext& context, const Candidate& job) {
        return !job.request->range.empty() && job.suspended == kNoSlot && !context.profile.counts_nodes;
    }
    // REQUIRES: is_for(). While this lives, `job` gets requests with other numbers of chunks.
    RangeSearch(CycleContext& context, Candidate& job);

    // Gives the candidate the request with the greatest number of chunks with which `starts` is true: by
    // bisection, in the placement set of the least number or, with range_sets=largest, in each; of equal ones
    // in the set whose vnodes miss fewest preferences. `starts` tests the candidate with its present request
    // in CycleState::only_set, and has been true with the least number in CycleState::chosen_set. It is
    // called last with the number that is found.
    template <class Starts>
    void grow(const QueueView& view, const Starts& starts) {
        std::vector<std::string> sets{state_.chosen_set};
        if (s_.range_sets == "largest" && !state_.chosen_set.empty())
            sets = placement_sets_of(state_, job_, view);
        const bool has_choice = sets.size() > 1 && s_.preferences && !job_.request->preferences.empty();
        std::string best = state_.chosen_set;
        std::size_t most = 0;
        std::int64_t least_missed = INT64_MAX;
        for (const std::string& set : sets) {
            state_.only_set = set;
            // Another set counts if it has room for more chunks than the best one so far; with preferences,
            // for as many.
            const std::size_t first = set == best || has_choice ? most : most + 1;
            if (first == numbers_.size() || !starts_with(first, starts)) continue;
            const std::size_t number = greatest(first, starts);
            const std::int64_t missed =
                has_choice && starts_with(number, starts, false) ? missed_now() : INT64_MAX;
            if (number == most && set != best && missed >= least_missed) continue;
            most = number;
            best = set;
            least_missed = missed;
        }
        state_.only_set = best;
        (void)starts_with(most, starts, false);
        state_.only_set.clear();
    }

    // Gives the candidate one number after the other, and ends with the greatest with which `starts` is true,
    // if it is true for all smaller ones. It is called last with that number.
    template <class Starts>
    void find_greatest(const Starts& starts) {
        if (!starts_with(0, starts)) return;
        (void)starts_with(greatest(0, starts), starts, false);
    }

    // From now on, in this cycle, the job has the request that was found.
    void keep() const;

  private:
    // `on_trial`: the place needn't be the preferred one.
    template <class Starts>
    bool starts_with(std::size_t number, const Starts& starts, bool on_trial = true) {
        use(numbers_[number]);
        state_.on_trial = on_trial;
        const bool started = starts();
        state_.on_trial = false;
        return started;
    }
    template <class Starts>
    std::size_t greatest(std::size_t starting, const Starts& starts) {
        for (std::size_t refused = numbers_.size(); refused - starting > 1;) {
            const std::size_t between = starting + (refused - starting) / 2;
            (starts_with(between, starts) ? starting : refused) = between;
        }
        return starting;
    }
    void use(std::int64_t chunks);
    // The number of preferences that the vnodes of the place miss, each as often as it gives a chunk.
    std::int64_t missed_now() const;

    Candidate& job_;
    std::uint32_t asked_;  // the number of the job's own request
    std::vector<std::int64_t> numbers_;
};

}  // namespace pbs::sched
