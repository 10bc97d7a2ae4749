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
    // REQUIRES: the job has a range. While this lives, `job` gets requests with other numbers of chunks.
    RangeSearch(CycleContext& context, Candidate& job);

    // Gives the candidate the request with the greatest number of chunks with which `starts` is true: by
    // bisection, in the placement set of the least number or, with range_sets=largest, in each. `starts`
    // tests the candidate with its present request in CycleState::only_set, and has been true with the least
    // number in CycleState::chosen_set. It is called with the number that is found at last.
    template <class Starts>
    void grow(const QueueView& view, const Starts& starts) {
        std::vector<std::string> sets{state_.chosen_set};
        if (s_.range_sets == "largest" && !state_.chosen_set.empty())
            sets = placement_sets_of(state_, job_, view);
        std::string best = state_.chosen_set;
        std::size_t most = 0;
        for (const std::string& set : sets) {
            state_.only_set = set;
            // Another set counts if it has room for more chunks than the best one so far.
            const std::size_t first = set == best ? most : most + 1;
            if (first == numbers_.size() || !starts_with(first, starts)) continue;
            most = greatest(first, starts);
            best = set;
        }
        state_.only_set = best;
        (void)starts_with(most, starts);
        state_.only_set.clear();
    }

    // Gives the candidate one number after the other, and ends with the greatest with which `starts` is true,
    // if it is true for all smaller ones. It is called last with that number.
    template <class Starts>
    void find_greatest(const Starts& starts) {
        if (!starts_with(0, starts)) return;
        (void)starts_with(greatest(0, starts), starts);
    }

    // From now on, in this cycle, the job has the request that was found.
    void keep() const;

  private:
    template <class Starts>
    bool starts_with(std::size_t number, const Starts& starts) {
        use(numbers_[number]);
        return starts();
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

    Candidate& job_;
    std::uint32_t asked_;  // the number of the job's own request
    std::vector<std::int64_t> numbers_;
};

}  // namespace pbs::sched
