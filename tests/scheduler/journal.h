// Records the calls that a test makes on a World, and writes them as code that can be pasted into another
// test.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {

struct QuotaOptions;

// Returns options as an initialiser list, without the members that have their defaults: `{.name = "q",
// .max_running = 3}`.
std::string text_of(const QueueOptions& options);
std::string text_of(const VnodeOptions& options);
std::string text_of(const JobOptions& options);
// Returns an instant as "at(6, 0, 5)".
std::string text_of(Instant instant);
std::string text_of(const ReservationOptions& options);
// Returns the arguments of World::window().
std::string window_arguments(const std::string& rule, int from_hour, int to_hour, bool on_holidays,
                             const std::vector<std::string>& holidays);

// The names of the sets of windows that a World has made: w0, w1, ...
class WindowNames {
  public:
    WindowNames() = default;
    explicit WindowNames(const std::vector<rrule::WindowSet>& sets) : sets_(sets) {}
    // Returns the name of a set. A set that is no copy of one of these becomes an empty one with a comment.
    std::string of(const rrule::WindowSet& set) const;

  private:
    std::vector<rrule::WindowSet> sets_;
};

std::string text_of(const FsGroup& group);
std::string text_of(const QuotaOptions& options, const WindowNames& names);
// Returns assignments to the members of `s` that don't have their defaults, a line each. A member whose type
// has no text becomes a comment.
std::string text_of(const Settings& settings, const WindowNames& names = {});
// Returns the code that makes the configuration of `world`, and world.configure().
std::string text_of(const Configuration& configuration, const WindowNames& names);
// Returns the code that makes the server.
std::string text_of(const ServerRecord& record);

// Keeps each call as a function that returns its text, so that texts are made only when text() is called.
class Journal {
  public:
    enum class Prints { never, on_failure };
    explicit Journal(Prints prints = Prints::never);
    // Prints the calls if the test has failed, and they are to be printed then.
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    void note(std::function<std::string()> call) { calls_.push_back(std::move(call)); }
    std::string text() const {
        std::string all;
        for (const auto& call : calls_) all += call() + "\n";
        return all;
    }

  private:
    std::vector<std::function<std::string()>> calls_;
    Prints prints_;
    int before_;  // number of the test's failures when the journal was made
};

// The aspects of an Outcome that a test compares, as bits.
namespace part {
enum Bit : unsigned {
    starts = 1,  // the started jobs and their order
    queues = 2,
    vnodes = 4,
    chunks = 8,
    rejections = 16,
    preemptions = 32,
    schedule = 64  // the records of the schedule log
};
}  // namespace part

// Returns the first difference between the outcomes of two cycles in the aspects `parts`, such as "job 7
// starts by events, but not over all jobs", where `name_a` is "by events". Returns "" if they don't differ.
std::string first_difference(const Outcome& a, std::string_view name_a, const Outcome& b,
                             std::string_view name_b, unsigned parts);

}  // namespace pbs::sched::test
