// The scheduler: events in, decisions out. It reads no clock and no file: every instant is an argument, and
// what is to be written is handed back.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/zone.h"
#include "server_plugin/scheduler/model/allocations.h"
#include "server_plugin/scheduler/model/decisions.h"
#include "server_plugin/scheduler/model/error.h"
#include "server_plugin/scheduler/model/outage_list.h"
#include "server_plugin/scheduler/model/past_usage.h"
#include "server_plugin/scheduler/model/question.h"
#include "server_plugin/scheduler/model/shares_view.h"
#include "server_plugin/scheduler/state/explanation.h"

namespace pbs::objects {
class Object;
class Snapshot;
}  // namespace pbs::objects

namespace pbs::sched {

struct Configuration;
struct StateRecord;

// What `list sched` shows.
struct Status {
    std::string policy;     // the policy that decides now; empty: none is assigned
    std::string algorithm;  // "origin" or "standard"
    bool prime_time = false;
    bool dedicated_time = false;
    std::optional<Instant> next_change;  // of the policy, of prime time or of dedicated time
    std::string next_policy;             // in force then
    bool next_prime_time = false;
    bool next_dedicated_time = false;
};

// A scheduler that wants a cycle for the time it is.
struct DueSched {
    std::string name;
    bool policy_switched = false;  // because of it: CycleTrigger::policy_switch
};

// What tick() found to do.
struct TickResult {
    bool cycle_wanted = false;          // of any scheduler
    bool policy_switched = false;       // of any scheduler
    std::vector<DueSched> due;          // the schedulers that want a cycle
    std::vector<std::string> switched;  // a line for the log for each scheduler that switched
    bool usage_changed = false;         // take_usage_changes() has something to be written
};

// What changed of a scheduler's fair-share usage, to be written to the records of this scope.
struct ShareChanges {
    std::string scope;
    UsageChanges changes;
};

class Inspector;

class Scheduler {
  public:
    // `zone` is the server's: comments show its times.
    explicit Scheduler(rrule::Zone zone);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    // Events. A record replaces what was known under its handle or name.
    void resource_defined(const ResourceRecord& record);
    // An error: a job_sort_formula that doesn't compile; schedulers with a sched_config file, for which it
    // would count, keep the one before. While it is at work finish_work() tells it.
    Result<void> server_changed(const ServerRecord& record);
    void sched_changed(const SchedRecord& record);
    void sched_removed(std::string_view name);
    void queue_changed(const QueueRecord& record);
    void queue_removed(QueueHandle queue);
    void vnode_changed(const VnodeRecord& record);
    void vnode_removed(VnodeHandle vnode);
    // `now` matters for jobs that start or stop running: their past usage and the idle time of their queue.
    void job_changed(Instant now, const JobRecord& record);
    void job_removed(Instant now, JobHandle job);
    void reservation_changed(const ReservationRecord& record);
    void reservation_removed(ReservationHandle reservation);

    // Takes a new configuration; in force in the very next cycle. On an error (a formula that doesn't
    // compile, a window without a meaning) the old one stays.
    Result<void> set_configuration(std::shared_ptr<const objects::Snapshot> snapshot);
    // The same from values (configuration.h), that were read from `snapshot` if there is one.
    Result<void> set_configuration(Configuration configuration,
                                   std::shared_ptr<const objects::Snapshot> snapshot = nullptr);

    // Whether the files of the tz database that the configuration was read with, the server's zone's and
    // those of rules with a TZID, are still the same. A stat() for each of them, once for each value of
    // `now`.
    bool zones_are_current(Instant now);
    // Reads zones and configuration again; what that changes is found by the next tick(), which wants a cycle
    // of every scheduler. On an error the old configuration stays.
    Result<void> renew_zones(std::shared_ptr<const objects::Snapshot> snapshot);
    const rrule::Zone& zone() const;

    // What a scheduler's sched_config file says, as policy objects: by these it schedules while it has no
    // policy assigned (PP-748, interface 1), and the server's backfill_depth and job_sort_formula count then.
    // `prime` and `non_prime` may be null: all_time is in force then as well. In force in the very next
    // cycle. The scheduler may be one that isn't known yet. On an error (a formula that doesn't compile) what
    // was set before stays.
    Result<void> set_sched_config(std::string_view sched, std::shared_ptr<const objects::Object> all_time,
                                  std::shared_ptr<const objects::Object> prime = nullptr,
                                  std::shared_ptr<const objects::Object> non_prime = nullptr);
    // There is no such file any more. Harmless if there was none.
    void clear_sched_config(std::string_view sched);

    // Runs one cycle of one scheduler. With an unknown scheduler, one whose `scheduling` is off, or one
    // without a policy there are no decisions. The same state and time give the same decisions. The state
    // changes only by the events that tell what came of the decisions.
    Decisions cycle(Instant now, std::string_view sched, CycleTrigger trigger);

    // What takes long runs in a thread of its own, one thing at a time, on what the scheduler knows when it
    // begins. Until finish_work() events and new configurations are kept, and status() answers as at the
    // begin; every other function but those below waits for the thread, and what was kept is in force when it
    // returns. At the end of the thread, whatever happened, `finished` is called from there. It may not call
    // the scheduler, and neither may what else is called in the thread. What was kept until then the thread
    // takes in itself, so that finish_work() is short.
    //
    // Each gives true if it runs in its thread. False: it is over, and `finished` isn't called. In both cases
    // finish_work() is to follow before anything else begins.
    //
    // A cycle as cycle() runs it; what it decided goes to `take`. With `before`, that looks at what the cycle
    // decides by, first.
    bool start_cycle(Instant now, std::string_view sched, CycleTrigger trigger,
                     const std::function<void(Decisions)>& take, std::function<void()> finished,
                     const std::function<void(Inspector&)>& before = {});
    // A look at what the scheduler knows.
    bool start_look(Instant now, const std::function<void(Inspector&)>& look, std::function<void()> finished);
    // Is there something in a thread, or something whose end nothing has waited for?
    bool at_work() const;
    // Is it done, so that finish_work() needn't wait?
    bool work_is_over() const;
    // Waits for it. What it or `take` threw in the thread is thrown here. What is refused of what was kept,
    // also for earlier work that threw: lines for the log.
    std::vector<std::string> finish_work();
    // With how many queued jobs a cycle takes long; a look does with a tenth of that in jobs and vnodes. For
    // tests; by default a cycle with so many takes some 15 ms, and a look some milliseconds.
    void set_long_cycle(std::size_t queued_jobs);

    // Here and now, for a look that is taken on the spot. Good until the next call of another function.
    Inspector inspect();

    // As those of the Inspector.
    Decisions rehearse(Instant now, std::string_view sched, CycleTrigger trigger);
    void describe(const std::function<void(const StateRecord&)>& sink) const;
    std::optional<Explanation> explain(Instant now, std::string_view job_id);

    // A place for one job that isn't running, as an operator wants it started (qrun): `run`, in the queue
    // that it is in; or `comment`, why there is no room for it now. Whether it is held, the order, limits,
    // times and whether `scheduling` is on don't matter. No decision: there is no such job. Takes some
    // milliseconds at most. `preempts`: if the policy preempts, the job is above all of its levels, and what
    // makes room for it is preempted by decisions before that to run.
    Decisions place(Instant now, JobHandle job, bool preempts = false);

    // Takes one record of those that describe() hands out; for a scheduler that was told nothing but the
    // records before it. Errors as those of server_changed(), set_configuration() and set_sched_config().
    Result<void> restore(const StateRecord& record);

    // The next instant at which tick() has something to do; Instant::max(): none.
    Instant next_deadline(Instant now);
    // Does what is due: policy switches, prime and dedicated time, windows of queues, decay. Harmless when
    // early.
    TickResult tick(Instant now);

    Status status(Instant now, std::string_view sched);

    // What a rule of the policy in force wants to know of programs or files of the site, by the rule's name
    // (framework/questions.h); nothing while the policy doesn't go by it. The answers are told by what
    // follows here.
    std::vector<Question> questions(Instant now, std::string_view sched, std::string_view rule);

    // Dedicated times that a DEDICATED_TIME_COMMAND tells (outages.h), the answers of "dedicated_time". A
    // question was asked; until the first answer to it no job is started where it would matter.
    void await_outages(std::string_view command, std::string_view name);
    // Its answer; or there is none, and what was known stays. True if that changes what a cycle decides.
    bool set_outages(std::string_view command, std::string_view name, std::vector<Outage> outages);
    bool settle_outages(std::string_view command, std::string_view name);

    // What a program told: its first line. The answers of "server_dyn_res", by element, where one of which
    // nothing was told yet counts as not there; and those of a rule that goes by one word, by its name. True
    // if that may let jobs start that were refused.
    bool set_told(std::string_view element, std::string_view output);
    // Does it tell an amount of its resource?
    bool is_amount(std::string_view element, std::string_view output) const;

    // Allocations of groups (allocations.h), the answers of "allocation", by directory as configured.
    void set_allocated(std::string_view dir, NodeHours groups);
    void set_used(std::string_view dir, NodeHours groups);

    // Records of jobs that ended, to be appended to the schedule logs of the schedulers; to be taken after
    // events of jobs, and after finish_work() for those that were kept. Empty while no policy in force has a
    // log, and while it is at work.
    std::vector<ScheduleRecords> take_schedule();

    // Past usage: load once before the first event; take the changes after any call and write them.
    void load_usage(std::span<const UsageRow> rows, std::span<const ChargeRow> charges, Instant last_decay);
    UsageChanges take_usage_changes();
    bool has_usage_changes() const;
    // For a host that doesn't write them: false, and none are kept for it.
    void keep_usage_changes(bool keep);
    std::vector<UsageRow> usage_rows() const;

    // Fair-share usage, in the same way, by scope: the fs_group, and the scheduler unless it is `default`.
    // Scopes whose records are to be loaded, each named once: to be asked for after a change of configuration
    // or of schedulers. Until they are loaded usage counts from nothing.
    std::vector<std::string> shares_to_load();
    // Of all of them: what is stored is more than was written.
    void load_shares_again();
    void load_shares(std::string_view scope, std::span<const UsageRow> rows,
                     std::span<const ChargeRow> charges, Instant last_decay);
    std::vector<ShareChanges> take_share_changes();
    bool has_share_changes() const;
    static std::string share_scope(std::string_view sched, std::string_view group);
    // The fs_groups whose usage a scheduler keeps, by name.
    std::vector<std::string> share_groups(std::string_view sched) const;
    // Changes the usage of one of them, as a manager says; in force in the very next cycle. What is to be
    // written is among the share changes. Errors: there is no such fs_group, or an entity isn't one of its
    // own; then nothing has changed.
    Result<void> change_shares(Instant now, std::string_view sched, std::string_view group,
                               const SharesChange& change);

    // The scheduler whose policy keeps past usage now; empty: none.
    std::string usage_keeper(Instant now);

    // Whether cycles tell when the jobs are expected to start that they keep a place for (top jobs, and those
    // that a queue is drained for): each once, and again when it is another instant or place, or none any
    // more. The host forgets by itself what it was told of a job that is no longer queued. Off at first.
    void set_tell_estimates(bool on);

    // Whether a chunk may be given in pieces of several vnodes of a host (Place::joined), by the standard
    // algorithm; off for a host that takes each place for a chunk. On at first.
    void set_divide_chunks(bool on);
    bool divides_chunks() const;

    // Whether cycles preempt jobs where the policy says so; off for a host that can't. On at first.
    void set_preempt(bool on);
    bool preempts() const;

    // Whether cycles decide about reservations that are asked for; off for a host that has none. On at first.
    void set_answer_reservations(bool on);

    // Asks every filter about every job, also about jobs alike in all that filters read. For tests: the
    // decisions must not differ.
    void set_categories(bool on);

    // A cycle after events that concern single jobs (job_new, job_ended) looks only at the jobs that these
    // could let start, where the policy allows (events_since.h); it starts the same jobs as a cycle over all
    // of them. For tests: always look at all.
    void set_by_events(bool on);
    // How often such a cycle looks at all jobs in any case, for their comments: every 5 minutes, unless it is
    // set. For a host that doesn't show them.
    void set_comment_interval(Seconds interval);

  private:
    friend class Inspector;
    struct Impl;
    // Waits for what is at work, and takes in what was kept.
    void settle() const;
    void take_in();
    void deliver_kept();
    bool start(Instant now, bool takes_long, const std::function<void()>& work,
               std::function<void()> finished);
    std::unique_ptr<Impl> impl_;
};

// What can be found out of a scheduler without a trace in its state. Its maker sees to it that nothing else
// happens to the scheduler meanwhile.
class Inspector {
  public:
    // What Scheduler::cycle() would decide, looking at every job. Takes as long as a cycle.
    Decisions rehearse(Instant now, std::string_view sched, CycleTrigger trigger);

    // The whole state as records (record.h), in the order of StateRecord. Equal states give equal records.
    // Stops halfway once `give_up` is true.
    void describe(const std::function<void(const StateRecord&)>& sink,
                  const std::atomic<bool>* give_up = nullptr) const;

    // Why a job starts or waits in a cycle at `now`: what such a cycle would do, without doing it. Empty:
    // there is no job of that id. Takes as long as a cycle.
    std::optional<Explanation> explain(Instant now, std::string_view job_id);

    // The trees of shares that a scheduler keeps, by the name of their fs_group. Takes as long as to look at
    // each element, and for a user at each job.
    std::vector<SharesView> shares(const SharesAsked& asked);
    // Which entity of one of them a job is of; nothing: the scheduler has no such tree, or isn't the job's.
    std::optional<std::string> share_entity(std::string_view sched, std::string_view group, JobHandle job);

    const rrule::Zone& zone() const;
    bool divides_chunks() const;
    bool preempts() const;

  private:
    friend class Scheduler;
    explicit Inspector(Scheduler::Impl& impl) : impl_(&impl) {}
    Scheduler::Impl* impl_;
};

}  // namespace pbs::sched
