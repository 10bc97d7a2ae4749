#include "tools/calendar/resources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cluster/exec_vnode.h"
#include "objects/value.h"
#include "rrule/plain_text.h"
#include "text/json_document.h"
#include "tools/calendar/changes.h"
#include "tools/calendar/reservation_times.h"
#include "values/amount.h"
#include "values/utc.h"

namespace pbs::calendar {
namespace {

using rrule::Instant;
using rrule::Interval;

// An amount of the resource on a vnode that is in use, planned or booked for a span of time.
struct Use {
    Interval when;
    std::string vnode;
    std::string queue;
    std::int64_t amount = 0;
    UseKind kind{};
};

// Reads amounts of one resource, and remembers whether they are sizes.
class AmountReader {
  public:
    std::int64_t read(std::string_view text) {
        if (const auto number = values::parse_integer(text)) return *number;
        if (text.find(':') != text.npos) return values::parse_duration(text).value_or(0);
        if (const auto bytes = values::parse_bytes(text)) {
            is_size_ = true;
            return *bytes;
        }
        return static_cast<std::int64_t>(values::parse_real(text).value_or(0));
    }
    bool is_size() const { return is_size_; }

  private:
    bool is_size_ = false;
};

// The hours of a queue: the times at which one of its windows is open.
class Hours {
  public:
    Hours(const Site& site, std::string_view queue) {
        for (const NamedWindow& window : site.windows)
            if (std::ranges::find(window.queues, queue) != window.queues.end()) windows_.push_back(&window);
    }
    bool are_open(Instant t) const { return window_at(t) != nullptr; }
    // Returns the first instant after t, but before `until`, at which the hours begin or end.
    std::optional<Instant> next_change(Instant t, Instant until) const {
        const bool open = are_open(t);
        while (t < until) {
            std::optional<Instant> next;
            for (const NamedWindow* window : windows_)
                if (const auto at = window->set.next_change(t); at && (!next || *at < *next)) next = at;
            if (!next || *next >= until) return std::nullopt;
            t = *next;
            if (are_open(t) != open) return t;
        }
        return std::nullopt;
    }
    // Returns what becomes of running jobs at this end of the hours.
    std::string_view at_close(Instant end) const {
        const NamedWindow* window = window_at(end - rrule::Seconds(1));
        return window == nullptr ? "run" : std::string_view(window->at_close);
    }

  private:
    const NamedWindow* window_at(Instant t) const {
        const auto found =
            std::ranges::find_if(windows_, [t](const NamedWindow* one) { return one->set.contains(t); });
        return found == windows_.end() ? nullptr : *found;
    }

    std::vector<const NamedWindow*> windows_;
};

// Lists what jobs and reservations use, until `until`.
class Uses {
  public:
    // `counter`: lists only the jobs that count in it, with the amounts that count; null: all jobs.
    Uses(const Site& site, const ResourceAnswers& answers, std::string_view resource, Instant now,
         Instant until, const cmds::QuotaCounter* counter)
        : site_(site), resource_(resource), now_(now), until_(until) {
        if (counter != nullptr) {
            add_counted(answers, *counter);
            return;
        }
        const std::string_view released = answers.server.value("restrict_res_to_release_on_suspend");
        const auto list = objects::split_list("restrict_res_to_release_on_suspend", released);
        is_released_ = released.empty() || !list || std::ranges::find(*list, resource) != list->end();
        std::set<std::string, std::less<>> reserved;
        for (const ObjectText& reservation : answers.reservations) {
            const std::string queue(reservation.value("queue"));
            reserved.insert(queue);
            const AttributeOf value = [&](std::string_view name) { return reservation.value(name); };
            for (const ReservationTime& time : reservation_times(value))
                add(time.when, time.vnodes, queue, UseKind::booked);
        }
        for (const ObjectText& job : answers.jobs)
            if (!reserved.contains(job.value("queue"))) add_job(job);
    }
    const std::vector<Use>& list() const { return list_; }
    AmountReader& reader() { return reader_; }

  private:
    static std::optional<Instant> instant_of(std::string_view text) {
        const auto number = values::parse_integer(text);
        return number ? std::optional(Instant{rrule::Seconds(*number)}) : std::nullopt;
    }

    void add_counted(const ResourceAnswers& answers, const cmds::QuotaCounter& counter) {
        const std::map<std::string, std::string, std::less<>> amounts(counter.jobs.begin(),
                                                                      counter.jobs.end());
        for (const ObjectText& job : answers.jobs) {
            const auto amount = amounts.find(job.name);
            if (amount == amounts.end()) continue;
            counted_ = reader_.read(amount->second);
            add_job(job);
        }
    }

    void add_job(const ObjectText& job) {
        const std::string_view state = job.value("job_state");
        const std::string_view vnodes = job.value("exec_vnode");
        const auto began = instant_of(job.value("stime"));
        const Hours hours(site_, job.value("queue"));
        if (state == "R" || state == "E") {
            if (!began) return;
            const Instant from = std::max(*began, now_);
            const auto left = left_of(job, *began);
            // A job that has overrun its walltime: as if it had ended with that.
            if (left && *left <= rrule::Seconds(0)) {
                add({*began, from + *left}, vnodes, std::string(job.value("queue")), UseKind::in_use);
                return;
            }
            add({*began, from}, vnodes, std::string(job.value("queue")), UseKind::in_use);
            go_on(job, hours, vnodes, from, left, UseKind::in_use);
        } else if (state == "S") {
            // A job that somebody, or a preemption, has suspended: nobody knows when it goes on.
            if (!began || !job.value("comment").starts_with("Suspended until ") || hours.are_open(now_))
                return wait(job, vnodes, now_, std::nullopt);
            const auto opens = hours.next_change(now_, until_);
            wait(job, vnodes, now_, opens);
            if (opens) go_on(job, hours, vnodes, *opens, left_of(job, *began), UseKind::planned);
        } else if (const auto from = instant_of(job.value("estimated.start_time"))) {
            go_on(job, hours, job.value("estimated.exec_vnode"), *from, walltime_of(job), UseKind::planned);
        }
    }

    static std::optional<rrule::Seconds> walltime_of(const ObjectText& job) {
        const auto walltime = values::parse_duration(job.value("Resource_List.walltime"));
        return walltime ? std::optional(rrule::Seconds(*walltime)) : std::nullopt;
    }
    // Returns the rest of the walltime of a job that runs or is suspended; nullopt: it has no walltime. The
    // walltime stands still while a job is suspended.
    std::optional<rrule::Seconds> left_of(const ObjectText& job, Instant began) const {
        // OpenPBS's server learns the walltime of a running job every few minutes, and doesn't tell how long
        // the job was suspended: only a greater lag is a suspension.
        constexpr rrule::Seconds kLag{600};
        const auto walltime = walltime_of(job);
        if (!walltime) return std::nullopt;
        const bool stands_still = job.value("job_state") == "S";
        const Instant until =
            stands_still ? instant_of(job.value("sched_preempted")).value_or(now_) : std::max(began, now_);
        const rrule::Seconds paused(values::parse_integer(job.value("suspended_for")).value_or(0));
        rrule::Seconds ran = until - began - paused;
        if (const auto used = values::parse_duration(job.value("resources_used.walltime")))
            if (const rrule::Seconds seen(*used); stands_still || ran - seen > kLag) ran = seen;
        return *walltime - ran;
    }

    // Adds the use of a job that runs from `at` on, and has `left` to run: it is suspended, or ends, at the
    // ends of its queue's hours as their windows say, and goes on when the hours begin again.
    void go_on(const ObjectText& job, const Hours& hours, std::string_view vnodes, Instant at,
               std::optional<rrule::Seconds> left, UseKind kind) {
        const std::string queue(job.value("queue"));
        for (Instant closes = at; at < until_;) {
            const Instant end = left ? at + *left : Instant::max();
            const auto change = hours.next_change(closes, std::min(end, until_));
            if (!change) return add({at, end}, vnodes, queue, kind);
            closes = *change;
            if (hours.are_open(closes)) continue;
            const std::string_view at_close = hours.at_close(closes);
            const bool ends = at_close == "requeue" && job.value("Rerunable") == "True";
            if (at_close != "suspend" && !ends) continue;
            add({at, closes}, vnodes, queue, kind);
            if (ends) return;
            const auto opens = hours.next_change(closes, until_);
            wait(job, vnodes, closes, opens);
            if (!opens) return;
            if (left) *left -= closes - at;
            at = closes = *opens;
            kind = UseKind::planned;
        }
    }
    // Adds what a suspended job uses until it goes on.
    void wait(const ObjectText& job, std::string_view vnodes, Instant from, std::optional<Instant> until) {
        // A quota counts jobs that an operator has suspended, but not those that the policy has suspended.
        const bool by_policy = job.value("job_state") != "S" || !job.value("sched_preempted").empty() ||
                               job.value("comment").starts_with("Suspended until ");
        if (counted_ ? !by_policy : !is_released_)
            add({from, until.value_or(Instant::max())}, vnodes, std::string(job.value("queue")),
                UseKind::in_use);
    }

    void add(const Interval& when, std::string_view exec_vnode, const std::string& queue, UseKind kind) {
        if (counted_) {
            list_.push_back({when, {}, queue, *counted_, kind});
            return;
        }
        for (const cluster::Share& share : cluster::shares_of(exec_vnode))
            for (const std::string_view amount : share.amounts)
                if (const auto written = cluster::amount_in(amount); written.resource == resource_)
                    list_.push_back(
                        {when, std::string(share.vnode), queue, reader_.read(written.value), kind});
    }

    const Site& site_;
    std::string_view resource_;
    Instant now_;
    Instant until_;
    bool is_released_ = true;              // suspended jobs give the resource back
    std::optional<std::int64_t> counted_;  // the amount of the present job in a quota's counter
    AmountReader reader_;
    std::vector<Use> list_;
};

// Finds the counter that the owner describes.
Result<const cmds::QuotaCounter*> find_counter(const ResourceAnswers& answers, std::string_view resource,
                                               const ResourceOwner& owner) {
    constexpr std::size_t kMostNamed = 10;
    std::vector<const cmds::QuotaCounter*> found;
    for (const cmds::QuotaCounter& counter : answers.counters) {
        const auto is_for = [&](std::string_view value) {
            return std::ranges::any_of(counter.of, [&](const auto& of) {
                return fmt::format("{}={}", of.first, of.second) == value;
            });
        };
        if (counter.quota == owner.name && counter.resource == resource &&
            (owner.rule.empty() || counter.rule == owner.rule) && std::ranges::all_of(owner.of, is_for))
            found.push_back(&counter);
    }
    if (found.size() == 1) return found.front();
    if (found.empty())
        return tl::unexpected(
            fmt::format("quota {}: no job counts in such a counter of {}", owner.name, resource));
    std::string names;
    for (std::size_t i = 0; i < std::min(found.size(), kMostNamed); ++i)
        names += fmt::format("{}{} {}", i == 0 ? "" : "; ", found[i]->rule, found[i]->whose(" "));
    return tl::unexpected(
        fmt::format("quota {}: found {} counters of {}, expected one, by --rule and --of: {}{}", owner.name,
                    found.size(), resource, names, found.size() > kMostNamed ? "; ..." : ""));
}

const ObjectText* find(const std::vector<ObjectText>& list, std::string_view name) {
    const auto found = std::ranges::find(list, name, &ObjectText::name);
    return found == list.end() ? nullptr : &*found;
}

std::string_view name_of(UseKind kind) {
    constexpr std::array<std::string_view, kUseKinds> kNames{"in use", "planned", "booked"};
    return kNames.at(static_cast<std::size_t>(kind));
}

std::string amount_text(const ResourceDiagram& diagram, std::int64_t amount) {
    return diagram.is_size ? values::size_text(amount) : std::to_string(amount);
}

std::string total_text(const ResourceDiagram& diagram) {
    return (diagram.total ? amount_text(diagram, *diagram.total) : std::string("no limit")) +
           (diagram.in_force ? "" : ", which isn't in force now");
}

std::string owner_text(const Site& site, const ResourceOwner& owner) {
    switch (owner.level) {
        case ResourceOwner::Level::vnode:
            return "vnode " + rrule::plain_text(owner.name);
        case ResourceOwner::Level::queue:
            return "queue " + rrule::plain_text(owner.name);
        case ResourceOwner::Level::quota:
            return rrule::plain_text(
                fmt::format("quota {} ({}) {}", owner.name, owner.rule,
                            owner.of.empty() ? "all" : fmt::format("{}", fmt::join(owner.of, " "))));
        case ResourceOwner::Level::server:
            break;
    }
    return "server " + rrule::plain_text(site.server);
}

std::int64_t free_of(const ResourceDiagram& diagram, const ResourceStep& step) {
    std::int64_t left = diagram.total.value_or(0);
    for (const std::int64_t amount : step.amounts) left -= amount;
    return left;
}

// Sets the total of the server, a queue or a vnode.
Result<void> set_total(const ResourceAnswers& answers, AmountReader& reader, bool known,
                       ResourceDiagram& diagram) {
    using Level = ResourceOwner::Level;
    const ResourceOwner& owner = diagram.owner;
    const std::string available = fmt::format("resources_available.{}", diagram.resource);
    const ObjectText* limits = &answers.server;
    if (owner.level != Level::server)
        limits = find(owner.level == Level::vnode ? answers.vnodes : answers.queues, owner.name);
    if (limits == nullptr)
        return tl::unexpected(
            fmt::format("there is no {} {}", owner.level == Level::vnode ? "vnode" : "queue", owner.name));
    std::int64_t total = 0;
    for (const ObjectText& vnode : answers.vnodes) {
        const std::string_view has = vnode.value(available);
        known = known || !has.empty();
        if (owner.level != Level::vnode || vnode.name == owner.name) total += reader.read(has);
    }
    if (const std::string_view own = limits->value(available); owner.level != Level::vnode && !own.empty()) {
        known = true;
        total = reader.read(own);
    }
    diagram.total = total;
    if (known) return {};
    return tl::unexpected(fmt::format("{}: no vnode, queue or job has this resource", diagram.resource));
}

// Names the counter, and sets its limit.
void set_limit(const cmds::QuotaCounter& counter, AmountReader& reader, ResourceDiagram& diagram) {
    diagram.owner.rule = counter.rule;
    diagram.owner.of.clear();
    for (const auto& [filter, value] : counter.of)
        diagram.owner.of.push_back(fmt::format("{}={}", filter, value));
    diagram.in_force = counter.in_force;
    diagram.total = counter.limit == "-" ? std::nullopt : std::optional(reader.read(counter.limit));
}

}  // namespace

Result<ResourceDiagram> make_diagram(const Site& site, const ResourceAnswers& answers,
                                     std::string_view resource, const ResourceOwner& owner,
                                     const Interval& range, Instant now) {
    using Level = ResourceOwner::Level;
    const cmds::QuotaCounter* counter = nullptr;
    if (owner.level == Level::quota) {
        const auto found = find_counter(answers, resource, owner);
        if (!found) return tl::unexpected(found.error());
        counter = *found;
    }
    Uses uses(site, answers, resource, now, range.end, counter);
    ResourceDiagram diagram{.resource = std::string(resource), .owner = owner, .steps = {}};
    if (counter != nullptr) {
        set_limit(*counter, uses.reader(), diagram);
    } else if (auto done = set_total(answers, uses.reader(), !uses.list().empty(), diagram); !done) {
        return tl::unexpected(done.error());
    }
    diagram.is_size = uses.reader().is_size();

    std::map<Instant, std::array<std::int64_t, kUseKinds>> changes{{range.start, {}}, {range.end, {}}};
    for (const Use& use : uses.list()) {
        if (owner.level == Level::vnode && use.vnode != owner.name) continue;
        if (owner.level == Level::queue && use.queue != owner.name) continue;
        const Instant from = std::max(use.when.start, range.start);
        const Instant until = std::min(use.when.end, range.end);
        if (from >= until) continue;
        changes[from].at(static_cast<std::size_t>(use.kind)) += use.amount;
        changes[until].at(static_cast<std::size_t>(use.kind)) -= use.amount;
    }
    std::array<std::int64_t, kUseKinds> amounts{};
    for (const auto& [at, change] : changes) {
        auto next = amounts;
        for (std::size_t i = 0; i < kUseKinds; ++i) next[i] += change[i];
        if (!diagram.steps.empty()) diagram.steps.back().when.end = at;
        if (at < range.end && (diagram.steps.empty() || next != amounts))
            diagram.steps.push_back({{at, range.end}, next});
        amounts = next;
    }
    return diagram;
}

std::string to_text(const Site& site, const ResourceDiagram& diagram) {
    constexpr std::int64_t kLength = 40;
    constexpr std::array<char, kUseKinds> kMarks{'#', '+', '='};
    std::string out =
        fmt::format("{} of {}: {}; # in use, + planned, = booked; times in {}\n", diagram.resource,
                    owner_text(site, diagram.owner), total_text(diagram), site.zone.name());
    for (const ResourceStep& step : diagram.steps) {
        std::string bar;
        const auto total = static_cast<double>(diagram.total.value_or(0));
        for (std::size_t i = 0; i < kUseKinds && total > 0; ++i) {
            const auto share = static_cast<double>(step.amounts.at(i)) / total;
            bar.append(static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kLength + 0.5), kMarks.at(i));
        }
        bar.resize(static_cast<std::size_t>(kLength), '.');
        out += fmt::format("{}  {}", local_text(site.zone, step.when.start), bar);
        for (std::size_t i = 0; i < kUseKinds; ++i)
            out += fmt::format("  {} {}", name_of(static_cast<UseKind>(i)),
                               amount_text(diagram, step.amounts.at(i)));
        if (diagram.total)
            out += fmt::format("  free {}",
                               amount_text(diagram, std::max<std::int64_t>(0, free_of(diagram, step))));
        out += '\n';
    }
    return out;
}

std::string to_json(const Site& site, const ResourceDiagram& diagram) {
    nlohmann::ordered_json json{{"server", site.server},
                                {"time_zone", site.zone.name()},
                                {"resource", diagram.resource},
                                {"of", owner_text(site, diagram.owner)},
                                {"total", nullptr},
                                {"steps", nlohmann::ordered_json::array()}};
    if (diagram.total) json["total"] = *diagram.total;
    if (diagram.owner.level == ResourceOwner::Level::quota) json["in_force"] = diagram.in_force;
    for (const ResourceStep& step : diagram.steps)
        json["steps"].push_back({{"from", values::utc_text(step.when.start)},
                                 {"to", values::utc_text(step.when.end)},
                                 {"in_use", step.amounts[0]},
                                 {"planned", step.amounts[1]},
                                 {"booked", step.amounts[2]}});
    return text::write_json(json, 2) + "\n";
}

std::string to_svg(const Site& site, const ResourceDiagram& diagram) {
    constexpr double kGraphLeft = 70;
    constexpr double kGraphTop = 40;
    constexpr double kGraphWidth = 840;
    constexpr double kGraphHeight = 240;
    // Colours for the kinds of use; they also differ in brightness.
    constexpr std::array<std::string_view, kUseKinds> kFills{"#2b4c7e", "#7fc97f", "#e6ab02"};
    const std::int64_t total = diagram.total.value_or(0);
    std::int64_t most = std::max<std::int64_t>(1, total);
    for (const ResourceStep& step : diagram.steps) most = std::max(most, total - free_of(diagram, step));
    const Instant from = diagram.steps.front().when.start;
    const auto length = static_cast<double>((diagram.steps.back().when.end - from).count());
    const auto x = [&](Instant t) {
        return kGraphLeft + static_cast<double>((t - from).count()) / length * kGraphWidth;
    };
    const auto height = [&](std::int64_t amount) {
        return static_cast<double>(amount) / static_cast<double>(most) * kGraphHeight;
    };
    std::string out = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" font-family="sans-serif" font-size="12">)"
        "\n"
        R"(<text x="{}" y="20" font-size="15">{}</text>)"
        "\n",
        kGraphLeft + kGraphWidth + 30, kGraphTop + kGraphHeight + 60, kGraphLeft,
        rrule::markup_text(fmt::format("{} of {}: {}", diagram.resource, owner_text(site, diagram.owner),
                                       total_text(diagram))));
    for (const ResourceStep& step : diagram.steps) {
        double base = kGraphTop + kGraphHeight;
        for (std::size_t i = 0; i < kUseKinds; ++i) {
            const double tall = height(step.amounts.at(i));
            if (tall <= 0) continue;
            base -= tall;
            out += fmt::format(
                R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"><title>{}</title></rect>)"
                "\n",
                x(step.when.start), base, x(step.when.end) - x(step.when.start), tall, kFills.at(i),
                rrule::markup_text(fmt::format("{} {} from {} to {}", name_of(static_cast<UseKind>(i)),
                                               amount_text(diagram, step.amounts.at(i)),
                                               local_text(site.zone, step.when.start),
                                               local_text(site.zone, step.when.end))));
        }
    }
    const double line = kGraphTop + kGraphHeight - height(total);
    out += fmt::format(R"(<path d="M{0} {1}V{2}H{3}M{0} {4:.1f}H{3}" fill="none" stroke="#333"/>)"
                       "\n"
                       R"(<text x="{5}" y="{4:.1f}" text-anchor="end">{6}</text>)"
                       "\n",
                       kGraphLeft, kGraphTop, kGraphTop + kGraphHeight, kGraphLeft + kGraphWidth, line,
                       kGraphLeft - 6, amount_text(diagram, total));
    out += fmt::format(R"(<text x="{}" y="{}">{}</text><text x="{}" y="{}" text-anchor="end">{}</text>)"
                       "\n",
                       kGraphLeft, kGraphTop + kGraphHeight + 18,
                       rrule::markup_text(local_text(site.zone, from)), kGraphLeft + kGraphWidth,
                       kGraphTop + kGraphHeight + 18,
                       rrule::markup_text(local_text(site.zone, diagram.steps.back().when.end)));
    for (std::size_t i = 0; i < kUseKinds; ++i)
        out += fmt::format(
            R"(<rect x="{0}" y="{1}" width="10" height="10" fill="{2}"/><text x="{3}" y="{4}">{5}</text>)"
            "\n",
            kGraphLeft + 100.0 * static_cast<double>(i), kGraphTop + kGraphHeight + 32, kFills.at(i),
            kGraphLeft + 100.0 * static_cast<double>(i) + 16, kGraphTop + kGraphHeight + 42,
            name_of(static_cast<UseKind>(i)));
    return out + "</svg>\n";
}

}  // namespace pbs::calendar
