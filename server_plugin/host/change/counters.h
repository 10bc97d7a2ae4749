// Counters of the server's work since its start: cycles, requests, commits and waits; and the last cycles and
// slow requests one by one. They are updated as the server works, so that a query costs little.
// requests/status_diagnosis.cc reports them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/request.h"

namespace pbs::host {

// Counts amounts: how many there are, and for each of some bounds, how many aren't above it.
class Histogram {
  public:
    // REQUIRES: the bounds ascend, are twelve at most, and outlive the histogram.
    explicit Histogram(std::span<const double> bounds);
    void add(double amount);
    // Returns "COUNT SUM N N N": the number of amounts, their sum, and for each bound the number of amounts
    // up to it.
    std::string text() const;

  private:
    std::span<const double> bounds_;
    // For each bound: the number of amounts up to it that are above the next lower bound.
    std::array<std::uint64_t, 12> counts_{};
    std::uint64_t count_ = 0;
    double sum_ = 0;
};

// Bounds for durations, in seconds: from a tenth of a millisecond, which nobody notices, to a minute, which a
// large cycle or status may take.
inline constexpr std::array kDurationBounds = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05,
                                               0.1,    0.5,    1.0,   5.0,   10.0, 60.0};
// Bounds for the waits of jobs, in seconds: from moments to a week.
inline constexpr std::array kWaitBounds = {1.0,     10.0,    60.0,    300.0,    1800.0,  3600.0,
                                           14400.0, 43200.0, 86400.0, 259200.0, 604800.0};

// The facts about a finished scheduling cycle. `decisions` and `dropped` count its decisions; `considered`
// counts jobs.
struct CycleNote {
    std::string sched;
    int trigger = 0;
    std::int64_t began = 0;                // by the server's clock, seconds since the Epoch
    std::chrono::nanoseconds deciding{0};  // from its beginning to its decisions
    // From the decisions until they were carried out; requests may be answered in between.
    std::chrono::nanoseconds carrying{0};
    std::int64_t considered = 0;
    std::array<std::int64_t, 10> decisions{};  // numbers of decisions, by Decision::Kind
    std::int64_t dropped = 0;                  // decisions that weren't carried out
    bool failed = false;
};

struct RequestNote {
    ifl::RequestType type{};
    std::string who;      // user@host
    std::string object;   // the object that the request names, if any
    std::int64_t at = 0;  // when it came, by the server's clock, seconds since the Epoch
    std::chrono::nanoseconds took{0};
};

class Counters {
  public:
    using Duration = std::chrono::nanoseconds;

    // The requests of one user.
    struct User {
        std::uint64_t requests = 0;
        Duration took{0};
    };

    void cycle_over(CycleNote note);
    void request_answered(RequestNote note, bool refused);
    void committed(Duration took);
    void job_started(std::int64_t waited);
    void job_ended();

    // The last cycles and slow requests, oldest first.
    const std::deque<CycleNote>& last_cycles() const { return last_cycles_; }
    const std::deque<RequestNote>& slow_requests() const { return slow_requests_; }
    const std::map<std::string, User, std::less<>>& users() const { return users_; }

    // A counter: its name, its object (empty: the server), and its value.
    struct Value {
        std::string_view name;
        std::string of;
        std::string value;
    };
    std::vector<Value> values() const;

  private:
    struct Requests {
        Histogram took{kDurationBounds};
        std::uint64_t refused = 0;
    };

    std::deque<CycleNote> last_cycles_;
    std::deque<RequestNote> slow_requests_;
    std::map<std::string, User, std::less<>> users_;
    std::map<int, Histogram> cycles_;  // by trigger
    std::array<std::uint64_t, 10> decisions_{};
    std::uint64_t considered_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t failed_ = 0;
    std::map<ifl::RequestType, Requests> requests_;
    Histogram commits_{kDurationBounds};
    Histogram waits_{kWaitBounds};
    std::uint64_t ended_ = 0;
};

// The name of a cycle's trigger, such as "new job"; "other" for an unknown number.
std::string_view trigger_name(int trigger);
// The name of a kind of decisions, such as "run", by its number from 0.
std::string_view decision_name(std::size_t kind);

}  // namespace pbs::host
