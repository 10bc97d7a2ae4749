// A log of the jobs that have changed, for rules that keep sums over jobs: Tables has one of running jobs,
// and one of waiting jobs. Such a rule counts all jobs once, and from then on only those that the log names
// since the rule last read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server_plugin/scheduler/model/job_table.h"

namespace pbs::sched {

class JobChanges {
  public:
    // The place up to which a reader has read the log.
    struct Position {
        std::uint64_t era = 0;
        std::uint64_t number = 0;
    };

    // Notes that the job in this slot has changed, or has begun or ceased to be one of the log's jobs: to
    // run, for the log of running jobs.
    void note(JobSlot job) {
        if (list_.size() == kMostNoted) {
            first_ += kMostNoted / 2;
            list_.erase(list_.begin(), list_.begin() + kMostNoted / 2);
        }
        list_.push_back(job);
    }
    // Notes a change of something else by which jobs are counted: a resource, a queue, a vnode, a reservation
    // or the configuration. Every reader has to count all jobs again.
    void note_all() {
        ++era_;
        first_ += list_.size();
        list_.clear();
    }

    Position position() const { return {era_, first_ + list_.size()}; }
    // Returns the slots noted since a position, perhaps several times each. nullopt: all jobs have to be
    // counted again. The result is valid until the next note.
    std::optional<std::span<const JobSlot>> since(const Position& position) const {
        if (position.era != era_ || position.number < first_) return std::nullopt;
        return std::span(list_).subspan(position.number - first_);
    }

  private:
    static constexpr std::size_t kMostNoted = 65536;

    std::uint64_t era_ = 1;    // a new reader has era 0
    std::uint64_t first_ = 0;  // the number of the first slot in `list_`
    std::vector<JobSlot> list_;
};

}  // namespace pbs::sched
