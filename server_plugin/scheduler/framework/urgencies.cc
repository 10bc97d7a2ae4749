#include "server_plugin/scheduler/framework/urgencies.h"

#include <algorithm>

#include "server_plugin/scheduler/model/settings.h"

namespace pbs::sched {
namespace {

// The instant for which urgencies are kept. Any would do; this one keeps the numbers small.
constexpr Instant kFixed{Seconds(1'750'000'000)};

// Returns the amount of a resource, consumable or not, that each chunk of this kind asks for.
std::int64_t amount_of(const Chunk& chunk, std::uint32_t resource) {
    const auto need = std::ranges::find(chunk.needs, resource, &Need::resource);
    if (need != chunk.needs.end()) return need->amount;
    const auto match = std::ranges::find(chunk.matches, resource, &KeptAmount::resource);
    return match == chunk.matches.end() ? 0 : match->number;
}

}  // namespace

void Urgencies::update(const Settings& settings, const Tables& tables, std::span<const QueueSlot> queues) {
    const Rules rules{settings.urgency_of_resources,  settings.weight_waiting_time,
                      settings.urgency_size,          settings.max_range_chunks,
                      {queues.begin(), queues.end()}, settings.exclude_resources};
    const auto running = tables.running_changes.since(read_running_);
    const auto waiting = tables.waiting_changes.since(read_waiting_);
    if (!running || !waiting || rules != rules_) {
        *this = {};
        rules_ = rules;
        for (const NamedWeight& weight : rules_.weights)
            if (const auto id = tables.resources.id(weight.name); id != kNoResource)
                weights_.emplace_back(id, weight.weight);
        deadline_ = tables.resources.id("deadline");
        for (const QueueSlot queue : queues)
            for (const auto* jobs : {&tables.queues[queue].queued, &tables.queues[queue].running})
                for (const JobSlot job : *jobs) put(tables, job);
    } else {
        for (const auto& changed : {*running, *waiting})
            for (const JobSlot job : changed) {
                forget(job);
                const char state = tables.jobs.state[job];
                const bool counts = state == 'Q' || is_running(state);
                if (counts && std::ranges::find(queues, tables.jobs.queue[job]) != queues.end())
                    put(tables, job);
            }
    }
    find_range();
    read_running_ = tables.running_changes.position();
    read_waiting_ = tables.waiting_changes.position();
}

void Urgencies::forget(JobSlot job) {
    with_deadlines_.erase(job);
    if (job >= jobs_.size() || std::isnan(jobs_[job].urgency)) return;
    const auto [urgency, priority] = std::exchange(jobs_[job], {});
    const auto of_priority = jobs_of_priority_.find(priority);
    if (--of_priority->second == 0) jobs_of_priority_.erase(of_priority);
    Block& block = blocks_[job / kInBlock];
    if (urgency <= block.least || urgency >= block.greatest) block.outdated = true;
}

void Urgencies::put(const Tables& tables, JobSlot job) {
    const double urgency = compute(tables, job);
    const auto& amounts = tables.requests[tables.jobs.request[job]].amounts;
    if (deadline_ != kNoResource &&
        std::ranges::find(amounts, deadline_, &KeptAmount::resource) != amounts.end()) {
        with_deadlines_[job] = urgency;
        return;
    }
    if (job >= jobs_.size()) {
        jobs_.resize(std::max<std::size_t>(job + 1, jobs_.size() * 2));
        blocks_.resize(jobs_.size() / kInBlock + 1);
    }
    jobs_[job] = {urgency, tables.jobs.priority[job]};
    ++jobs_of_priority_[jobs_[job].priority];
    blocks_[job / kInBlock].widen(urgency);
}

// Finds the range over all jobs by the ranges of the blocks. O(changed blocks and n / kInBlock).
void Urgencies::find_range() {
    Block all;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        Block& block = blocks_[i];
        if (block.outdated) {
            block = {};
            const std::size_t end = std::min(jobs_.size(), (i + 1) * kInBlock);
            for (std::size_t job = i * kInBlock; job < end; ++job)
                if (!std::isnan(jobs_[job].urgency)) block.widen(jobs_[job].urgency);
        }
        all.least = std::min(all.least, block.least);
        all.greatest = std::max(all.greatest, block.greatest);
    }
    range_.reset();
    if (!jobs_of_priority_.empty()) range_ = {all.least, all.greatest};
}

double Urgencies::of(const Tables& tables, JobSlot job) const {
    if (job < jobs_.size() && !std::isnan(jobs_[job].urgency)) return jobs_[job].urgency;
    const auto found = with_deadlines_.find(job);
    return found != with_deadlines_.end() ? found->second : compute(tables, job);
}

double Urgencies::compute(const Tables& tables, JobSlot job) const {
    return resources(tables, job) + waiting(tables, job, kFixed);
}

double Urgencies::waiting(const Tables& tables, JobSlot job, Instant now) const {
    return rules_.waiting_time * static_cast<double>((now - tables.jobs.ctime[job]).count());
}

double Urgencies::growth(Instant now) const {
    return rules_.waiting_time * static_cast<double>((now - kFixed).count());
}

// Returns the number of chunks by which a waiting job with a select_range counts as larger than it is
// planned. It counts with the greatest, average or least number of its range, as urgency_size says. 0 for
// other jobs.
double Urgencies::further_chunks(const Tables& tables, JobSlot job, const Request& request) const {
    if (request.range.empty() || is_running(tables.jobs.state[job])) return 0;
    const std::int64_t most = rules_.most_chunks;
    const auto planned = static_cast<double>(request.chunks.front().count);
    if (rules_.size == "max") return static_cast<double>(request.range.greatest(most)) - planned;
    if (rules_.size == "avg") return request.range.average(most) - planned;
    return static_cast<double>(request.range.least()) - planned;
}

double Urgencies::resources(const Tables& tables, JobSlot job) const {
    const Request& request = tables.requests[tables.jobs.request[job]];
    const double further = further_chunks(tables, job, request);
    double sum = 0;
    for (const auto& [id, weight] : weights_) {
        if (id == tables.resources.known().walltime) {  // no part of requests
            const Seconds asked = tables.jobs.walltime[job];
            sum += weight * static_cast<double>(std::max(Seconds(0), asked).count());
            continue;
        }
        if (tables.resources.is_text(id)) {
            if (asks_for(request, id)) sum += weight;
            continue;
        }
        const ResourceKind kind = tables.resources.find(id)->kind;
        const auto total = number_of(request.totals, id);
        const bool by_default = !total && id == tables.resources.known().ncpus;  // one CPU for each chunk
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

}  // namespace pbs::sched
