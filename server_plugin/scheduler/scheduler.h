// The scheduler: events in, decisions out. It reads no clock and no file: every instant is an argument, and
// data to be written is handed back.
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
#include "server_plugin/scheduler/model/quota_use.h"
#include "server_plugin/scheduler/model/shares_view.h"
#include "server_plugin/scheduler/state/explanation.h"

namespace pbs::objects {
class Object;
class Snapshot;
}  // namespace pbs::objects

namespace pbs::sched {

struct Configuration;
struct StateRecord;

// The values that `list sched` shows.
struct Status {
    std::string policy;     // the policy in force; empty: none is assigned
    std::string algorithm;  // "origin" or "standard"
    bool prime_time = false;
    bool dedicated_time = false;
    std::optional<Instant> next_change;  // of the policy, of prime time or of dedicated time
    std::string next_policy;             // the policy in force then
    bool next_prime_time = false;
    bool next_dedicated_time = false;
};

// A scheduler that wants a cycle for the time it is.
struct DueSched {
    std::string name;
    bool policy_switched = false;  // because its policy switched: CycleTrigger::policy_switch
};

// The findings of tick().
struct TickResult {
    bool cycle_wanted = false;          // by any scheduler
    bool policy_switched = false;       // in any scheduler
    std::vector<DueSched> due;          // the schedulers that want a cycle
    std::vector<std::string> switched;  // a line for the log for each scheduler that switched
    bool usage_changed = false;         // take_usage_changes() has data to be written
};

// Changes of a scheduler's fair-share usage, to be written to the records of this scope.
struct ShareChanges {
    std::string scope;
    UsageChanges changes;
};

class Inspector;

class Scheduler {
  public:
    // `zone`: the server's, in which comments show times.
    explicit Scheduler(rrule::Zone zone);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    // Events. A record replaces the one known under its handle or name.
    void resource_defined(const ResourceRecord& record);
    // An error: a job_sort_formula that doesn't compile; schedulers with a sched_config file, for which it
    // would count, keep the one before. While the scheduler is at work, finish_work() returns the error.
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

    // Takes a new configuration, which is in force in the very next cycle. On an error (a formula that
    // doesn't compile, a window without a meaning) the old one stays.
    Result<void> set_configuration(std::shared_ptr<const objects::Snapshot> snapshot);
    // Takes a configuration from values (configuration.h), which were read from `snapshot` if there is one.
    Result<void> set_configuration(Configuration configuration,
                                   std::shared_ptr<const objects::Snapshot> snapshot = nullptr);

    // Are the files of the tz database that the configuration was read with, the server's zone's and those of
    // rules with a TZID, still the same? A stat() for each of them, once for each value of `now`.
    bool zones_are_current(Instant now);
    // Reads zones and configuration again; the next tick() finds the changes and wants a cycle of every
    // scheduler. On an error the old configuration stays.
    Result<void> renew_zones(std::shared_ptr<const objects::Snapshot> snapshot);
    const rrule::Zone& zone() const;

    // Sets the contents of a scheduler's sched_config file, as policy objects: it schedules by these while it
    // has no policy assigned (PP-748, interface 1), and the server's backfill_depth and job_sort_formula
    // count then. Without `prime` and `non_prime`, which may be null, all_time is in force throughout. In
    // force in the very next cycle. The scheduler needn't be known yet. On an error (a formula that doesn't
    // compile) the old contents stay.
    Result<void> set_sched_config(std::string_view sched, std::shared_ptr<const objects::Object> all_time,
                                  std::shared_ptr<const objects::Object> prime = nullptr,
                                  std::shared_ptr<const objects::Object> non_prime = nullptr);
    // Notes that the file is gone. Harmless if there was none.
    void clear_sched_config(std::string_view sched);

    // Runs one cycle of one scheduler. With an unknown scheduler, one whose `scheduling` is off, or one
    // without a policy there are no decisions. The same state and time give the same decisions. The state
    // changes only by the events that report the outcome of the decisions.
    Decisions cycle(Instant now, std::string_view sched, CycleTrigger trigger);

    // Long work runs in a thread of its own, one piece at a time, on the scheduler's state at its beginning.
    // Until finish_work() events and new configurations are kept, and status() answers as at the beginning;
    // every other function but those below waits for the thread, and the kept events are in force when it
    // returns. At the end of the thread, whatever happened, `finished` is called from there. It may not call
    // the scheduler, and neither may any other function called in the thread. The thread itself takes in the
    // events that were kept until then, so that finish_work() is short.
    //
    // Each function returns true if the work runs in its thread. False: the work is over, and `finished`
    // isn't called. In both cases finish_work() has to follow before anything else begins.
    //
    // Begins a cycle, as cycle() runs it; its decisions go to `take`. `before`, if given, first looks at the
    // state that the cycle decides by.
    bool start_cycle(Instant now, std::string_view sched, CycleTrigger trigger,
                     const std::function<void(Decisions)>& take, std::function<void()> finished,
                     const std::function<void(Inspector&)>& before = {});
    // Begins a look at the scheduler's state.
    bool start_look(Instant now, const std::function<void(Inspector&)>& look, std::function<void()> finished);
    // Is there work in a thread, or work whose end nothing has waited for?
    bool at_work() const;
    // Is the work done, so that finish_work() needn't wait?
    bool work_is_over() const;
    // Waits for the work. Throws an exception that the work or `take` threw in the thread. Returns lines for
    // the log: the refusals of kept events, also from earlier work that threw.
    std::vector<std::string> finish_work();
    // The number of queued jobs from which on a cycle takes long; a look does with a tenth of that in jobs
    // and vnodes. For tests; by default such a cycle takes some 15 ms, and such a look some milliseconds.
    void set_long_cycle(std::size_t queued_jobs);

    // Returns an Inspector for a look here and now. Valid until the next call of another function.
    Inspector inspect();

    // The functions of the Inspector.
    Decisions rehearse(Instant now, std::string_view sched, CycleTrigger trigger);
    void describe(const std::function<void(const StateRecord&)>& sink) const;
    std::optional<Explanation> explain(Instant now, std::string_view job_id);

    // Finds a place for one job that isn't running, as an operator wants it started (qrun): decides `run`, in
    // the job's queue; or `comment`, with the reason why there is no room for it now. Whether it is held, the
    // order, limits, times and whether `scheduling` is on don't matter. No decision: there is no such job.
    // Takes some milliseconds at most. `preempts`: if the policy preempts, the job is above all of its
    // levels, and decisions before `run` preempt the jobs that make room for it.
    Decisions place(Instant now, JobHandle job, bool preempts = false);

    // Takes one of the records that describe() hands out; the scheduler must have been told only the records
    // before it. Errors as those of server_changed(), set_configuration() and set_sched_config().
    Result<void> restore(const StateRecord& record);

    // The next instant at which tick() has work; Instant::max(): none.
    Instant next_deadline(Instant now);
    // Does the work that is due: policy switches, prime and dedicated time, windows of queues, decay.
    // Harmless when early.
    TickResult tick(Instant now);

    Status status(Instant now, std::string_view sched);

    // Questions of a rule of the policy in force to programs or files of the site, by the rule's name
    // (framework/questions.h); nothing while the policy doesn't go by it. The functions below take the
    // answers.
    std::vector<Question> questions(Instant now, std::string_view sched, std::string_view rule);

    // Notes that a DEDICATED_TIME_COMMAND was asked (the rule "dedicated_time", outages.h). Until its first
    // answer no job is started where the answer would matter.
    void await_outages(std::string_view command, std::string_view name);
    // Takes the answer (set_outages), or notes that there is none, so that the last answer stays
    // (settle_outages). True if that changes the decisions of a cycle.
    bool set_outages(std::string_view command, std::string_view name, std::vector<Outage> outages);
    bool settle_outages(std::string_view command, std::string_view name);

    // Takes a program's answer: its first line. Answers of "server_dyn_res" go by element, and an element
    // without one counts as not there; the answer of a rule that asks for one word goes by the rule's name.
    // True if jobs may start now that were refused.
    bool set_told(std::string_view element, std::string_view output);
    // Is the output an amount of the element's resource?
    bool is_amount(std::string_view element, std::string_view output) const;

    // Allocations of groups (allocations.h), the answers of "allocation", by directory as configured.
    void set_allocated(std::string_view dir, NodeHours groups);
    void set_used(std::string_view dir, NodeHours groups);

    // Records of jobs that ended, to be appended to the schedule logs of the schedulers. Take them after
    // events of jobs, and after finish_work() for events that were kept. Empty while no policy in force has a
    // log, and while the scheduler is at work.
    std::vector<ScheduleRecords> take_schedule();

    // Past usage: load once before the first event; take the changes after any call and write them.
    void load_usage(std::span<const UsageRow> rows, std::span<const ChargeRow> charges, Instant last_decay);
    UsageChanges take_usage_changes();
    bool has_usage_changes() const;
    // Keep changes? False for a host that doesn't write them.
    void keep_usage_changes(bool keep);
    std::vector<UsageRow> usage_rows() const;

    // Fair-share usage, handled like past usage, by scope: the fs_group, and the scheduler unless it is
    // `default`. Returns the scopes whose records are to be loaded, each once: ask after a change of
    // configuration or of schedulers. Until they are loaded usage counts from nothing.
    std::vector<std::string> shares_to_load();
    // Has all scopes loaded again, because more is stored than was written.
    void load_shares_again();
    void load_shares(std::string_view scope, std::span<const UsageRow> rows,
                     std::span<const ChargeRow> charges, Instant last_decay);
    std::vector<ShareChanges> take_share_changes();
    bool has_share_changes() const;
    static std::string share_scope(std::string_view sched, std::string_view group);
    // The fs_groups whose usage a scheduler keeps, by name.
    std::vector<std::string> share_groups(std::string_view sched) const;
    // Changes the usage of an fs_group as a manager wants; in force in the very next cycle. The changes to be
    // written are among the share changes. Errors: there is no such fs_group, or an entity isn't one of its
    // own; then nothing has changed.
    Result<void> change_shares(Instant now, std::string_view sched, std::string_view group,
                               const SharesChange& change);

    // The scheduler whose policy keeps past usage now; empty: none.
    std::string usage_keeper(Instant now);

    // Do cycles tell the expected starts of jobs that have reservations (top jobs, and those that a queue is
    // drained for)? Each is told once, and again when its instant or place changes or no start is expected
    // any more. The host by itself forgets the estimates of a job that is no longer queued. Off at first.
    void set_tell_estimates(bool on);

    // May a chunk be given in pieces from several vnodes of a host (Place::joined), by the standard
    // algorithm? Off for a host that takes each place for a chunk. On at first.
    void set_divide_chunks(bool on);
    bool divides_chunks() const;

    // Do cycles preempt jobs where the policy says so? Off for a host that can't. On at first.
    void set_preempt(bool on);
    bool preempts() const;

    // Do cycles decide about reservations that are asked for? Off for a host that has none. On at first.
    void set_answer_reservations(bool on);

    // Asks every filter about every job, also about jobs alike in all that filters read. For tests: the
    // decisions must not differ.
    void set_categories(bool on);

    // Do cycles after events of single jobs (job_new, job_ended) look only at the jobs that these could let
    // start, where the policy allows it (events_since.h)? Such a cycle starts the same jobs as one over all
    // jobs. Off, for tests: always look at all.
    void set_by_events(bool on);
    // The time after which such a cycle looks at all jobs anyway, for their comments: 5 minutes unless set.
    // For a host that doesn't show comments.
    void set_comment_interval(Seconds interval);

  private:
    friend class Inspector;
    struct Impl;
    // Waits for the work in the thread, and takes in the kept events.
    void settle() const;
    void take_in();
    void deliver_kept();
    bool start(Instant now, bool takes_long, const std::function<void()>& work,
               std::function<void()> finished);
    std::unique_ptr<Impl> impl_;
};

// A look into a scheduler without a trace in its state. Its maker has to keep everything else away from the
// scheduler meanwhile.
class Inspector {
  public:
    // Returns the decisions that Scheduler::cycle() would make, looking at every job. Takes as long as a
    // cycle.
    Decisions rehearse(Instant now, std::string_view sched, CycleTrigger trigger);

    // The whole state as records (record.h), in the order of StateRecord. Equal states give equal records.
    // Stops halfway once `give_up` is true.
    void describe(const std::function<void(const StateRecord&)>& sink,
                  const std::atomic<bool>* give_up = nullptr) const;

    // Explains why a job starts or waits in a cycle at `now`, without doing anything. Empty: there is no job
    // of that id. Takes as long as a cycle.
    std::optional<Explanation> explain(Instant now, std::string_view job_id);

    // The trees of shares that a scheduler keeps, by the name of their fs_group. Takes as long as a walk over
    // the elements, and for a user over all jobs.
    std::vector<SharesView> shares(const SharesAsked& asked);
    // The counters of the quotas of a scheduler's policy in force, of enabled quotas and others. Takes as
    // long as a walk over the running jobs.
    std::vector<QuotaUse> quotas(Instant now, std::string_view sched);
    // The entity of a job in one of the trees; empty: the scheduler has no such tree, or isn't the job's.
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
