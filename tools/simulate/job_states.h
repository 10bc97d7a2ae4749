// Keeps a state for some of a trace's jobs, such as the waiting or the running ones.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace pbs::simulate {

// Maps jobs, by their index in the trace, to states. The memory of a removed state is used again.
template <class State>
class JobStates {
  public:
    explicit JobStates(std::size_t jobs) : place_of_(jobs) {}

    bool empty() const { return states_.size() == unused_.size(); }
    // Returns the job's state; null: it has none.
    State* find(std::uint32_t job) { return place_of_[job] == 0 ? nullptr : &states_[place_of_[job] - 1]; }
    // Adds a state for a job that has none. The state still has the values of the job that used it last. The
    // reference is valid until the next add().
    State& add(std::uint32_t job) {
        if (unused_.empty()) {
            states_.emplace_back();
            unused_.push_back(static_cast<std::uint32_t>(states_.size()));
        }
        place_of_[job] = unused_.back();
        unused_.pop_back();
        return states_[place_of_[job] - 1];
    }
    void remove(std::uint32_t job) { unused_.push_back(std::exchange(place_of_[job], 0)); }
    // Calls visit(job, state) in the order of the trace.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (std::uint32_t job = 0; job < place_of_.size(); ++job)
            if (place_of_[job] != 0) visit(job, states_[place_of_[job] - 1]);
    }

  private:
    std::vector<std::uint32_t> place_of_;  // by job: index in states_ plus 1; 0: no state
    std::vector<State> states_;
    std::vector<std::uint32_t> unused_;  // indices in states_ plus 1
};

}  // namespace pbs::simulate
