// What came of a simulation, in figures.
//
//   wait               from submission to the first start
//   bounded slowdown   max(1, (end - submission) / max(run, 10 s)) of a job that ended by itself or at its
//                      walltime, where run is what of its runs wasn't lost by preemption: D. Feitelson and L.
//                      Rudolph, "Metrics and Benchmarking for Parallel Job Scheduling", JSSPP 1998, with
//                      their threshold of 10 seconds for what is short
//   utilisation        CPU-seconds that jobs had / CPU-seconds that there were, from the first submission to
//                      the last end of a job
//   percentiles        the smallest value that so many percent of the values don't exceed (nearest rank)
//
// A job counts as one of prime time if it started in prime time. CPU-seconds count where they were used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rrule/zone.h"
#include "tools/simulate/engine.h"
#include "tools/simulate/trace.h"

namespace pbs::simulate {

struct Distribution {
    double mean = 0;
    double median = 0;
    double p90 = 0;
    double p99 = 0;
    double max = 0;
};
// The distribution of some values, which may be in any order. Without values, all of it is 0.
Distribution distribution(std::vector<double> values);

// max(1, (wait + run) / max(run, 10)), in seconds.
double bounded_slowdown(Seconds wait, Seconds run);

// Figures of all jobs that started, or of those of one user, one size, or one part of time.
struct Group {
    std::string name;
    std::int64_t jobs = 0;
    double cpu_seconds = 0;  // that they had
    Distribution wait;       // seconds
    Distribution slowdown;
};

// A group of a tree of shares, or an entity that is in none.
struct ShareGroup {
    Group jobs;  // of the entities in it; by its name
    std::string parent;
    std::size_t depth = 0;  // below the root
    double target = 0;      // fractions of 1: of the machine by its shares,
    double cpu_part = 0;    // of the CPU-seconds that jobs of the tree had,
    double actual = 0;      // and of all usage, in the end
    double usage = 0;       // in the end
};

struct ShareReport {
    std::string sched;
    std::string group;               // the fs_group
    std::vector<ShareGroup> groups;  // each before those in it
};

// What preemption cost the jobs of a queue, a group or a user, or all.
struct Preempted {
    std::string name;
    std::int64_t jobs = 0;   // that were preempted
    std::int64_t times = 0;  // how often, by all methods
    PreemptCounts by{};
    std::int64_t stopped = 0;     // jobs that didn't run again
    double cpu_seconds_lost = 0;  // of jobs that began anew or were deleted
    double suspended = 0;         // seconds, of all jobs together
    double queued_again = 0;
};
struct PreemptionReport {
    Preempted all;
    std::vector<Preempted> queues;  // those that were preempted most often first
    std::vector<Preempted> groups;
    std::vector<Preempted> users;
};

// How far estimated starts lay from real ones.
struct EstimateError {
    Distribution off;        // seconds between the two
    std::int64_t later = 0;  // jobs that started later than told
};
struct EstimateReport {
    std::int64_t told = 0;     // jobs that had an estimate
    std::int64_t started = 0;  // and started; the figures are of these
    EstimateError first;       // of the first estimate,
    EstimateError last;        // and of the last one before the start
};

struct Usage {
    double used = 0;       // CPU-seconds
    double available = 0;  // CPU-seconds
    double share() const { return available > 0 ? used / available : 0; }
};

// A part of time: all of it, prime time, or the rest.
struct Part {
    Group jobs;
    Usage usage;
};

// A value over time: its average in each of some stretches of equal length.
struct Series {
    Instant begin{};
    double step = 1;  // seconds
    std::vector<double> cpus_in_use;
    std::vector<double> jobs_waiting;
};

// CPUs in use over time by each of some groups.
struct GroupSeries {
    struct One {
        std::string name;
        std::optional<double> target;  // a fraction of the machine
        std::vector<double> cpus_in_use;
    };
    std::string title;  // of what: "fs_group f1", or "group"
    Series time;        // without values
    std::vector<One> groups;
};
inline constexpr const char* kOtherGroups = "others";

struct Report {
    std::string title;  // the variant
    std::vector<std::string> policies;
    Instant begin{};
    Instant end{};
    std::int64_t cpus = 0;
    std::size_t vnodes = 0;
    std::size_t submitted = 0;
    std::int64_t started = 0;
    std::int64_t killed = 0;
    std::int64_t rejected = 0;
    std::int64_t never_started = 0;
    std::int64_t refused = 0;  // no queue took them
    std::int64_t cycles = 0;
    Part all;
    Part prime;
    Part non_prime;
    std::vector<Group> users;                                        // by name
    std::vector<Group> sizes;                                        // by number of CPUs: 1, 2, 3-4, 5-8, ...
    std::vector<ShareReport> shares;                                 // where policies go by them
    PreemptionReport preemption;                                     // all.times is 0: there was none
    EstimateReport estimates;                                        // told is 0: there were none
    std::vector<std::pair<std::string, std::int64_t>> why_rejected;  // the most frequent first
    std::vector<std::pair<std::string, std::int64_t>> why_waiting;
    std::vector<std::pair<std::string, std::int64_t>> why_refused;
    std::vector<std::pair<std::string, std::int64_t>> elsewhere;  // queues that aren't there, with their jobs
    std::vector<Period> prime_periods;
    Series series;
    std::vector<GroupSeries> by_group;  // where there is more than one group
    std::vector<double> waits;          // of all jobs that started, ascending; seconds
};

// `points` is the most that a series has; one by groups has a tenth of that, as many of them are drawn
// together.
Report make_report(std::string title, const Trace& trace, const Schedule& run, std::size_t points = 600);

// What reports of one trace have in common.
struct Heading {
    std::string trace;
    std::size_t jobs = 0;
    std::vector<std::pair<std::string, std::int64_t>> left_out;
    rrule::Zone zone = rrule::Zone::utc();
    std::vector<std::string> notes;
};
Heading make_heading(const Trace& trace, const rrule::Zone& zone);

// Tables for a terminal or a file: of one report, or of two side by side with the difference. Of the users
// with the most CPU time so many; 0: all.
std::string to_text(const Heading& heading, const std::vector<Report>& reports, std::size_t users = 20);

// The same and more as JSON (the form: pbs_simulate(8)); ends with a newline.
std::string to_json(const Heading& heading, const std::vector<Report>& reports);

// "2026-11-23 08:00:00" in the zone.
std::string time_text(Instant at, const rrule::Zone& zone);

}  // namespace pbs::simulate
