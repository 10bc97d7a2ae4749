// What a test told a World, as text that can be pasted into another test.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {

// The options as initialisers: `{.name = "q", .max_running = 3}`, without members that have their defaults.
std::string text_of(const QueueOptions& options);
std::string text_of(const VnodeOptions& options);
std::string text_of(const JobOptions& options);
// "at(6, 0, 5)"
std::string text_of(Instant instant);
// Assignments to the members of `s` that differ from the defaults, a line each. A member without a short
// text, such as quotas, is a comment.
std::string text_of(const Settings& settings);

// Keeps calls, and makes their text only when it is wanted.
class Journal {
  public:
    void note(std::function<std::string()> call) { calls_.push_back(std::move(call)); }
    std::string text() const {
        std::string all;
        for (const auto& call : calls_) all += call() + "\n";
        return all;
    }

  private:
    std::vector<std::function<std::string()>> calls_;
};

// The parts of outcomes that a property compares, as bits.
namespace part {
enum Bit : unsigned {
    starts = 1,  // which jobs, and in which order
    queues = 2,
    vnodes = 4,
    chunks = 8,
    rejections = 16,
    preemptions = 32,
    schedule = 64  // records for the schedule log
};
}  // namespace part

// The first difference in words: "job 7 starts by events, but not over all jobs". The names are those of the
// cycles: "by events". Empty: the outcomes are equal in these parts.
std::string first_difference(const Outcome& a, std::string_view name_a, const Outcome& b,
                             std::string_view name_b, unsigned parts);

}  // namespace pbs::sched::test
