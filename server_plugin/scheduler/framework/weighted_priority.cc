#include "server_plugin/scheduler/framework/weighted_priority.h"

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/model/deadline.h"

namespace pbs::sched {
namespace {

// The Priority of jobs is between -1024 and 1023.
constexpr double kPriorities = 2048;
constexpr double kLeastPriority = -1024;

// Returns the amount of a resource, consumable or not, that each chunk of this kind asks for.
std::int64_t amount_of(const Chunk& chunk, std::uint32_t resource) {
    const auto need = std::ranges::find(chunk.needs, resource, &Need::resource);
    if (need != chunk.needs.end()) return need->amount;
    const auto match = std::ranges::find(chunk.matches, resource, &KeptAmount::resource);
    return match == chunk.matches.end() ? 0 : match->number;
}

}  // namespace

WeightedPriority::WeightedPriority(const Settings& settings, Tables& tables, SchedShares* shares, Instant now,
                                   std::span<const QueueSlot> queues)
    : settings_(settings), tables_(tables), now_(now), deadline_resource_(tables.resources.id("deadline")) {
    for (const NamedWeight& weight : settings.urgency_of_resources)
        if (const auto id = tables.resources.id(weight.name); id != kNoResource)
            weights_.emplace_back(id, weight.weight);
    for (const QueueSlot queue : queues)
        for (const auto* jobs : {&tables.queues[queue].queued, &tables.queues[queue].running})
            for (const JobSlot job : *jobs) {
                const Terms terms = urgency(job);
                const double value = terms.urgency;
                has_deadlines_ = has_deadlines_ || terms.deadline != 0;
                greatest_ = least_ ? std::max(greatest_, value) : value;
                least_ = std::min(value, least_.value_or(value));
            }
    if (gives_tickets(settings, tables.resources)) tickets_.emplace(settings, tables, shares, now, queues);
}

// Returns the number of chunks by which a waiting job with a select_range counts as larger than it is
// planned. It counts with the greatest, average or least number of its range, as urgency_size says. 0 for
// other jobs.
double WeightedPriority::further_chunks(JobSlot job, const Request& request) const {
    if (request.range.empty() || is_running(tables_.jobs.state[job])) return 0;
    const std::int64_t most = settings_.max_range_chunks;
    const auto planned = static_cast<double>(request.chunks.front().count);
    if (settings_.urgency_size == "max") return static_cast<double>(request.range.greatest(most)) - planned;
    if (settings_.urgency_size == "avg") return request.range.average(most) - planned;
    return static_cast<double>(request.range.least()) - planned;
}

double WeightedPriority::resources(JobSlot job) const {
    const Request& request = tables_.requests[tables_.jobs.request[job]];
    const double further = further_chunks(job, request);
    double sum = 0;
    for (const auto& [id, weight] : weights_) {
        if (id == tables_.resources.known().walltime) {  // no part of requests
            const Seconds asked = tables_.jobs.walltime[job];
            sum += weight * static_cast<double>(std::max(Seconds(0), asked).count());
            continue;
        }
        if (tables_.resources.is_text(id)) {
            if (asks_for(request, id)) sum += weight;
            continue;
        }
        const ResourceKind kind = tables_.resources.find(id)->kind;
        const auto total = number_of(request.totals, id);
        const bool by_default = !total && id == tables_.resources.known().ncpus;  // one CPU for each chunk
        const auto of_chunk = [&, id = id](const Chunk& chunk) {
            return by_default ? 1 : formula_amount(amount_of(chunk, id), kind);
        };
        double asked = total ? formula_amount(*total, kind) : 0;
        if (!total)  // the totals have only sums of consumable resources
            for (const Chunk& chunk : request.chunks)
                asked += static_cast<double>(chunk.count) * of_chunk(chunk);
        if (by_default) asked = std::max(1.0, asked);
        sum += weight * (asked + further * of_chunk(request.chunks.front()));
    }
    return sum;
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

WeightedPriority::Terms WeightedPriority::urgency(JobSlot job) const {
    Terms terms;
    terms.resources = resources(job);
    terms.waiting =
        settings_.weight_waiting_time * static_cast<double>((now_ - tables_.jobs.ctime[job]).count());
    terms.deadline = deadline(job);
    terms.urgency = terms.resources + terms.waiting + terms.deadline;
    return terms;
}

std::optional<WeightedPriority::Range> WeightedPriority::lasting_range() const {
    // With waiting times there is no lasting range: all urgencies grow alike, but not to the last digit.
    if (tickets_ || has_deadlines_ || settings_.weight_waiting_time != 0) return std::nullopt;
    return Range(least_.value_or(0), greatest_);
}

WeightedPriority::Terms WeightedPriority::terms(JobSlot job) const {
    Terms terms = urgency(job);
    terms.urgency_norm = normalised(terms.urgency, least_.value_or(0), greatest_);
    terms.priority_norm = (static_cast<double>(tables_.jobs.priority[job]) - kLeastPriority) / kPriorities;
    if (tickets_) {
        terms.tickets = tickets_->of(job).sum();
        terms.tickets_norm = tickets_->normalised(job);
    }
    terms.value = settings_.weight_job_priority * terms.priority_norm +
                  settings_.weight_urgency * terms.urgency_norm +
                  settings_.weight_tickets * terms.tickets_norm;
    return terms;
}

std::vector<PriorityTerm> WeightedPriority::table(JobSlot job) const {
    const Terms t = terms(job);
    std::vector<PriorityTerm> table{
        {"Priority", static_cast<double>(tables_.jobs.priority[job]), kLeastPriority,
         kLeastPriority + kPriorities, t.priority_norm, settings_.weight_job_priority},
        {"urgency", t.urgency, least_.value_or(0), greatest_, t.urgency_norm, settings_.weight_urgency}};
    if (tickets_)
        table.push_back(
            {"tickets", t.tickets, 0, tickets_->greatest(), t.tickets_norm, settings_.weight_tickets});
    return table;
}

std::string WeightedPriority::text(JobSlot job) const {
    const Terms t = terms(job);
    const std::string_view asked = deadline_text(job);
    const bool read = asked.empty() || parse_deadline(asked, tables_.jobs.ctime[job], tables_.zone);
    const std::string unread =
        read ? std::string() : fmt::format(": '{}' is no time, expected [[[[CC]YY]MM]DD]hhmm[.SS]", asked);
    std::string sum = fmt::format(
        "{:.6g} = {:g} * {:.6g} (Priority {}) + {:g} * {:.6g} (urgency {:.6g} between {:.6g} and {:.6g}: "
        "resources {:.6g}, waiting {:.6g}, deadline {:.6g}{})",
        t.value, settings_.weight_job_priority, t.priority_norm, tables_.jobs.priority[job],
        settings_.weight_urgency, t.urgency_norm, t.urgency, least_.value_or(0), greatest_, t.resources,
        t.waiting, t.deadline, unread);
    if (tickets_)
        sum +=
            fmt::format(" + {:g} * {:.6g} (tickets {:.6g} of at most {:.6g}: {})", settings_.weight_tickets,
                        t.tickets_norm, t.tickets, tickets_->greatest(), tickets_->text(job));
    return sum;
}

}  // namespace pbs::sched
