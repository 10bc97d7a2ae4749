// Computes the figures of a simulation.
//   wait               from submission to the first start
//   bounded slowdown   max(1, (end - submission) / max(run, 10 s)) of a job that ended by itself or at its
//                      walltime; run is its run time without what preemption lost: D. Feitelson and L.
//                      Rudolph, "Metrics and Benchmarking for Parallel Job Scheduling", JSSPP 1998, with
//                      their threshold of 10 seconds for short jobs
//   utilisation        CPU-seconds that jobs had / CPU-seconds that the machine had, from the
//                      first submission to the last end of a job
//   percentiles        the smallest value that so many percent of the values don't exceed (nearest rank)
//
// A job counts as one of prime time if it started in prime time. CPU-seconds count at the time of their use.
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
// Computes the distribution of values in any order. Without values all figures are 0.
Distribution distribution(std::vector<double> values);

// Returns max(1, (wait + run) / max(run, 10 s)).
double bounded_slowdown(Seconds wait, Seconds run);

// The figures of started jobs: of all, or of one user, size or part of time.
struct Group {
    std::string name;
    std::int64_t jobs = 0;
    double cpu_seconds = 0;  // CPU-seconds that the jobs had
    Distribution wait;       // in seconds
    Distribution slowdown;
};

// A group of a tree of shares, or an entity directly below the root.
struct ShareGroup {
    Group jobs;  // jobs of its entities; named after the group
    std::string parent;
    std::size_t depth = 0;  // steps below the root
    double target = 0;      // share of the machine, from 0 to 1
    double cpu_part = 0;    // part of the CPU-seconds of all jobs in the tree, from 0 to 1
    double actual = 0;      // part of the whole tree's usage at the end, from 0 to 1
    double usage = 0;       // usage at the end
};

struct ShareReport {
    std::string sched;
    std::string group;               // name of the fs_group
    std::vector<ShareGroup> groups;  // parents before children
};

// The cost of stops, by preemption or by time_windows, for the jobs of a queue, group or user, or for all
// jobs.
struct Preempted {
    std::string name;
    std::int64_t jobs = 0;   // jobs that were stopped
    std::int64_t times = 0;  // stops by all methods
    PreemptCounts by{};
    std::int64_t stopped = 0;     // jobs that didn't run again
    double cpu_seconds_lost = 0;  // lost by jobs that started anew or were deleted
    double suspended = 0;         // seconds for which jobs were suspended, in sum
    double queued_again = 0;
};
struct PreemptionReport {
    Preempted all;
    std::vector<Preempted> queues;  // the queues with the most stops first
    std::vector<Preempted> groups;
    std::vector<Preempted> users;
};

// The figures of a limit of a quota's rule, over all of its counters.
struct QuotaReport {
    std::string name;   // "q1 (guests): ncpus"
    std::string limit;  // last value of the limit
    std::string most;   // the most that a counter used
    double full = 0;    // seconds in which a counter was at its limit
    std::int64_t jobs = 0;
    double held = 0;  // seconds in which jobs waited for it
    double idle = 0;  // CPU-seconds in that time that no job had
};

// The differences between estimated and real starts.
struct EstimateError {
    Distribution off;        // in seconds
    std::int64_t later = 0;  // the number of jobs that started later than estimated
};
struct EstimateReport {
    std::int64_t told = 0;     // jobs with an estimate
    std::int64_t started = 0;  // jobs with an estimate that have started; `first`, `last`: about these
    EstimateError first;       // error of the first estimate
    EstimateError last;        // error of the last estimate before the start
};

// The jobs with a deadline, the latest start that they wish.
struct DeadlineReport {
    std::int64_t jobs = 0;
    std::int64_t in_time = 0;  // jobs that started by their deadline
    std::int64_t never = 0;    // jobs that never started
    Distribution late;         // of jobs that started later: seconds from the deadline to the start
};

// The jobs with a range of chunks. The means are over those that have started.
struct RangeReport {
    std::int64_t jobs = 0;
    std::int64_t never = 0;   // jobs that never started
    std::int64_t fewer = 0;   // jobs with fewer chunks than the greatest number that they asked for
    double chunks_asked = 0;  // mean of these greatest numbers
    double chunks_had = 0;    // mean, at the last start of each job
    double cpus_asked = 0;
    double cpus_had = 0;
};

// The jobs with preferences.
struct PreferenceReport {
    std::int64_t jobs = 0;
    std::int64_t never = 0;  // jobs that never started
    std::int64_t all = 0;    // jobs that started on vnodes with all that they prefer
    double missed = 0;       // mean of the preferences that vnodes of started jobs missed, summed over chunks
};

// The parts of an entity in all tickets and in all CPU time, each from 0 to 1. Tickets are summed over the
// seconds in which jobs have them.
struct TicketPart {
    std::string name;
    double tickets = 0;      // in the tickets of all jobs
    double running = 0;      // in those of running jobs
    double by_override = 0;  // in the tickets of this kind
    double functional = 0;
    double share = 0;
    double cpu = 0;
};
struct TicketReport {
    bool given = false;        // a job had tickets; false: the parts have only the CPU time
    bool by_override = false;  // a job had tickets of this kind
    bool functional = false;
    bool share = false;
    std::vector<TicketPart> users;  // those with the most tickets first
    std::vector<TicketPart> groups;
    std::vector<TicketPart> projects;
};

struct Usage {
    double used = 0;       // in CPU-seconds
    double available = 0;  // in CPU-seconds
    double share() const { return available > 0 ? used / available : 0; }
};

// The figures of a part of time: of all time, prime time, or non-prime time.
struct Part {
    Group jobs;
    Usage usage;
};

// Values over time: averages over steps of equal length.
struct Series {
    Instant begin{};
    double step = 1;  // length of a step in seconds
    std::vector<double> cpus_in_use;
    std::vector<double> jobs_waiting;
};

// CPUs in use over time, by group.
struct GroupSeries {
    struct Line {
        std::string name;
        std::optional<double> target;  // target, as a part of the machine from 0 to 1
        std::vector<double> cpus_in_use;
    };
    std::string title;  // kind of the groups: "fs_group f1", or "group"
    Series time;        // the steps; has no values itself
    std::vector<Line> groups;
};
inline constexpr const char* kOtherGroups = "others";

struct Report {
    std::string title;  // the variant's name
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
    std::int64_t refused = 0;  // jobs that no queue took
    std::int64_t cycles = 0;
    Part all;
    Part prime;
    Part non_prime;
    std::vector<Group> users;         // sorted by name
    std::vector<Group> sizes;         // by number of CPUs: 1, 2, 3-4, 5-8, ...
    std::vector<ShareReport> shares;  // trees of shares that policies use
    std::vector<QuotaReport> quotas;  // sorted by name
    TicketReport tickets;
    PreemptionReport preemption;                                     // all.times is 0: no preemption
    PreemptionReport at_close;                                       // stops by time_windows
    DeadlineReport deadlines;                                        // jobs is 0: no deadlines
    RangeReport ranges;                                              // jobs is 0: no ranges
    PreferenceReport preferences;                                    // jobs is 0: no preferences
    EstimateReport estimates;                                        // told is 0: no estimates
    std::vector<std::pair<std::string, std::int64_t>> why_rejected;  // most frequent first
    std::vector<std::pair<std::string, std::int64_t>> why_waiting;
    std::vector<std::pair<std::string, std::int64_t>> why_refused;
    std::int64_t refused_starts = 0;  // starts that a program asked for in vain
    std::vector<std::pair<std::string, std::int64_t>> why_refused_starts;
    std::vector<std::pair<std::string, std::int64_t>> elsewhere;  // missing queues, with the number of their
                                                                  // jobs
    std::vector<Period> prime_periods;
    Series series;
    std::vector<GroupSeries> by_group;  // empty if there are fewer than two groups
    std::vector<double> waits;          // of all started jobs, ascending, in seconds
};

// Makes a report. A series has at most `points` steps. A series by groups has at most a tenth of that, since
// many of them are drawn together.
Report make_report(std::string title, const Trace& trace, const Schedule& run, std::size_t points = 600);

// Facts about the trace, which all of its reports share.
struct Heading {
    std::string trace;
    std::size_t jobs = 0;
    std::vector<std::pair<std::string, std::int64_t>> left_out;
    rrule::Zone zone = rrule::Zone::utc();
    std::vector<std::string> notes;
};
Heading make_heading(const Trace& trace, const rrule::Zone& zone);

// Formats one report as tables, or two reports side by side with their differences, for a terminal or a file.
// `users` is the number of users that are listed, by CPU time; 0: all.
std::string to_text(const Heading& heading, const std::vector<Report>& reports, std::size_t users = 20);

// Formats reports as JSON with a newline at the end, with more figures than the tables (pbs_simulate(8)
// describes the form).
std::string to_json(const Heading& heading, const std::vector<Report>& reports);

// Formats an instant in the zone: "2026-11-23 08:00:00".
std::string time_text(Instant at, const rrule::Zone& zone);

// Make parts of a report: tickets compared with CPU time, and the wishes of jobs with what they got
// (wishes.h).
TicketReport make_ticket_report(const Trace& trace, const Schedule& run);
DeadlineReport make_deadline_report(const Schedule& run);
RangeReport make_range_report(const Schedule& run);
PreferenceReport make_preference_report(const Schedule& run);

}  // namespace pbs::simulate
