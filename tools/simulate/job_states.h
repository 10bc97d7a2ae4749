// States of some of the jobs of a trace: of those that wait, or of those that run.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace pbs::simulate {

// By the position of the job in the trace. States are used again, with the memory that they have.
template <class State>
class JobStates {
  public:
    explicit JobStates(std::size_t jobs) : place_of_(jobs) {}

    bool empty() const { return states_.size() == unused_.size(); }
    // Null: the job is none of them.
    State* find(std::uint32_t job) { return place_of_[job] == 0 ? nullptr : &states_[place_of_[job] - 1]; }
    // Of a job that is none of them yet; as another job left it. Valid until the next one.
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
    std::vector<std::uint32_t> place_of_;  // by job, and 1; 0: it is none of them
    std::vector<State> states_;
    std::vector<std::uint32_t> unused_;  // places, and 1
};

}  // namespace pbs::simulate
