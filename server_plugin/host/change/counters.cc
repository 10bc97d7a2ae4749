#include "server_plugin/host/change/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// The numbers of cycles and slow requests that are remembered. The note of a cycle takes some hundred bytes.
constexpr std::size_t kMostCycles = 100;
constexpr std::size_t kMostSlowRequests = 100;
// A request that takes longer than this is slow: a turn of the event loop should be shorter.
constexpr std::chrono::milliseconds kSlow{50};
// The most users whose requests are counted, as a safeguard: only users with accounts are counted.
constexpr std::size_t kMostUsers = 10000;

double seconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

template <class Note>
void keep(std::deque<Note>& notes, Note note, std::size_t most) {
    notes.push_back(std::move(note));
    if (notes.size() > most) notes.pop_front();
}

constexpr std::array kTriggers = {
    std::pair{PBS_SCH_SCHEDULE_NEW, "new job"}, std::pair{PBS_SCH_SCHEDULE_TERM, "end of a job"},
    std::pair{PBS_SCH_SCHEDULE_TIME, "time"},   std::pair{PBS_SCH_SCHEDULE_RECYC, "recycled"},
    std::pair{PBS_SCH_SCHEDULE_CMD, "command"}, std::pair{PBS_SCH_CONFIGURE, "configuration"},
    std::pair{PBS_SCH_SCHEDULE_FIRST, "start"}, std::pair{PBS_SCH_POLICY_SWITCH, "policy switch"}};
constexpr std::array kDecisionNames = {"run",     "comment", "reject",  "move", "estimate",
                                       "preempt", "accrue",  "confirm", "deny", "weigh"};

}  // namespace

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds.first(std::min<std::size_t>(bounds.size(), 12))) {}

void Histogram::add(double amount) {
    const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), amount);
    if (at != bounds_.end()) ++counts_.at(static_cast<std::size_t>(at - bounds_.begin()));
    ++count_;
    sum_ += amount;
}

std::string Histogram::text() const {
    std::string text = fmt::format("{} {:.9g}", count_, sum_);
    std::uint64_t up_to = 0;
    for (std::size_t i = 0; i < bounds_.size(); ++i) text += fmt::format(" {}", up_to += counts_.at(i));
    return text;
}

void Counters::cycle_over(CycleNote note) {
    cycles_.try_emplace(note.trigger, kDurationBounds)
        .first->second.add(seconds(note.deciding + note.carrying));
    for (std::size_t i = 0; i < decisions_.size(); ++i)
        decisions_.at(i) += static_cast<std::uint64_t>(note.decisions.at(i));
    considered_ += static_cast<std::uint64_t>(note.considered);
    dropped_ += static_cast<std::uint64_t>(note.dropped);
    if (note.failed) ++failed_;
    keep(last_cycles_, std::move(note), kMostCycles);
}

void Counters::request_answered(RequestNote note, bool refused) {
    Requests& requests = requests_[note.type];
    requests.took.add(seconds(note.took));
    if (refused) ++requests.refused;
    const auto known = users_.find(note.who);
    if (known != users_.end() || users_.size() < kMostUsers) {
        User& user = known != users_.end() ? known->second : users_[note.who];
        ++user.requests;
        user.took += note.took;
    }
    if (note.took >= kSlow) keep(slow_requests_, std::move(note), kMostSlowRequests);
}

void Counters::committed(Duration took) {
    commits_.add(seconds(took));
}

void Counters::job_started(std::int64_t waited) {
    waits_.add(static_cast<double>(std::max<std::int64_t>(waited, 0)));
}

void Counters::job_ended() {
    ++ended_;
}

std::vector<Counters::Value> Counters::values() const {
    std::vector<Value> all;
    const auto add = [&all](std::string_view name, std::string_view of, std::string value) {
        all.push_back({name, std::string(of), std::move(value)});
    };
    add("duration_bounds", {}, fmt::format("{:g}", fmt::join(kDurationBounds, " ")));
    add("wait_bounds", {}, fmt::format("{:g}", fmt::join(kWaitBounds, " ")));
    for (const auto& [trigger, histogram] : cycles_) add("cycles", trigger_name(trigger), histogram.text());
    for (std::size_t i = 0; i < decisions_.size(); ++i)
        add("decisions", decision_name(i), std::to_string(decisions_.at(i)));
    add("jobs_considered", {}, std::to_string(considered_));
    add("decisions_dropped", {}, std::to_string(dropped_));
    add("cycles_failed", {}, std::to_string(failed_));
    for (const auto& [type, requests] : requests_) {
        add("requests", ifl::request_name(type), requests.took.text());
        add("requests_refused", ifl::request_name(type), std::to_string(requests.refused));
    }
    add("commits", {}, commits_.text());
    add("waits", {}, waits_.text());
    add("jobs_ended", {}, std::to_string(ended_));
    return all;
}

std::string_view trigger_name(int trigger) {
    for (const auto& [number, name] : kTriggers)
        if (number == trigger) return name;
    return "other";
}

std::string_view decision_name(std::size_t kind) {
    return kDecisionNames.at(kind);
}

}  // namespace pbs::host
