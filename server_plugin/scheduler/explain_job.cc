// Inspector::explain(), missed_preferences() and test_start(), and Scheduler::test_start().

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/explain/explain.h"
#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/scheduler_impl.h"

namespace pbs::sched {
namespace {

// The reason why no cycle considers a job in a state other than queued.
std::string not_queued(const Tables& tables, JobSlot job) {
    const char state = tables.jobs.state[job];
    if (state == 'S') return "it is suspended";
    if (is_running(state))
        return fmt::format("it runs, since {}", ctime_text(tables.jobs.stime[job], tables.zone));
    switch (state) {
        case 'A':
            return "it couldn't be run when that was tried last, and is tried again later";
        case 'H':
            return "it is held";
        case 'B':
            return "no more of its subjobs may start now";
        case 'W':
            return "it waits for its execution time";
        case 'T':
            return "it is being moved";
        default:
            return fmt::format("its state is {}", state);
    }
}

JobSlot find_job(const JobTable& jobs, std::string_view id) {
    const auto found = std::ranges::find(jobs.id, id);
    return id.empty() || found == jobs.id.end() ? kNoSlot : static_cast<JobSlot>(found - jobs.id.begin());
}

// The scheduler of a job and its policy in force, or the reason why no cycle considers the job now.
struct SchedOfJob {
    Policy* policy = nullptr;
    Sched* sched = nullptr;  // null: no scheduler serves the job's queue
    std::string why_not{};
};

template <class Impl>
SchedOfJob sched_of_job(Impl& impl, JobSlot job, Instant now, Explanation& out) {
    Tables& tables = impl.tables;
    const Queue& queue = tables.queues[tables.jobs.queue[job]];
    out.job = tables.jobs.id[job];
    const auto at = std::ranges::find_if(
        impl.scheds, [&](const auto& s) { return impl.serves(s.first, s.second, queue.partition); });
    if (at == impl.scheds.end())
        return {nullptr, nullptr,
                text({ReasonCode::no_scheduler, tables.jobs.queue[job], queue.partition},
                     tables.reason_context())};
    out.sched = at->first;
    SchedOfJob found{impl.active_policy(at->first, now), &at->second};
    if (found.policy != nullptr) {
        out.policy = found.policy->settings.name;
        out.algorithm = found.policy->settings.profile->name;
    }
    if (tables.jobs.state[job] != 'Q')
        found.why_not = not_queued(tables, job);
    else if (!found.sched->scheduling)
        found.why_not = fmt::format("scheduling is off in sched {}", at->first);
    else if (found.policy == nullptr)
        found.why_not = fmt::format("sched {} has no policy", at->first);
    return found;
}

// The input of a cycle about one job. `memory`: a copy of the scheduler's, because a cycle changes it.
template <class Impl>
CycleInput input_of(Impl& impl, const SchedOfJob& found, JobSlot job, Instant now, SchedMemory& memory) {
    CycleInput input;
    input.tables = &impl.tables;
    input.configuration = &impl.configuration;
    input.policy = found.policy;
    input.memory = &memory;
    input.partition = found.sched->partition;
    input.now = now;
    input.categories = impl.categories;
    input.explained = job;
    input.shares = impl.shares_of(*found.sched, *found.policy);
    return input;
}

// Returns the preferences that the vnodes of a running job miss. The amounts that the job itself uses count
// as free there.
std::vector<Explanation::Missed> missed_by_running(Tables& tables, const Settings& settings, JobSlot job) {
    const Request& request = tables.requests[tables.jobs.request[job]];
    if (settings.algorithm != Algorithm::standard || !settings.preferences || request.preferences.empty() ||
        !is_running(tables.jobs.state[job]))
        return {};
    Vnodes& vnodes = tables.vnodes;
    Vnodes::Shares shares;
    vnodes.shares_held(job, shares);
    vnodes.look_ahead(shares, 1);
    auto missed = missed_on(vnodes, request, vnodes.held_by(job));
    vnodes.look_ahead(shares, -1);
    return missed;
}

}  // namespace

std::optional<Explanation> Inspector::explain(Instant now, std::string_view job_id) {
    const JobSlot job = find_job(impl_->tables.jobs, job_id);
    if (job == kNoSlot) return std::nullopt;
    Explanation out;
    SchedOfJob found = sched_of_job(*impl_, job, now, out);
    if (found.sched != nullptr && found.policy != nullptr)
        if (SchedShares* shares = impl_->shares_of(*found.sched, *found.policy))
            out.shares = impl_->shares_of_job(*shares, out.sched, *found.sched, job, now);
    out.reason = std::move(found.why_not);
    if (!out.reason.empty()) {
        if (found.policy != nullptr)
            out.missed = missed_by_running(impl_->tables, found.policy->settings, job);
        return out;
    }
    SchedMemory memory = found.sched->memory;
    CycleInput input = input_of(*impl_, found, job, now, memory);
    input.explanation = &out;
    explain_job(input);
    return out;
}

Decisions Inspector::test_start(Instant now, JobHandle handle, std::span<const Place> places,
                                Explanation* explanation) {
    const JobSlot job = impl_->tables.jobs.find(handle);
    if (job == kNoSlot) return {};
    Explanation unused;
    Explanation& out = explanation != nullptr ? *explanation : unused;
    const SchedOfJob found = sched_of_job(*impl_, job, now, out);
    if (!found.why_not.empty()) {
        out.reason = found.why_not;
        Decisions refused;
        refused.memory = std::make_unique<std::pmr::monotonic_buffer_resource>();
        char* const kept = static_cast<char*>(refused.memory->allocate(out.reason.size(), 1));
        std::ranges::copy(out.reason, kept);
        refused.list.push_back({DecisionKind::comment, handle, {}, {kept, out.reason.size()}, {}, {}});
        return refused;
    }
    SchedMemory memory = found.sched->memory;
    CycleInput input = input_of(*impl_, found, job, now, memory);
    input.tests_start = true;
    impl_->tested_version = impl_->tables.vnodes.version();
    if (explanation == nullptr) return sched::test_start(input, job, places, nullptr);
    input.explanation = explanation;
    return explain_start(input, places);
}

std::optional<std::int64_t> Inspector::missed_preferences(JobHandle job,
                                                          std::span<const Place> places) const {
    const Tables& t = impl_->tables;
    const JobSlot slot = t.jobs.find(job);
    if (slot == kNoSlot) return std::nullopt;
    const std::vector<Preference>& preferences = t.requests[t.jobs.request[slot]].preferences;
    if (preferences.empty()) return std::nullopt;
    std::int64_t missed = 0;
    std::int64_t of_chunk = 0;  // of a chunk in pieces: the most that a piece misses
    for (const Place& place : places) {
        const VnodeSlot vnode = t.vnodes.find(place.vnode);
        if (!place.joined) {
            missed += of_chunk;
            of_chunk = 0;
        }
        if (vnode != kNoSlot) of_chunk = std::max(of_chunk, t.vnodes.missed(vnode, preferences));
    }
    return missed + of_chunk;
}

Decisions Scheduler::test_start(Instant now, JobHandle job, std::span<const Place> places,
                                Explanation* explanation) {
    return inspect().test_start(now, job, places, explanation);
}

bool Scheduler::test_takes_long(Instant now, JobHandle handle, bool searches) {
    // So many running jobs are counted in about a millisecond.
    constexpr std::size_t kFewJobs = 1000;
    settle();
    if (!impl_->looks_take_long()) return false;
    Tables& tables = impl_->tables;
    const JobSlot job = tables.jobs.find(handle);
    if (job == kNoSlot) return false;
    Explanation unused;
    const SchedOfJob found = sched_of_job(*impl_, job, now, unused);
    if (!found.why_not.empty()) return false;
    if (searches || tables.vnodes.version() != impl_->tested_version) return true;
    const Settings& settings = found.policy->settings;
    return std::ranges::any_of(settings.profile->filters, [&](const Filter* filter) {
        const OwnLimit* const limit = filter->own_limit;
        return limit != nullptr && limit->uncounted != nullptr &&
               (filter->wanted == nullptr || filter->wanted(settings, now)) &&
               limit->uncounted(settings, tables, *found.sched->memory.sums, now) > kFewJobs;
    });
}

}  // namespace pbs::sched
