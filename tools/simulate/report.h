// What came of a simulation, in figures.
//
//   wait               from submission to start
//   bounded slowdown   max(1, (wait + run) / max(run, 10 s)): D. Feitelson and L. Rudolph, "Metrics and
//                      Benchmarking for Parallel Job Scheduling", JSSPP 1998, with their threshold of 10
//                      seconds for what is short
//   utilisation        CPU-seconds that jobs had / CPU-seconds that there were, from the first submission to
//                      the last end of a job
//   percentiles        the smallest value that so many percent of the values don't exceed (nearest rank)
//
// A job counts as one of prime time if it started in prime time. CPU-seconds count where they were used.
#pragma once

#include <cstdint>
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
    std::vector<std::pair<std::string, std::int64_t>> why_rejected;  // the most frequent first
    std::vector<std::pair<std::string, std::int64_t>> why_waiting;
    std::vector<std::pair<std::string, std::int64_t>> why_refused;
    std::vector<std::pair<std::string, std::int64_t>> elsewhere;  // queues that aren't there, with their jobs
    std::vector<Period> prime_periods;
    Series series;
    std::vector<double> waits;  // of all jobs that started, ascending; seconds
};

// `points` is the most that a series has.
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
