#include "server_plugin/scheduler/framework/weighted_priority.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "server_plugin/scheduler/model/deadline.h"

namespace pbs::sched {
namespace {

// The Priority of jobs is between -1024 and 1023.
constexpr double kPriorities = 2048;
constexpr double kLeastPriority = -1024;

}  // namespace

WeightedPriority::WeightedPriority(const Settings& settings, Tables& tables, SchedShares* shares, Instant now,
                                   std::span<const QueueSlot> queues, Urgencies& urgencies)
    : settings_(settings),
      tables_(tables),
      now_(now),
      deadline_resource_(tables.resources.id("deadline")),
      urgencies_(urgencies) {
    urgencies.update(settings, tables, queues);
    range_ = urgencies.range();
    for (const auto& [job, urgency] : urgencies.with_deadlines()) {
        const double by_deadline = deadline(job);
        has_deadlines_ = has_deadlines_ || by_deadline != 0;
        const double value = urgency + by_deadline;
        range_ = range_ ? Range(std::min(range_->first, value), std::max(range_->second, value))
                        : Range(value, value);
    }
    if (gives_tickets(settings, tables.resources)) tickets_.emplace(settings, tables, shares, now, queues);
}

std::string_view WeightedPriority::deadline_text(JobSlot job) const {
    if (deadline_resource_ == kNoResource) return {};
    const Request& request = tables_.requests[tables_.jobs.request[job]];
    const auto asked = std::ranges::find(request.amounts, deadline_resource_, &KeptAmount::resource);
    return asked == request.amounts.end() ? std::string_view{} : asked->text;
}

double WeightedPriority::deadline(JobSlot job) const {
    const std::string_view text = deadline_text(job);
    if (text.empty()) return 0;
    const auto counts = [&](const std::string& name) {
        return name.starts_with('@') ? name.substr(1) == tables_.strings.text(tables_.jobs.group[job])
                                     : name == tables_.strings.text(tables_.jobs.owner[job]);
    };
    if (!settings_.deadline_users.empty() && std::ranges::none_of(settings_.deadline_users, counts)) return 0;
    const auto at = parse_deadline(text, tables_.jobs.ctime[job], tables_.zone);
    if (!at) return 0;
    return settings_.weight_deadline / static_cast<double>(std::max<std::int64_t>(1, (*at - now_).count()));
}

// Returns whether only the urgency tells jobs apart. Then the order doesn't depend on the range, unless all
// urgencies count as alike.
bool WeightedPriority::by_urgency_alone() const {
    return !tickets_ && urgencies_.with_deadlines().empty() &&
           (settings_.weight_job_priority == 0 || urgencies_.have_one_priority());
}

bool WeightedPriority::are_alike() const {
    const Range range = range_.value_or(Range());
    return settings_.weight_urgency == 0 || normalised(range.second, range.first, range.second) != 1;
}

std::optional<WeightedPriority::Range> WeightedPriority::lasting_range() const {
    if (tickets_ || has_deadlines_) return std::nullopt;
    constexpr double kMark = std::numeric_limits<double>::infinity();  // no urgency is that great
    if (by_urgency_alone()) return Range(kMark, are_alike() ? 0 : 1);
    return range_.value_or(Range());
}

WeightedPriority::Range WeightedPriority::range_now() const {
    const double growth = urgencies_.growth(now_);
    return range_ ? Range(range_->first + growth, range_->second + growth) : Range();
}

// Sets the terms from which the sum is made.
void WeightedPriority::norm(JobSlot job, Terms& terms) const {
    const Range range = range_.value_or(Range());
    terms.urgency_norm = normalised(urgencies_.of(tables_, job) + terms.deadline, range.first, range.second);
    terms.priority_norm = (static_cast<double>(tables_.jobs.priority[job]) - kLeastPriority) / kPriorities;
    if (tickets_) {
        terms.tickets = tickets_->of(job).sum();
        terms.tickets_norm = tickets_->normalised(job);
    }
    terms.value = settings_.weight_job_priority * terms.priority_norm +
                  settings_.weight_urgency * terms.urgency_norm +
                  settings_.weight_tickets * terms.tickets_norm;
}

double WeightedPriority::order(JobSlot job) const {
    if (by_urgency_alone())
        return are_alike() ? 0 : std::copysign(1.0, settings_.weight_urgency) * urgencies_.of(tables_, job);
    Terms terms;
    terms.deadline = deadline(job);
    norm(job, terms);
    return terms.value;
}

WeightedPriority::Terms WeightedPriority::terms(JobSlot job) const {
    Terms terms;
    terms.resources = urgencies_.resources(tables_, job);
    terms.waiting = urgencies_.waiting(tables_, job, now_);
    terms.deadline = deadline(job);
    terms.urgency = terms.resources + terms.waiting + terms.deadline;
    norm(job, terms);
    return terms;
}

std::vector<PriorityTerm> WeightedPriority::table(JobSlot job) const {
    const Terms t = terms(job);
    const Range range = range_now();
    std::vector<PriorityTerm> table{
        {"Priority", static_cast<double>(tables_.jobs.priority[job]), kLeastPriority,
         kLeastPriority + kPriorities, t.priority_norm, settings_.weight_job_priority},
        {"urgency", t.urgency, range.first, range.second, t.urgency_norm, settings_.weight_urgency}};
    if (tickets_)
        table.push_back(
            {"tickets", t.tickets, 0, tickets_->greatest(), t.tickets_norm, settings_.weight_tickets});
    return table;
}

std::string WeightedPriority::text(JobSlot job) const {
    const Terms t = terms(job);
    const Range range = range_now();
    const std::string_view asked = deadline_text(job);
    const bool read = asked.empty() || parse_deadline(asked, tables_.jobs.ctime[job], tables_.zone);
    const std::string unread =
        read ? std::string() : fmt::format(": '{}' is no time, expected [[[[CC]YY]MM]DD]hhmm[.SS]", asked);
    std::string sum = fmt::format(
        "{:.6g} = {:g} * {:.6g} (Priority {}) + {:g} * {:.6g} (urgency {:.6g} between {:.6g} and {:.6g}: "
        "resources {:.6g}, waiting {:.6g}, deadline {:.6g}{})",
        t.value, settings_.weight_job_priority, t.priority_norm, tables_.jobs.priority[job],
        settings_.weight_urgency, t.urgency_norm, t.urgency, range.first, range.second, t.resources,
        t.waiting, t.deadline, unread);
    if (tickets_)
        sum +=
            fmt::format(" + {:g} * {:.6g} (tickets {:.6g} of at most {:.6g}: {})", settings_.weight_tickets,
                        t.tickets_norm, t.tickets, tickets_->greatest(), tickets_->text(job));
    return sum;
}

}  // namespace pbs::sched
