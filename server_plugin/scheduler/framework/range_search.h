// The search for the number of chunks of a job with a select_range, now or at a later instant (Lookahead).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server_plugin/scheduler/framework/context.h"

namespace pbs::sched {

class RangeSearch : CyclePart {
  public:
    // Returns whether the job's number of chunks is to be chosen from a range. A suspended job keeps its
    // number.
    static bool is_for(const CycleContext& context, const Candidate& job) {
        return !job.request->range.empty() && job.suspended == kNoSlot && !context.profile.counts_nodes;
    }
    // REQUIRES: is_for(). The search gives `job` requests with other numbers of chunks.
    RangeSearch(CycleContext& context, Candidate& job);

    // Gives the candidate the request with the greatest number of chunks for which `starts` is true, which it
    // finds by bisection. It looks in the placement set in which the least number starts or, with
    // range_sets=largest, in all sets. If several sets have room for the greatest number, it takes the one
    // whose vnodes miss the fewest preferences. `starts` tests the candidate with its present request in
    // CycleState::only_set. REQUIRES: `starts` was true for the least number, in CycleState::chosen_set. The
    // last call of `starts` is for the number that is found.
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
            // A further set has to have room for more chunks than the best one so far. If preferences decide
            // between equal sets, room for as many is enough.
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

    // Gives the candidate the request with the greatest number of chunks for which `starts` is true. Finds it
    // by bisection, which assumes that `starts` is true for all smaller numbers, too. The last call of
    // `starts` is for the number that is found. If `starts` is false even for the least number, the candidate
    // gets that number.
    template <class Starts>
    void find_greatest(const Starts& starts) {
        if (!starts_with(0, starts)) return;
        (void)starts_with(greatest(0, starts), starts, false);
    }

    // For the rest of the cycle, lets the job have the request that was found.
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
    // The number of preferences that the vnodes of the place miss, summed over the chunks.
    std::int64_t missed_now() const;

    Candidate& job_;
    std::uint32_t asked_;  // the number of the job's own request
    std::vector<std::int64_t> numbers_;
};

}  // namespace pbs::sched
