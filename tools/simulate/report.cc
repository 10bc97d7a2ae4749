#include "tools/simulate/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

namespace pbs::simulate {
namespace {

constexpr double kShort = 10;  // threshold of bounded slowdown, in seconds

// Returns a percentile of ascending values.
double percentile(const std::vector<double>& values, double percent) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(values.size())));
    return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

Distribution of_sorted(const std::vector<double>& values) {
    if (values.empty()) return {};
    Distribution d;
    d.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    d.median = percentile(values, 50);
    d.p90 = percentile(values, 90);
    d.p99 = percentile(values, 99);
    d.max = values.back();
    return d;
}

// Figures of a started job.
struct Measured {
    double cpu_seconds = 0;
    double wait = 0;
    double slowdown = 0;  // 0: none, as the job was deleted or stopped
};

Measured measure(const TraceJob& job, const Schedule& run, std::size_t position) {
    const Outcome& outcome = run.outcomes[position];
    Seconds ran{0};
    Measured measured;
    run.for_each_run(position, [&](Instant from, Instant until, std::int64_t cpus) {
        ran += until - from;
        measured.cpu_seconds += static_cast<double>((until - from).count()) * static_cast<double>(cpus);
    });
    measured.wait = static_cast<double>((outcome.start - job.submit).count());
    if (outcome.how != JobEnd::finished && outcome.how != JobEnd::killed) return measured;
    if (!run.preempted.empty())
        if (const auto known = run.preempted.find(static_cast<std::uint32_t>(position));
            known != run.preempted.end())
            ran -= known->second.lost();
    measured.slowdown = bounded_slowdown(outcome.end - job.submit - ran, ran);
    return measured;
}

// Collects the figures of a group's jobs.
struct Collected {
    double cpu_seconds = 0;
    std::vector<double> waits;
    std::vector<double> slowdowns;

    void add(const Measured& job) {
        cpu_seconds += job.cpu_seconds;
        waits.push_back(job.wait);
        if (job.slowdown > 0) slowdowns.push_back(job.slowdown);
    }
    Group group(std::string name) && {
        Group group;
        group.name = std::move(name);
        group.jobs = static_cast<std::int64_t>(waits.size());
        group.cpu_seconds = cpu_seconds;
        group.wait = distribution(std::move(waits));
        group.slowdown = distribution(std::move(slowdowns));
        return group;
    }
};

// Returns the class of a number of CPUs: 0 for 1 CPU, 1 for 2, 2 for 3 to 4, 3 for 5 to 8.
int size_class(std::int64_t cpus) {
    return cpus <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(cpus) - 1);
}

std::string size_name(int number) {
    if (number <= 1) return number == 0 ? "1" : "2";
    return fmt::format("{}-{}", (std::int64_t{1} << (number - 1)) + 1, std::int64_t{1} << number);
}

std::vector<std::pair<std::string, std::int64_t>> by_frequency(
    const std::map<std::string, std::int64_t>& reasons) {
    std::vector<std::pair<std::string, std::int64_t>> list(reasons.begin(), reasons.end());
    std::ranges::stable_sort(list, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
    return list;
}

// Computes the seconds of prime time between instants, with the sum of the periods before each period.
class PrimeClock {
  public:
    explicit PrimeClock(const std::vector<Period>& periods) : periods_(periods) {
        Seconds sum{0};
        for (const Period& period : periods) {
            before_.push_back(sum);
            sum += period.end - period.start;
        }
    }
    // Returns the seconds of prime time before `t`.
    double before(Instant t) const {
        const auto next = std::ranges::upper_bound(periods_, t, {}, &Period::start);
        if (next == periods_.begin()) return 0;
        const auto i = static_cast<std::size_t>(next - periods_.begin()) - 1;
        return static_cast<double>((before_[i] + std::min(t, periods_[i].end) - periods_[i].start).count());
    }

  private:
    const std::vector<Period>& periods_;
    std::vector<Seconds> before_;
};

// Computes averages over the steps of a series, from amounts that each hold from one instant to another.
class Spread {
  public:
    Spread(const Series& series, std::vector<double>& into) : series_(series), into_(into) {
        edges_.assign(into.size() + 1, 0);
    }
    void add(Instant from, Instant until, double amount) {
        if (until <= from || into_.empty()) return;
        const double a = position(from);
        const double b = position(until);
        const auto first = std::min(static_cast<std::size_t>(a), into_.size() - 1);
        const auto last = std::min(static_cast<std::size_t>(b), into_.size() - 1);
        if (first == last) {
            into_[first] += amount * (b - a);
            return;
        }
        into_[first] += amount * (static_cast<double>(first + 1) - a);
        into_[last] += amount * (b - static_cast<double>(last));
        edges_[first + 1] += amount;  // changes at the boundaries of steps; finish() sums them
        edges_[last] -= amount;
    }
    void finish() {
        double whole = 0;
        for (std::size_t i = 0; i < into_.size(); ++i) {
            whole += edges_[i];
            into_[i] += whole;
            if (into_[i] < 1e-9) into_[i] = 0;
        }
    }

  private:
    double position(Instant t) const {
        return static_cast<double>((t - series_.begin).count()) / series_.step;
    }
    const Series& series_;
    std::vector<double>& into_;
    std::vector<double> edges_;
};

// Divides the time of the run into at most `points` steps of equal length, and returns their number.
std::size_t set_time(Series& series, const Schedule& run, std::size_t points) {
    series.begin = run.begin;
    const auto length = std::max<std::int64_t>(1, (run.end - run.begin).count());
    const auto steps = std::min(points, static_cast<std::size_t>(length));
    series.step = static_cast<double>(length) / static_cast<double>(steps);
    return steps;
}

Series make_series(const Trace& trace, const Schedule& run, std::size_t points) {
    Series series;
    const std::size_t steps = set_time(series, run, points);
    series.cpus_in_use.assign(steps, 0);
    series.jobs_waiting.assign(steps, 0);
    Spread cpus(series, series.cpus_in_use);
    Spread waiting(series, series.jobs_waiting);
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const TraceJob& job = trace.jobs[i];
        const Outcome& outcome = run.outcomes[i];
        Instant waits_since = job.submit;
        run.for_each_run(i, [&](Instant from, Instant until, std::int64_t width) {
            cpus.add(from, until, static_cast<double>(width));
            waiting.add(waits_since, from, 1);
            waits_since = until;
        });
        if (outcome.how == JobEnd::none || outcome.how == JobEnd::stopped)
            waiting.add(waits_since, run.end, 1);
    }
    cpus.finish();
    waiting.finish();
    return series;
}

std::int64_t sum(const std::map<std::string, std::int64_t>& counts) {
    std::int64_t all = 0;
    for (const auto& [why, number] : counts) all += number;
    return all;
}

void measure_usage(const Trace& trace, const Schedule& run, Report& report) {
    const PrimeClock clock(run.prime);
    const auto cpus = static_cast<double>(run.cpus);
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        run.for_each_run(i, [&](Instant from, Instant until, std::int64_t held) {
            const auto width = static_cast<double>(held);
            report.all.usage.used += width * static_cast<double>((until - from).count());
            report.prime.usage.used += width * (clock.before(until) - clock.before(from));
        });
    }
    report.all.usage.available = cpus * static_cast<double>((run.end - run.begin).count());
    report.prime.usage.available = cpus * (clock.before(run.end) - clock.before(run.begin));
    report.non_prime.usage.used = report.all.usage.used - report.prime.usage.used;
    report.non_prime.usage.available = report.all.usage.available - report.prime.usage.available;
}

std::vector<QuotaReport> make_quota_reports(const Trace& trace, const Schedule& run) {
    std::vector<QuotaReport> reports;
    for (const auto& [name, quota] : run.quotas) {
        QuotaReport& report = reports.emplace_back();
        report = {name, quota.limit, quota.most, static_cast<double>(quota.full.count()), quota.jobs, 0, 0};
        const PrimeClock clock(quota.held);
        report.held = clock.before(run.end) - clock.before(run.begin);
        report.idle = static_cast<double>(run.cpus) * report.held;
        for (std::size_t i = 0; i < trace.jobs.size(); ++i)
            run.for_each_run(i, [&](Instant from, Instant until, std::int64_t width) {
                report.idle -= static_cast<double>(width) * (clock.before(until) - clock.before(from));
            });
    }
    return reports;
}

constexpr std::size_t kRoot = 0;

// The rows of a tree of shares, and the row of each entity. Entities that aren't in the tree have the row
// `unknown`.
struct ShareRows {
    explicit ShareRows(const SharesOfRun& shares) : rows(shares.view.rows) {
        std::unordered_map<std::string_view, std::size_t> row_of;
        above.resize(rows.size());
        depth.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            row_of.emplace(rows[i].name, i);
            if (rows[i].parent.empty()) continue;
            above[i] = row_of.at(rows[i].parent);
            depth[i] = depth[above[i]] + 1;
        }
        for (const std::string& entity : shares.entities.all()) {
            auto found = row_of.find(entity);
            if (found == row_of.end()) found = row_of.find("unknown");
            of_entities.push_back(found->second);
        }
    }
    const std::vector<sched::ShareRow>& rows;
    std::vector<std::size_t> above;
    std::vector<std::size_t> depth;
    std::vector<std::size_t> of_entities;
};

ShareReport make_share_report(const Trace& trace, const Schedule& run, const SharesOfRun& shares) {
    const ShareRows tree(shares);
    const auto& [rows, above, depth, rows_of_entities] = tree;
    std::vector<Collected> collected(rows.size());
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        if (shares.entity_of[i] == SharesOfRun::kNone) continue;
        const Measured measured = measure(trace.jobs[i], run, i);
        for (std::size_t row = rows_of_entities[shares.entity_of[i]];; row = above[row]) {
            if (rows[row].is_group || depth[row] == 1) collected[row].add(measured);
            if (row == kRoot) break;
        }
    }
    ShareReport report{shares.view.sched, shares.view.group.name, {}};
    const double all = rows.empty() ? 0 : collected[kRoot].cpu_seconds;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        if (!rows[i].is_group && depth[i] > 1) continue;
        ShareGroup group;
        group.cpu_part = all > 0 ? collected[i].cpu_seconds / all : 0;
        group.jobs = std::move(collected[i]).group(rows[i].name);
        group.parent = rows[i].parent;
        group.depth = depth[i];
        group.target = rows[i].target;
        group.actual = rows[i].actual;
        group.usage = rows[i].usage;
        report.groups.push_back(std::move(group));
    }
    return report;
}

// The number of groups, those with the most CPU time, that are drawn alone; the others are drawn together.
constexpr std::size_t kGroupsDrawn = 6;
constexpr std::uint32_t kNoGroup = UINT32_MAX;

// Adds a series to the list, unless fewer than two of its groups have used CPUs. `group_of` is each job's
// index in series.groups.
void add_group_series(GroupSeries series, const std::vector<std::uint32_t>& group_of, const Trace& trace,
                      const Schedule& run, std::size_t points, std::vector<GroupSeries>& list) {
    std::vector<double> used(series.groups.size());
    for (std::size_t i = 0; i < trace.jobs.size(); ++i)
        if (group_of[i] != kNoGroup) used[group_of[i]] += measure(trace.jobs[i], run, i).cpu_seconds;
    std::vector<std::size_t> order;
    for (std::size_t group = 0; group < used.size(); ++group)
        if (used[group] > 0) order.push_back(group);
    if (order.size() < 2) return;
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t group) { return used[group]; });
    std::vector<std::size_t> drawn_as(used.size(), kGroupsDrawn);
    std::vector<GroupSeries::Line> drawn;
    for (std::size_t i = 0; i < std::min(order.size(), kGroupsDrawn); ++i) {
        drawn_as[order[i]] = i;
        drawn.push_back(std::move(series.groups[order[i]]));
    }
    if (order.size() > kGroupsDrawn) drawn.push_back({kOtherGroups, {}, {}});
    const std::size_t steps = set_time(series.time, run, std::max<std::size_t>(1, points / 10));
    std::vector<Spread> spreads;
    for (GroupSeries::Line& one : drawn) {
        one.cpus_in_use.assign(steps, 0);
        spreads.emplace_back(series.time, one.cpus_in_use);
    }
    for (std::size_t i = 0; i < trace.jobs.size(); ++i)
        if (group_of[i] != kNoGroup && used[group_of[i]] > 0)
            run.for_each_run(i, [&](Instant from, Instant until, std::int64_t width) {
                spreads[drawn_as[group_of[i]]].add(from, until, static_cast<double>(width));
            });
    for (Spread& spread : spreads) spread.finish();
    series.groups = std::move(drawn);
    list.push_back(std::move(series));
}

// Makes series for the top groups of each tree of shares or, without trees, for the users' groups.
std::vector<GroupSeries> make_group_series(const Trace& trace, const Schedule& run, std::size_t points) {
    std::vector<GroupSeries> list;
    std::vector<std::uint32_t> group_of(trace.jobs.size(), kNoGroup);
    for (const SharesOfRun& shares : run.shares) {
        const ShareRows tree(shares);
        GroupSeries series{"fs_group " + shares.view.group.name, {}, {}};
        if (shares.view.sched != "default") series.title += " of " + shares.view.sched;
        for (const sched::ShareRow& row : tree.rows) series.groups.push_back({row.name, row.target, {}});
        for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
            group_of[i] = kNoGroup;
            if (shares.entity_of[i] == SharesOfRun::kNone) continue;
            std::size_t row = tree.of_entities[shares.entity_of[i]];
            while (tree.depth[row] > 1) row = tree.above[row];
            group_of[i] = static_cast<std::uint32_t>(row);
        }
        add_group_series(std::move(series), group_of, trace, run, points, list);
    }
    if (!run.shares.empty()) return list;
    GroupSeries series{"group", {}, {}};
    for (const std::string& name : trace.groups.all()) series.groups.push_back({name, {}, {}});
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) group_of[i] = trace.jobs[i].group;
    add_group_series(std::move(series), group_of, trace, run, points, list);
    return list;
}

void add(const Stops& job, bool stopped, Preempted& to) {
    ++to.jobs;
    for (std::size_t i = 0; i < job.by.size(); ++i) {
        to.by[i] += job.by[i];
        to.times += job.by[i];
    }
    if (stopped) ++to.stopped;
    to.cpu_seconds_lost += job.cpu_seconds_lost;
    to.suspended += static_cast<double>(job.suspended.count());
    to.queued_again += static_cast<double>(job.queued_again.count());
}

std::vector<Preempted> by_times(std::map<std::string, Preempted>&& named) {
    std::vector<Preempted> list;
    for (auto& [name, one] : named) {
        list.push_back(std::move(one));
        list.back().name = name;
    }
    std::ranges::stable_sort(list, std::ranges::greater{}, &Preempted::times);
    return list;
}

// `kind`: the stops to report, those by preemption or by time_windows.
PreemptionReport make_preemption_report(const Trace& trace, const Schedule& run, Stops PreemptedJob::*kind) {
    PreemptionReport report;
    report.all.name = "all";
    std::map<std::string, Preempted> queues;
    std::map<std::string, Preempted> groups;
    std::map<std::string, Preempted> users;
    for (const auto& [position, job] : run.preempted) {
        const Stops& stops = job.*kind;
        if (std::ranges::all_of(stops.by, [](std::int64_t times) { return times == 0; })) continue;
        const TraceJob& of = trace.jobs[position];
        const bool stopped = run.outcomes[position].how == JobEnd::stopped && job.last == kind;
        for (Preempted* to :
             {&report.all, &queues[job.queue], &groups[trace.groups[of.group]], &users[trace.users[of.user]]})
            add(stops, stopped, *to);
    }
    report.queues = by_times(std::move(queues));
    report.groups = by_times(std::move(groups));
    report.users = by_times(std::move(users));
    return report;
}

EstimateReport make_estimate_report(const Schedule& run) {
    EstimateReport report;
    std::array<std::vector<double>, 2> off;
    for (const auto& [position, estimate] : run.estimates) {
        ++report.told;
        const Outcome& outcome = run.outcomes[position];
        if (!outcome.started()) continue;
        ++report.started;
        const auto note = [&](Instant told, EstimateError& error, std::vector<double>& values) {
            values.push_back(std::abs(static_cast<double>((outcome.start - told).count())));
            if (outcome.start > told) ++error.later;
        };
        note(estimate.first, report.first, off[0]);
        note(estimate.last, report.last, off[1]);
    }
    report.first.off = distribution(std::move(off[0]));
    report.last.off = distribution(std::move(off[1]));
    return report;
}

}  // namespace

double bounded_slowdown(Seconds wait, Seconds run) {
    const auto w = static_cast<double>(wait.count());
    const auto r = static_cast<double>(run.count());
    return std::max(1.0, (w + r) / std::max(r, kShort));
}

Distribution distribution(std::vector<double> values) {
    std::ranges::sort(values);
    return of_sorted(values);
}

Report make_report(std::string title, const Trace& trace, const Schedule& run, std::size_t points) {
    Report report;
    report.title = std::move(title);
    report.policies = run.policies;
    report.begin = run.begin;
    report.end = run.end;
    report.cpus = run.cpus;
    report.vnodes = run.vnodes;
    report.submitted = trace.jobs.size();
    report.started = run.started;
    report.cycles = run.cycles;
    report.refused = sum(run.refused);
    report.refused_starts = sum(run.refused_starts);
    report.prime_periods = run.prime;

    Collected all;
    Collected prime;
    Collected non_prime;
    std::vector<Collected> users(trace.users.size());
    std::map<int, Collected> sizes;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const TraceJob& job = trace.jobs[i];
        const Outcome& outcome = run.outcomes[i];
        if (outcome.how == JobEnd::rejected) ++report.rejected;
        if (outcome.how == JobEnd::killed) ++report.killed;
        if (!outcome.started()) continue;
        const Measured measured = measure(job, run, i);
        for (Collected* group :
             {&all, outcome.prime ? &prime : &non_prime, &users[job.user], &sizes[size_class(job.cpus)]})
            group->add(measured);
    }
    report.never_started =
        static_cast<std::int64_t>(report.submitted) - report.started - report.rejected - report.refused;
    std::ranges::sort(all.waits);
    report.waits = all.waits;
    report.all.jobs = std::move(all).group("all");
    report.prime.jobs = std::move(prime).group("prime");
    report.non_prime.jobs = std::move(non_prime).group("non_prime");
    for (std::uint32_t user = 0; user < users.size(); ++user)
        report.users.push_back(std::move(users[user]).group(trace.users[user]));
    std::ranges::sort(report.users, {}, &Group::name);
    for (auto& [number, group] : sizes) report.sizes.push_back(std::move(group).group(size_name(number)));
    report.why_rejected = by_frequency(run.rejections);
    report.why_waiting = by_frequency(run.waiting);
    report.why_refused = by_frequency(run.refused);
    report.why_refused_starts = by_frequency(run.refused_starts);
    report.elsewhere = by_frequency(run.elsewhere);
    for (const SharesOfRun& shares : run.shares)
        report.shares.push_back(make_share_report(trace, run, shares));
    report.quotas = make_quota_reports(trace, run);
    report.tickets = make_ticket_report(trace, run);
    report.preemption = make_preemption_report(trace, run, &PreemptedJob::preempted);
    report.at_close = make_preemption_report(trace, run, &PreemptedJob::at_close);
    report.deadlines = make_deadline_report(run);
    report.ranges = make_range_report(run);
    report.preferences = make_preference_report(run);
    report.estimates = make_estimate_report(run);
    measure_usage(trace, run, report);
    report.series = make_series(trace, run, points);
    report.by_group = make_group_series(trace, run, points);
    return report;
}

Heading make_heading(const Trace& trace, const rrule::Zone& zone) {
    Heading heading;
    heading.trace = trace.name;
    heading.jobs = trace.jobs.size();
    heading.left_out.assign(trace.left_out.begin(), trace.left_out.end());
    heading.zone = zone;
    heading.notes = trace.notes;
    return heading;
}

std::string time_text(Instant at, const rrule::Zone& zone) {
    const auto local = zone.local(at);
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(Instant(local.time_since_epoch())));
}

}  // namespace pbs::simulate
