// The private class of Scheduler, for its source files: configuration.cc (the policy in force), clock.cc
// (instants with work), object_events.cc and job_events.cc (events), told.cc (facts from commands),
// shares.cc, scheduler.cc (cycles), background.cc (cycles in a thread), explain_job.cc and record.cc
// (queries).
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server_plugin/scheduler/framework/cycle.h"
#include "server_plugin/scheduler/framework/sched_config.h"
#include "server_plugin/scheduler/framework/shares.h"
#include "server_plugin/scheduler/kept_events.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::sched {

inline constexpr std::string_view kDefaultSched = "default";

struct Sched {
    bool scheduling = true;
    std::uint32_t partition = 0;
    SchedMemory memory;
    EventMemory events;
    std::map<std::string, SchedShares, std::less<>> shares;  // by fs_group
    std::string policy;                                      // the policy in force at the last tick
    // At its last tick the scheduler wanted a cycle only because instants named by refusals were reached. The
    // next cycle then considers only jobs that events concern.
    bool woken_for_instants = false;
    // The last result of boundary_after(), and the policy in force until then. Valid from `from` until
    // `boundary`, as long as nothing but jobs changes (EventsSince::times_all).
    struct Until {
        std::uint64_t times_all = UINT64_MAX;
        Instant from{};
        std::optional<Instant> boundary;
        Policy* policy = nullptr;
    };
    Until until;
    bool is_known(Instant t) const {
        return until.times_all == events.since.times_all && t >= until.from &&
               (!until.boundary || t < *until.boundary);
    }
};

// A cycle or a query in a thread (start_cycle(), start_look()). The thread has the rest of the Impl
// exclusively until it is joined.
struct Background {
    bool runs = false;
    std::atomic<bool> over = false;  // the thread has nothing left to do
    std::exception_ptr thrown;
    // The thread's id, once it has done its work and applies stored events.
    std::atomic<std::thread::id> takes_in;
    KeptEvents events;
    std::vector<std::string> refused;                   // lines for refused events
    std::map<std::string, Status, std::less<>> status;  // as of the beginning of the work
    std::jthread thread;                                // the last member: joined before the others go
};

struct Scheduler::Impl {
    explicit Impl(rrule::Zone zone) : tables(std::move(zone)) {}

    Tables tables;
    rrule::WindowCache window_cache;
    Configuration configuration;
    // The snapshot of the configuration; null: it was set from values.
    std::shared_ptr<const objects::Snapshot> snapshot;
    std::map<std::string, Policy, std::less<>> policies;
    std::map<std::string, Sched, std::less<>> scheds;
    SchedConfigs sched_configs;
    std::string server_formula;  // the server's job_sort_formula
    std::optional<Instant> last_tick;
    std::optional<Instant> zones_checked;
    bool zones_current = true;
    // The clock was set back, or zones have changed, since the last tick: the next one finds the differences.
    bool look_again = false;
    bool categories = true;
    bool by_events = true;
    bool answers_reservations = true;
    Seconds comment_interval = std::chrono::minutes(5);
    bool comments = true;
    std::vector<ShareChanges> left_shares;      // changes of fs_groups that no policy names; not taken yet
    std::vector<ScheduleRecords> schedule;      // records of ended jobs; not taken yet
    std::size_t long_cycle = 20'000;            // a cycle with so many queued jobs runs in a thread
    bool loads_changed = false;                 // a load of a vnode has changed since the last tick
    std::uint64_t tested_version = UINT64_MAX;  // Vnodes::version() at the last test_start()
    std::vector<std::uint32_t> partitions;      // the last result of served()

    Policy* policy(std::string_view name) {
        const auto found = policies.find(name);
        return found == policies.end() ? nullptr : &found->second;
    }
    Assigned assigned(std::string_view sched);
    Policy* active_policy(std::string_view sched, Instant now);
    Policy* active_policy(std::string_view name, const Sched& sched, Instant now) {
        return sched.is_known(now) ? sched.until.policy : active_policy(name, now);
    }
    SchedConfigs::Context file_context() const { return {configuration, tables.zone, server_formula}; }
    void note_policies_in_force();
    void watch_from(Instant now);
    Policy* policy_of_queue(QueueSlot queue, Instant now);
    const rrule::WindowSet& prime_windows(const Policy* policy) const {
        return configuration.prime.empty() && policy != nullptr ? policy->settings.prime
                                                                : configuration.prime;
    }
    Policy* usage_policy(Instant now);
    std::string_view usage_keeper(Instant now);  // the scheduler that sorts by past usage; empty: none
    bool serves(std::string_view name, const Sched& sched, std::uint32_t partition) const {
        return sched.partition == partition && (partition != 0 || name == kDefaultSched);
    }
    std::span<const std::uint32_t> served();
    std::optional<Instant> boundary_after(std::string_view name, Sched& sched, Instant t);
    static std::optional<Instant> named_after(const Sched& sched, Instant t);
    void fill_job(JobSlot slot, const JobRecord& record);
    // Sets the hours of a queue by the configuration.
    void set_hours(Queue& queue) const;
    void resources_changed();
    void set_limits(EntityLimits& limits, std::uint32_t scope, std::span<const EntityLimitRecord> records);
    void tell_projects_apart();
    void list(JobSlot slot);
    void take_off(JobSlot slot);
    void forget_pending(JobSlot slot);
    // Notes an event in every scheduler's memory.
    template <class... Args>
    void note(void (EventsSince::*event)(Args...), std::type_identity_t<Args>... args) {
        for (auto& [name, sched] : scheds) (sched.events.since.*event)(args...);
    }
    bool only_events_since(Sched& sched, std::string_view name, Instant now);
    void forget_kept() {
        for (auto& [name, sched] : scheds) {
            sched.events.kept.clear();
            sched.events.tops.clear();
            sched.events.schedule.forget();
        }
    }
    // Update the data that cycles store: note_start() when a job has started and holds its places, note_end()
    // when it ends and still holds them.
    void note_start(JobSlot slot) {
        for (auto& [name, sched] : scheds) {
            for (KeptReservation& kept : sched.events.kept) kept.started(tables, slot);
            sched.events.tops.started(tables, slot);
            sched.events.started.erase(tables.jobs.handle[slot]);
            sched.events.schedule.started(slot);
        }
    }
    void note_end(JobSlot slot, Instant now) {
        for (auto& [name, sched] : scheds) {
            std::vector<KeptReservation>& kept = sched.events.kept;
            if (kept.size() > 1) kept.resize(1);  // see KeptReservation::ended()
            if (!kept.empty()) kept.front().ended(tables, slot);
            sched.events.tops.ended(tables, slot, now);
            sched.events.schedule.ended(slot);
        }
    }
    // Runs a cycle. A rehearsal considers all jobs, and doesn't change the memory of events.
    Decisions run(Instant now, std::string_view sched, CycleTrigger trigger, bool rehearsal);
    // In shares.cc: the fs_groups of schedulers by the configuration, and their usage.
    void renew_shares();
    SchedShares* shares_of(Sched& sched, const Policy& policy);
    template <class Act>
    void each_shares_of(JobSlot slot, const Act& act);
    void share_job(JobSlot slot, Instant now);
    void unshare_job(JobSlot slot, Instant now, bool goes_on = false);
    void leave_shares(std::string_view name, Sched& sched, const std::map<std::string, bool>& named);
    void enroll_all();
    void enroll(SchedShares& shares, std::string_view name, const Sched& sched);
    void each_scope(
        const std::function<void(const std::string& scope, const SchedShares& shares)>& act) const;
    template <class Act>
    void each_job_of(std::string_view name, const Sched& sched, const Act& act) const;
    SharesView view_of(SchedShares& shares, std::string_view name, const Sched& sched,
                       const SharesAsked& asked);
    EntityShares shares_of_job(SchedShares& shares, std::string_view name, const Sched& sched, JobSlot job,
                               Instant now);
    void started_running(Instant now, JobSlot slot);
    void ended_running(Instant now, JobSlot slot);
    void log_end(Instant now, JobSlot slot);
    void decay(Instant now, const Settings& settings);
    std::size_t queued_jobs() const;
    bool looks_take_long() const {
        return (tables.jobs.by_handle.size() + tables.vnodes.size()) * 10 >= long_cycle ||
               subjobs_take_long() ||
               std::ranges::any_of(policies, [&](const auto& one) { return quotas_take_long(one.second); });
    }
    // Returns whether a cycle takes so long that it needs a thread.
    bool cycle_takes_long(std::string_view sched, Instant now) {
        // Each search for a place may look at all vnodes: jobs times vnodes; some 50 ms with per_host.
        constexpr std::size_t kLongSearches = 100'000;
        const std::size_t queued = queued_jobs();
        if (queued >= long_cycle || queued * tables.vnodes.size() >= kLongSearches || subjobs_take_long())
            return true;
        const Policy* policy = active_policy(sched, now);
        return policy != nullptr &&
               (quotas_take_long(*policy) || top_jobs_take_long(*policy, queued) ||
                estimates_take_long(*policy, queued) || weights_take_long(*policy, queued) ||
                formula_takes_long(*policy, queued));
    }
    // Returns whether subjobs that start together take so long that cycles and look-aheads need a thread:
    // they are placed one beside the other, at several instants in a look-ahead.
    bool subjobs_take_long() const {
        const auto together = static_cast<std::size_t>(tables.waiting_together);
        return together > 0 && together * 100 >= long_cycle;
    }
    // Returns whether it takes long to match the vnodes with the patterns of the policy's quotas.
    bool quotas_take_long(const Policy& policy) const {
        constexpr std::size_t kLongMatching = 100'000;  // patterns times vnodes; some 30 ms
        std::size_t patterns = 0;
        for (const auto& quota : policy.settings.quotas) patterns += quota->vnode_patterns;
        return patterns * tables.vnodes.size() >= kLongMatching;
    }
    // Returns whether the look-aheads of top jobs take long: each looks at the vnodes for each change of what
    // is free.
    bool top_jobs_take_long(const Policy& policy, std::size_t queued) const {
        constexpr std::size_t kLongTopJobs = 5'000;  // top jobs times vnodes; some 50 ms with many chunks
        const auto top = static_cast<std::size_t>(std::max<std::int64_t>(policy.settings.backfill_depth, 1));
        return std::min(top, queued) * tables.vnodes.size() >= kLongTopJobs;
    }
    // Returns whether the estimates take long: a look-ahead, which searches for a job's later start, takes as
    // long as considering a hundred jobs.
    bool estimates_take_long(const Policy& policy, std::size_t queued) const {
        const auto most = static_cast<std::size_t>(policy.settings.estimate_depth);
        return tables.estimates.on && std::min(most, queued) * 100 >= long_cycle;
    }
    // Returns whether the weights of running jobs (reprioritize) take long: they go by the tickets of all
    // jobs, also of those that run.
    bool weights_take_long(const Policy& policy, std::size_t queued) const {
        return tables.weighs && policy.settings.reprioritize &&
               queued + static_cast<std::size_t>(tables.running) >= long_cycle;
    }
    // Returns whether job_sort_formula takes long for all jobs: considering a job takes as long as a hundred
    // operations of a formula.
    bool formula_takes_long(const Policy& policy, std::size_t queued) const {
        return policy.formula && queued * policy.formula->operations() >= long_cycle * 100;
    }
    // Returns whether the scheduler works in a thread other than this one.
    bool works_elsewhere() const {
        return background.takes_in.load() != std::this_thread::get_id() && background.runs;
    }
    // Stores the event if the scheduler is busy. False: it isn't, so apply the event.
    template <class Record>
    bool keep(const Record& record) {
        if (!works_elsewhere()) return false;
        background.events.keep(record);
        return true;
    }

    Background background;  // the last member, because its thread uses the others
};

}  // namespace pbs::sched
