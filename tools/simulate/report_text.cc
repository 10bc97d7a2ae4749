// Formats reports as tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "text/table.h"
#include "tools/simulate/report.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::simulate {
namespace {

constexpr std::size_t kReasons = 5;

// Formats seconds as "1:02:03".
std::string duration(double seconds) {
    const double whole = std::round(std::abs(seconds));
    const auto s = static_cast<std::int64_t>(whole);
    return fmt::format("{}{}:{:02}:{:02}", seconds < -0.5 ? "-" : "", s / 3600, s / 60 % 60, s % 60);
}
std::string number(double value) {
    return fmt::format("{:.0f}", value);
}
std::string ratio(double value) {
    return fmt::format("{:.2f}", value);
}
std::string percent(double value) {
    return fmt::format("{:.1f}%", value * 100);
}
std::string hours(double seconds) {
    return fmt::format("{:.1f}", seconds / 3600);
}

using Row = text::TableRow;

struct Metric {
    const char* name;
    std::function<double(const Part&)> value;
    std::string (*text)(double);
};

const std::vector<Metric>& metrics() {
    static const std::vector<Metric> list = {
        {"jobs started", [](const Part& p) { return static_cast<double>(p.jobs.jobs); }, number},
        {"CPU hours used", [](const Part& p) { return p.usage.used; }, hours},
        {"utilisation", [](const Part& p) { return p.usage.share(); }, percent},
        {"wait, mean", [](const Part& p) { return p.jobs.wait.mean; }, duration},
        {"  median", [](const Part& p) { return p.jobs.wait.median; }, duration},
        {"  90%", [](const Part& p) { return p.jobs.wait.p90; }, duration},
        {"  99%", [](const Part& p) { return p.jobs.wait.p99; }, duration},
        {"  longest", [](const Part& p) { return p.jobs.wait.max; }, duration},
        {"bounded slowdown, mean", [](const Part& p) { return p.jobs.slowdown.mean; }, ratio},
        {"  median", [](const Part& p) { return p.jobs.slowdown.median; }, ratio},
        {"  90%", [](const Part& p) { return p.jobs.slowdown.p90; }, ratio},
        {"  99%", [](const Part& p) { return p.jobs.slowdown.p99; }, ratio},
        {"  largest", [](const Part& p) { return p.jobs.slowdown.max; }, ratio},
    };
    return list;
}

// Adds the values of the reports to a row and, if there are two, their difference.
void add_difference(Row& row, const std::vector<double>& values, std::string (*text)(double)) {
    for (const double value : values) row.push_back(text(value));
    if (values.size() != 2) return;
    const double more = values[1] - values[0];
    std::string shown = text(more);
    // Omit the sign if the difference rounds to zero.
    const bool nothing = shown.find_first_of("123456789") == shown.npos;
    if (nothing && shown.front() == '-') shown.erase(0, 1);
    row.push_back(more > 0 && !nothing ? '+' + shown : shown);
}

std::string parts_table(const std::vector<Report>& reports) {
    std::vector<Row> rows;
    if (reports.size() == 1) {
        rows.push_back({"", "all", "prime", "non-prime"});
        for (const Metric& metric : metrics()) {
            Row row = {metric.name};
            for (const Part* part : {&reports[0].all, &reports[0].prime, &reports[0].non_prime})
                row.push_back(metric.text(metric.value(*part)));
            rows.push_back(std::move(row));
        }
        return text::table(rows);
    }
    using Choose = const Part& (*)(const Report&);
    const std::array<std::pair<const char*, Choose>, 3> parts = {{
        {"all", [](const Report& r) -> const Part& { return r.all; }},
        {"prime", [](const Report& r) -> const Part& { return r.prime; }},
        {"non-prime", [](const Report& r) -> const Part& { return r.non_prime; }},
    }};
    for (const auto& [name, choose] : parts) {
        if (!rows.empty()) rows.emplace_back();
        rows.push_back({name, "A", "B", "B - A"});
        for (const Metric& metric : metrics()) {
            Row row = {metric.name};
            add_difference(row, {metric.value(choose(reports[0])), metric.value(choose(reports[1]))},
                           metric.text);
            rows.push_back(std::move(row));
        }
    }
    return text::table(rows);
}

const Group& group_named(const std::vector<Group>& groups, const std::string& name) {
    static const Group none;
    const auto found = std::ranges::find(groups, name, &Group::name);
    return found == groups.end() ? none : *found;
}

// Makes a table with a row for each name: with all figures of one report, or with the main figures of two
// side by side.
std::string groups_table(const char* title, const std::vector<std::string>& names,
                         const std::vector<Report>& reports, std::vector<Group> Report::*groups) {
    std::vector<Row> rows;
    if (reports.size() == 1) {
        rows.push_back({title, "jobs", "CPU hours", "mean wait", "median", "90%", "99%", "longest",
                        "mean slowdown", "90%"});
        for (const std::string& name : names) {
            const Group& g = group_named(reports[0].*groups, name);
            rows.push_back({name, number(static_cast<double>(g.jobs)), hours(g.cpu_seconds),
                            duration(g.wait.mean), duration(g.wait.median), duration(g.wait.p90),
                            duration(g.wait.p99), duration(g.wait.max), ratio(g.slowdown.mean),
                            ratio(g.slowdown.p90)});
        }
        return text::table(rows);
    }
    rows.push_back({title, "jobs A", "B", "mean wait A", "B", "B - A", "90% wait A", "B", "B - A",
                    "mean slowdown A", "B", "B - A"});
    for (const std::string& name : names) {
        const Group& a = group_named(reports[0].*groups, name);
        const Group& b = group_named(reports[1].*groups, name);
        Row row = {name, number(static_cast<double>(a.jobs)), number(static_cast<double>(b.jobs))};
        add_difference(row, {a.wait.mean, b.wait.mean}, duration);
        add_difference(row, {a.wait.p90, b.wait.p90}, duration);
        add_difference(row, {a.slowdown.mean, b.slowdown.mean}, ratio);
        rows.push_back(std::move(row));
    }
    return text::table(rows);
}

const ShareGroup& share_group_named(const ShareReport* shares, const std::string& name) {
    static const ShareGroup none;
    if (shares == nullptr) return none;
    const auto found =
        std::ranges::find(shares->groups, name, [](const ShareGroup& group) { return group.jobs.name; });
    return found == shares->groups.end() ? none : *found;
}

const ShareReport* shares_of(const Report& report, const ShareReport& same) {
    const auto found = std::ranges::find_if(report.shares, [&](const ShareReport& shares) {
        return shares.sched == same.sched && shares.group == same.group;
    });
    return found == report.shares.end() ? nullptr : &*found;
}

// Makes the table of a tree of shares, with the figures of each report that has the tree.
std::string shares_table(const ShareReport& tree, const std::vector<Report>& reports) {
    const std::string title = tree.sched == "default"
                                  ? "fs_group " + tree.group
                                  : fmt::format("fs_group {} of {}", tree.group, tree.sched);
    std::vector<const ShareReport*> trees;
    std::vector<const ShareGroup*> groups;  // groups of the first report, then those that only the second has
    for (const Report& report : reports) {
        trees.push_back(shares_of(report, tree));
        if (trees.back() == nullptr) continue;
        for (const ShareGroup& group : trees.back()->groups)
            if (trees.size() == 1 || share_group_named(trees[0], group.jobs.name).jobs.name.empty())
                groups.push_back(&group);
    }
    std::vector<Row> rows;
    if (reports.size() == 1)
        rows.push_back(
            {title, "target", "CPU time", "usage", "in the end", "jobs", "CPU hours", "mean wait", "90%"});
    else
        rows.push_back({title, "target A", "B", "CPU time A", "B", "B - A", "usage A", "B", "mean wait A",
                        "B", "B - A"});
    for (const ShareGroup* group : groups) {
        const std::string& name = group->jobs.name;
        Row row = {std::string(2 * (group->depth - 1), ' ') + name};
        const ShareGroup& a = share_group_named(trees[0], name);
        if (reports.size() == 1) {
            row.insert(row.end(), {percent(a.target), percent(a.cpu_part), percent(a.actual), number(a.usage),
                                   number(static_cast<double>(a.jobs.jobs)), hours(a.jobs.cpu_seconds),
                                   duration(a.jobs.wait.mean), duration(a.jobs.wait.p90)});
        } else {
            const ShareGroup& b = share_group_named(trees[1], name);
            row.insert(row.end(), {percent(a.target), percent(b.target)});
            add_difference(row, {a.cpu_part, b.cpu_part}, percent);
            row.insert(row.end(), {percent(a.actual), percent(b.actual)});
            add_difference(row, {a.jobs.wait.mean, b.jobs.wait.mean}, duration);
        }
        rows.push_back(std::move(row));
    }
    return text::table(rows);
}

std::string shares_tables(const std::vector<Report>& reports) {
    std::string text;
    for (std::size_t i = 0; i < reports.size(); ++i)
        for (const ShareReport& tree : reports[i].shares)
            if (i == 0 || shares_of(reports[0], tree) == nullptr) text += shares_table(tree, reports) + '\n';
    return text;
}

const Preempted& preempted_named(const std::vector<Preempted>& list, const std::string& name) {
    static const Preempted none;
    const auto found = std::ranges::find(list, name, &Preempted::name);
    return found == list.end() ? none : *found;
}

Row preempted_row(std::string name, const Preempted& one) {
    Row row = {std::move(name), number(static_cast<double>(one.jobs))};
    for (const std::int64_t times : one.by) row.push_back(number(static_cast<double>(times)));
    row.insert(row.end(), {number(static_cast<double>(one.stopped)), hours(one.cpu_seconds_lost),
                           duration(one.suspended), duration(one.queued_again)});
    return row;
}

Row preempted_row(std::string name, const Preempted& a, const Preempted& b) {
    Row row = {std::move(name), number(static_cast<double>(a.jobs)), number(static_cast<double>(b.jobs))};
    add_difference(row, {static_cast<double>(a.times), static_cast<double>(b.times)}, number);
    add_difference(row, {a.cpu_seconds_lost, b.cpu_seconds_lost}, hours);
    add_difference(row, {a.suspended, b.suspended}, duration);
    add_difference(row, {a.queued_again, b.queued_again}, duration);
    return row;
}

// Makes the tables of stops of one kind: in all, and by queue, group and user. `title`: "preempted" or
// "stopped at close". `users` limits the number of users as in other tables.
std::string stops_table(const char* title, PreemptionReport Report::*kind, const std::vector<Report>& reports,
                        std::size_t users) {
    if (std::ranges::all_of(reports, [&](const Report& r) { return (r.*kind).all.times == 0; })) return {};
    const bool one = reports.size() == 1;
    std::vector<Row> rows;
    if (one)
        rows.push_back({title, "jobs", "suspended", "checkpointed", "requeued", "deleted", "not run again",
                        "CPU hours lost", "time suspended", "queued again"});
    else
        rows.push_back({title, "jobs A", "B", "times A", "B", "B - A", "CPU hours lost A", "B", "B - A",
                        "time suspended A", "B", "B - A", "queued again A", "B", "B - A"});
    const auto add = [&](std::string name, const Preempted& a, const Preempted& b) {
        rows.push_back(one ? preempted_row(std::move(name), a) : preempted_row(std::move(name), a, b));
    };
    add("all", (reports.front().*kind).all, (reports.back().*kind).all);
    using Member = std::vector<Preempted> PreemptionReport::*;
    for (const auto& [what, member] : {std::pair<const char*, Member>("queue", &PreemptionReport::queues),
                                       {"group", &PreemptionReport::groups},
                                       {"user", &PreemptionReport::users}}) {
        std::vector<std::string> names;
        for (const Report& report : reports)
            for (const Preempted& each : (report.*kind).*member)
                if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
        if (users != 0 && names.size() > users) names.resize(users);
        for (const std::string& name : names)
            add(fmt::format("  {} {}", what, name), preempted_named((reports.front().*kind).*member, name),
                preempted_named((reports.back().*kind).*member, name));
    }
    return text::table(rows) + '\n';
}

const TicketPart& ticket_part_named(const std::vector<TicketPart>& list, const std::string& name) {
    static const TicketPart none;
    const auto found = std::ranges::find(list, name, &TicketPart::name);
    return found == list.end() ? none : *found;
}

// Makes the table of tickets, by user, group and project. `users` limits the number of each as in other
// tables.
std::string tickets_table(const std::vector<Report>& reports, std::size_t users) {
    if (std::ranges::none_of(reports, [](const Report& r) { return r.tickets.given; })) return {};
    const bool one = reports.size() == 1;
    const TicketReport& first = reports.front().tickets;
    const TicketReport& second = reports.back().tickets;
    std::vector<Row> rows;
    if (one)
        rows.push_back({"tickets", "all", "running", "override", "functional", "share", "CPU time"});
    else
        rows.push_back(
            {"tickets", "all A", "B", "B - A", "running A", "B", "B - A", "CPU time A", "B", "B - A"});
    const auto of_kind = [](bool given, double part) { return given ? percent(part) : std::string(); };
    using Member = std::vector<TicketPart> TicketReport::*;
    for (const auto& [what, member] : {std::pair<const char*, Member>("user", &TicketReport::users),
                                       {"group", &TicketReport::groups},
                                       {"project", &TicketReport::projects}}) {
        std::vector<std::string> names;
        for (const TicketReport* report : {&first, &second})
            for (const TicketPart& part : report->*member)
                if (std::ranges::find(names, part.name) == names.end()) names.push_back(part.name);
        if (users != 0 && names.size() > users) names.resize(users);
        for (const std::string& name : names) {
            Row row = {fmt::format("{} {}", what, name)};
            const TicketPart& a = ticket_part_named(first.*member, name);
            const TicketPart& b = ticket_part_named(second.*member, name);
            if (one) {
                row.insert(
                    row.end(),
                    {percent(a.tickets), percent(a.running), of_kind(first.by_override, a.by_override),
                     of_kind(first.functional, a.functional), of_kind(first.share, a.share), percent(a.cpu)});
            } else {
                add_difference(row, {a.tickets, b.tickets}, percent);
                add_difference(row, {a.running, b.running}, percent);
                add_difference(row, {a.cpu, b.cpu}, percent);
            }
            rows.push_back(std::move(row));
        }
    }
    return text::table(rows) + '\n';
}

// Makes the table of quotas: a row for each limit of a rule.
std::string quotas_table(const std::vector<Report>& reports) {
    if (std::ranges::all_of(reports, [](const Report& r) { return r.quotas.empty(); })) return {};
    const bool one = reports.size() == 1;
    std::vector<Row> rows;
    if (one)
        rows.push_back(
            {"quota", "limit", "most used", "time full", "jobs waited", "for", "CPU hours idle then"});
    else
        rows.push_back({"quota", "limit A", "B", "most used A", "B", "time full A", "B", "jobs waited A", "B",
                        "for A", "B", "CPU hours idle then A", "B"});
    std::set<std::string> names;
    for (const Report& report : reports)
        for (const QuotaReport& quota : report.quotas) names.insert(quota.name);
    for (const std::string& name : names) {
        std::vector<Row> cells;  // cells of this limit, a row for each report
        for (const Report& report : reports) {
            const auto found = std::ranges::find(report.quotas, name, &QuotaReport::name);
            if (found == report.quotas.end())
                cells.push_back({"", "", "", "", "", ""});
            else
                cells.push_back({found->limit, found->most, duration(found->full),
                                 number(static_cast<double>(found->jobs)), duration(found->held),
                                 hours(found->idle)});
        }
        Row row{name};
        for (std::size_t i = 0; i < cells.front().size(); ++i)
            for (const Row& of_report : cells) row.push_back(of_report[i]);
        rows.push_back(std::move(row));
    }
    return text::table(rows) + '\n';
}

// A row of a table of figures.
struct Figure {
    const char* name;
    double (*value)(const Report&);
    std::string (*text)(double);
};

// Makes a table of figures, with those of both reports and their differences if there are two. Empty if no
// report has a first figure above 0.
std::string figures_table(const char* title, const std::vector<Figure>& figures,
                          const std::vector<Report>& reports) {
    if (std::ranges::all_of(reports, [&](const Report& r) { return figures.front().value(r) <= 0; }))
        return {};
    std::vector<Row> rows{{title}};
    if (reports.size() > 1) rows.front().insert(rows.front().end(), {"A", "B", "B - A"});
    for (const Figure& figure : figures) {
        Row row = {figure.name};
        std::vector<double> values;
        for (const Report& report : reports) values.push_back(figure.value(report));
        add_difference(row, values, figure.text);
        rows.push_back(std::move(row));
    }
    return text::table(rows) + '\n';
}

double real(std::int64_t number) {
    return static_cast<double>(number);
}

std::string deadlines_table(const std::vector<Report>& reports) {
    return figures_table(
        "jobs with a deadline",
        {{"all", [](const Report& r) { return real(r.deadlines.jobs); }, number},
         {"started in time", [](const Report& r) { return real(r.deadlines.in_time); }, number},
         {"never started", [](const Report& r) { return real(r.deadlines.never); }, number},
         {"late, mean", [](const Report& r) { return r.deadlines.late.mean; }, duration},
         {"  90%", [](const Report& r) { return r.deadlines.late.p90; }, duration}},
        reports);
}

std::string ranges_table(const std::vector<Report>& reports) {
    return figures_table(
        "jobs with a range of chunks",
        {{"all", [](const Report& r) { return real(r.ranges.jobs); }, number},
         {"never started", [](const Report& r) { return real(r.ranges.never); }, number},
         {"had fewer than the most", [](const Report& r) { return real(r.ranges.fewer); }, number},
         {"chunks asked for, mean", [](const Report& r) { return r.ranges.chunks_asked; }, ratio},
         {"chunks had, mean", [](const Report& r) { return r.ranges.chunks_had; }, ratio},
         {"CPUs asked for, mean", [](const Report& r) { return r.ranges.cpus_asked; }, ratio},
         {"CPUs had, mean", [](const Report& r) { return r.ranges.cpus_had; }, ratio}},
        reports);
}

std::string preferences_table(const std::vector<Report>& reports) {
    return figures_table(
        "jobs with preferences",
        {{"all", [](const Report& r) { return real(r.preferences.jobs); }, number},
         {"never started", [](const Report& r) { return real(r.preferences.never); }, number},
         {"had all", [](const Report& r) { return real(r.preferences.all); }, number},
         {"missed, mean", [](const Report& r) { return r.preferences.missed; }, ratio}},
        reports);
}

// Makes the table of differences between estimated and real starts.
std::string estimates_table(const std::vector<Report>& reports) {
    if (std::ranges::all_of(reports, [](const Report& r) { return r.estimates.started == 0; })) return {};
    const bool one = reports.size() == 1;
    std::vector<Row> rows;
    if (one)
        rows.push_back(
            {"estimated start, off by", "jobs", "mean", "median", "90%", "longest", "later than told"});
    else
        rows.push_back({"estimated start, off by", "jobs A", "B", "mean A", "B", "B - A", "median A", "B",
                        "B - A", "90% A", "B", "B - A", "later than told A", "B"});
    for (const auto& [name, member] :
         {std::pair("the first one told", &EstimateReport::first), {"the last one", &EstimateReport::last}}) {
        const EstimateReport& a = reports.front().estimates;
        const EstimateReport& b = reports.back().estimates;
        Row row = {name, number(static_cast<double>(a.started))};
        const EstimateError& of_a = a.*member;
        const EstimateError& of_b = b.*member;
        if (one) {
            row.insert(row.end(), {duration(of_a.off.mean), duration(of_a.off.median), duration(of_a.off.p90),
                                   duration(of_a.off.max), number(static_cast<double>(of_a.later))});
        } else {
            row.push_back(number(static_cast<double>(b.started)));
            add_difference(row, {of_a.off.mean, of_b.off.mean}, duration);
            add_difference(row, {of_a.off.median, of_b.off.median}, duration);
            add_difference(row, {of_a.off.p90, of_b.off.p90}, duration);
            row.insert(row.end(),
                       {number(static_cast<double>(of_a.later)), number(static_cast<double>(of_b.later))});
        }
        rows.push_back(std::move(row));
    }
    return text::table(rows) + '\n';
}

// Returns the users with the most CPU time in any report, largest first.
std::vector<std::string> largest_users(const std::vector<Report>& reports, std::size_t most) {
    std::vector<std::pair<double, std::string>> list;
    for (const Group& user : reports.front().users) {
        double cpu = user.cpu_seconds;
        std::int64_t jobs = user.jobs;
        for (const Report& report : reports) {
            const Group& same = group_named(report.users, user.name);
            cpu = std::max(cpu, same.cpu_seconds);
            jobs = std::max(jobs, same.jobs);
        }
        if (jobs > 0) list.emplace_back(cpu, user.name);
    }
    std::ranges::stable_sort(list, std::ranges::greater{}, &std::pair<double, std::string>::first);
    if (most != 0 && list.size() > most) list.resize(most);
    std::vector<std::string> names;
    names.reserve(list.size());
    for (auto& [cpu, name] : list) names.push_back(std::move(name));
    return names;
}

// Returns the classes of job sizes in ascending order. A class is a range of numbers of CPUs, such as "3-4".
std::vector<std::string> sizes_of(const std::vector<Report>& reports) {
    std::vector<std::pair<std::int64_t, std::string>> list;
    for (const Report& report : reports)
        for (const Group& size : report.sizes) {
            std::string_view name = size.name;
            list.emplace_back(values::take_number<std::int64_t>(name).value_or(0), size.name);
        }
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
    std::vector<std::string> names;
    names.reserve(list.size());
    for (auto& [cpus, name] : list) names.push_back(std::move(name));
    return names;
}

void add_reasons(std::string& text, const char* what, std::int64_t jobs,
                 const std::vector<std::pair<std::string, std::int64_t>>& reasons) {
    if (jobs == 0) return;
    text += fmt::format("{} {}:\n", jobs, what);
    for (std::size_t i = 0; i < std::min(reasons.size(), kReasons); ++i)
        text += fmt::format("    {:>7}  {}\n", reasons[i].second, reasons[i].first);
    if (reasons.size() > kReasons)
        text += fmt::format("    and {} other reasons\n", reasons.size() - kReasons);
}

std::string head(const Heading& heading, const std::vector<Report>& reports) {
    std::string text = fmt::format("Trace     {}: {}\n", heading.trace, values::counted(heading.jobs, "job"));
    for (const auto& [why, number] : heading.left_out)
        text += fmt::format("          {} left out: {}\n", number, why);
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const Report& r = reports[i];
        if (reports.size() > 1) text += fmt::format("{}         {}\n", i == 0 ? 'A' : 'B', r.title);
        text += fmt::format("Policy    {}\n", fmt::join(r.policies, ", "));
        text += fmt::format("Machine   {}, {}\n", values::counted(r.vnodes, "vnode"),
                            values::counted(r.cpus, "CPU"));
        text += fmt::format("Time      {} to {} ({})\n", time_text(r.begin, heading.zone),
                            time_text(r.end, heading.zone), heading.zone.name());
        text += fmt::format("Jobs      {} started in {}", r.started, values::counted(r.cycles, "cycle"));
        if (r.killed > 0) text += fmt::format(", {} of them ended at their walltime", r.killed);
        text += '\n';
        add_reasons(text, "rejected", r.rejected, r.why_rejected);
        add_reasons(text, "never started; their last comments", r.never_started, r.why_waiting);
        add_reasons(text, "submitted to no queue", r.refused, r.why_refused);
        add_reasons(text, "starts that the program asked for were refused", r.refused_starts,
                    r.why_refused_starts);
        for (const auto& [queue, jobs] : r.elsewhere)
            text += fmt::format("Note      there is no queue {}: {} went to the default queue\n", queue,
                                values::counted(jobs, "job"));
    }
    for (const std::string& note : heading.notes) text += fmt::format("Note      {}\n", note);
    return text;
}

}  // namespace

std::string to_text(const Heading& heading, const std::vector<Report>& reports, std::size_t users) {
    std::string text = head(heading, reports) + '\n' + parts_table(reports) + '\n';
    text += groups_table("CPUs", sizes_of(reports), reports, &Report::sizes) + '\n';
    text += shares_tables(reports) + tickets_table(reports, users) + quotas_table(reports) +
            stops_table("preempted", &Report::preemption, reports, users) +
            stops_table("stopped at close", &Report::at_close, reports, users) + deadlines_table(reports) +
            ranges_table(reports) + preferences_table(reports) + estimates_table(reports);
    const std::vector<std::string> names = largest_users(reports, users);
    text += groups_table("user", names, reports, &Report::users);
    std::set<std::string> all;
    for (const Report& report : reports)
        for (const Group& user : report.users)
            if (user.jobs > 0) all.insert(user.name);
    if (all.size() > names.size())
        text +=
            fmt::format("and {} users with less CPU time (--users 0 lists all)\n", all.size() - names.size());
    return text;
}

}  // namespace pbs::simulate
