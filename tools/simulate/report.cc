#include "tools/simulate/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

namespace pbs::simulate {
namespace {

constexpr double kShort = 10;  // seconds: the threshold of bounded slowdown

// Ascending values.
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

// Collects the jobs of a group.
struct Collected {
    double cpu_seconds = 0;
    std::vector<double> waits;
    std::vector<double> slowdowns;

    void add(const TraceJob& job, const Outcome& outcome) {
        const Seconds wait = outcome.start - job.submit;
        const Seconds run = outcome.end - outcome.start;
        cpu_seconds += static_cast<double>(run.count()) * static_cast<double>(job.cpus);
        waits.push_back(static_cast<double>(wait.count()));
        slowdowns.push_back(bounded_slowdown(wait, run));
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

// The number of the class of sizes: 0 is 1 CPU, 1 is 2, 2 is 3 to 4, 3 is 5 to 8.
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

// The seconds of [from, until) before `t` that lie in the periods: a sum over the whole periods, and a part.
class PrimeClock {
  public:
    explicit PrimeClock(const std::vector<Period>& periods) : periods_(periods) {
        Seconds sum{0};
        for (const Period& period : periods) {
            before_.push_back(sum);
            sum += period.end - period.start;
        }
    }
    // Prime seconds before `t`.
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

// Spreads amounts that hold from one instant to another over the steps of a series.
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
        edges_[first + 1] += amount;  // whole steps between, summed up in the end
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

Series make_series(const Trace& trace, const Schedule& run, std::size_t points) {
    Series series;
    series.begin = run.begin;
    const auto length = std::max<std::int64_t>(1, (run.end - run.begin).count());
    const auto steps = std::min(points, static_cast<std::size_t>(length));
    series.step = static_cast<double>(length) / static_cast<double>(steps);
    series.cpus_in_use.assign(steps, 0);
    series.jobs_waiting.assign(steps, 0);
    Spread cpus(series, series.cpus_in_use);
    Spread waiting(series, series.jobs_waiting);
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        const TraceJob& job = trace.jobs[i];
        const Outcome& outcome = run.outcomes[i];
        const bool started = outcome.how == JobEnd::finished || outcome.how == JobEnd::killed;
        if (started) cpus.add(outcome.start, outcome.end, static_cast<double>(job.cpus));
        if (outcome.how != JobEnd::rejected) waiting.add(job.submit, started ? outcome.start : run.end, 1);
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
        const Outcome& outcome = run.outcomes[i];
        if (outcome.how != JobEnd::finished && outcome.how != JobEnd::killed) continue;
        const auto width = static_cast<double>(trace.jobs[i].cpus);
        report.all.usage.used += width * static_cast<double>((outcome.end - outcome.start).count());
        report.prime.usage.used += width * (clock.before(outcome.end) - clock.before(outcome.start));
    }
    report.all.usage.available = cpus * static_cast<double>((run.end - run.begin).count());
    report.prime.usage.available = cpus * (clock.before(run.end) - clock.before(run.begin));
    report.non_prime.usage.used = report.all.usage.used - report.prime.usage.used;
    report.non_prime.usage.available = report.all.usage.available - report.prime.usage.available;
}

// Jobs of entities that aren't in the tree are those of `unknown`.
ShareReport make_share_report(const Trace& trace, const Schedule& run, const SharesOfRun& shares) {
    constexpr std::size_t kRoot = 0;
    const std::vector<sched::ShareRow>& rows = shares.view.rows;
    std::unordered_map<std::string_view, std::size_t> row_of;
    std::vector<std::size_t> above(rows.size());
    std::vector<std::size_t> depth(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        row_of.emplace(rows[i].name, i);
        if (rows[i].parent.empty()) continue;
        above[i] = row_of.at(rows[i].parent);
        depth[i] = depth[above[i]] + 1;
    }
    std::vector<std::size_t> rows_of_entities;
    for (const std::string& entity : shares.entities.all()) {
        auto found = row_of.find(entity);
        if (found == row_of.end()) found = row_of.find("unknown");
        rows_of_entities.push_back(found->second);
    }
    std::vector<Collected> collected(rows.size());
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        if (shares.entity_of[i] == SharesOfRun::kNone) continue;
        for (std::size_t row = rows_of_entities[shares.entity_of[i]];; row = above[row]) {
            if (rows[row].is_group || depth[row] == 1) collected[row].add(trace.jobs[i], run.outcomes[i]);
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
        if (outcome.how != JobEnd::finished && outcome.how != JobEnd::killed) continue;
        for (Collected* group :
             {&all, outcome.prime ? &prime : &non_prime, &users[job.user], &sizes[size_class(job.cpus)]})
            group->add(job, outcome);
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
    report.elsewhere = by_frequency(run.elsewhere);
    for (const SharesOfRun& shares : run.shares)
        report.shares.push_back(make_share_report(trace, run, shares));
    measure_usage(trace, run, report);
    report.series = make_series(trace, run, points);
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
