// The scheduler: events in, decisions out. It reads no clock and no file: instants are arguments, and data to
// be written is returned.
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
#include "server_plugin/scheduler/model/tickets_view.h"
#include "server_plugin/scheduler/state/explanation.h"

namespace pbs::objects {
class Object;
class Snapshot;
}  // namespace pbs::objects

namespace pbs::sched {

struct Configuration;
struct ObjectRef;
struct StateRecord;

// The values that `list sched` shows.
struct Status {
    std::string policy;     // the policy in force; empty: none is assigned
    std::string algorithm;  // "origin" or "standard"
    bool prime_time = false;
    bool dedicated_time = false;
    std::optional<Instant> next_change;  // when the policy, prime time or dedicated time changes next
    std::string next_policy;             // the policy in force then
    bool next_prime_time = false;
    bool next_dedicated_time = false;
};

// A scheduler that wants a cycle now.
struct DueSched {
    std::string name;
    bool policy_switched = false;  // because its policy switched: CycleTrigger::policy_switch
};

// The results of tick().
struct TickResult {
    bool cycle_wanted = false;          // a scheduler wants a cycle
    bool policy_switched = false;       // the policy of a scheduler has switched
    std::vector<DueSched> due;          // the schedulers that want a cycle
    std::vector<std::string> switched;  // a line for the log for each scheduler that switched
    bool usage_changed = false;         // take_usage_changes() or take_share_changes() has data to be written
};

// Changes of a scheduler's fair-share usage, to be written under this scope.
struct ShareChanges {
    std::string scope;
    UsageChanges changes;
};

class Inspector;

class Scheduler {
  public:
    // `zone`: the server's time zone, for the times in comments.
    explicit Scheduler(rrule::Zone zone);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    // Events. A record replaces the last one with its handle or name.
    void resource_defined(const ResourceRecord& record);
    void resource_removed(std::string_view name);
    // Returns an error if job_sort_formula doesn't compile. Schedulers with a sched_config file, which use
    // the server's formula, then go on with the last one. While the scheduler is busy, finish_work() returns
    // the error.
    Result<void> server_changed(const ServerRecord& record);
    void sched_changed(const SchedRecord& record);
    void sched_removed(std::string_view name);
    void queue_changed(const QueueRecord& record);
    void queue_removed(QueueHandle queue);
    void vnode_changed(const VnodeRecord& record);
    void vnode_removed(VnodeHandle vnode);
    // `now` is needed when jobs start or end: for their past usage, and for the idle time of their queue.
    void job_changed(Instant now, const JobRecord& record);
    void job_removed(Instant now, JobHandle job);
    void reservation_changed(const ReservationRecord& record);
    void reservation_removed(ReservationHandle reservation);

    // Sets a new configuration, for the next cycle. After an error (a formula that doesn't compile, a window
    // without a meaning) the old one stays.
    Result<void> set_configuration(std::shared_ptr<const objects::Snapshot> snapshot);
    // Sets a configuration from values (configuration.h), which were read from `snapshot` if there is one.
    Result<void> set_configuration(Configuration configuration,
                                   std::shared_ptr<const objects::Snapshot> snapshot = nullptr);

    // Returns whether the files of the tz database, for the server's zone and those of rules with a TZID, are
    // unchanged since the configuration was read. Costs a stat() for each file, once for each value of `now`.
    bool zones_are_current(Instant now);
    // Reads zones and configuration again; the next tick() finds the differences and wants a cycle of every
    // scheduler. After an error the old configuration stays.
    Result<void> renew_zones(std::shared_ptr<const objects::Snapshot> snapshot);
    const rrule::Zone& zone() const;

    // Sets the contents of a scheduler's sched_config file, as policy objects, for the next cycle. The
    // scheduler uses them while it has no policy assigned (PP-748, interface 1); the server's backfill_depth
    // (interface 6) and job_sort_formula then count, too. If `prime` or `non_prime` is null, all_time is in
    // force instead. The scheduler needn't be known yet. After an error (a formula that doesn't compile) the
    // old contents stay.
    Result<void> set_sched_config(std::string_view sched, std::shared_ptr<const objects::Object> all_time,
                                  std::shared_ptr<const objects::Object> prime = nullptr,
                                  std::shared_ptr<const objects::Object> non_prime = nullptr);
    // Notes that the file is gone. Does nothing if there was none.
    void clear_sched_config(std::string_view sched);

    // Runs one cycle of one scheduler. There are no decisions if the scheduler is unknown, its `scheduling`
    // is off, or it has no policy. The same state and time give the same decisions. The state changes only by
    // the events that report the outcome of the decisions.
    Decisions cycle(Instant now, std::string_view sched, CycleTrigger trigger);

    // Long work runs in a thread, one piece at a time, on the scheduler's state at its beginning. Until
    // finish_work(), events and new configurations are stored for later, and status() answers as at the
    // beginning. All other functions, except zone() and those that say otherwise below, wait for the thread;
    // the stored events are in force when they return. When the thread ends, for whatever reason, it calls
    // `finished`. Neither `finished` nor any other function called in the thread may call the scheduler. The
    // thread itself applies the events stored until its end, so that finish_work() is short.
    //
    // start_cycle() and start_look() return true if the work runs in its thread. False: the work is over, and
    // `finished` isn't called. In both cases finish_work() has to follow before anything else begins.
    //
    // Begins a cycle like cycle(), and passes its decisions to `take`. `before`, if given, first reads the
    // state by which the cycle decides.
    bool start_cycle(Instant now, std::string_view sched, CycleTrigger trigger,
                     const std::function<void(Decisions)>& take, std::function<void()> finished,
                     const std::function<void(Inspector&)>& before = {});
    // Begins a query of the scheduler's state.
    bool start_look(Instant now, const std::function<void(Inspector&)>& look, std::function<void()> finished);
    // Returns whether there is work in a thread, or work for which finish_work() wasn't called yet. Doesn't
    // wait.
    bool at_work() const;
    // Returns whether the work is done, so that finish_work() needn't wait. Doesn't wait itself.
    bool work_is_over() const;
    // Waits for the work. Throws an exception that the work or `take` has thrown in the thread. Returns lines
    // for the log: refusals of stored events, also of earlier work that threw.
    std::vector<std::string> finish_work();
    // Sets the number of queued jobs from which on a cycle counts as long. A query counts as long from a
    // tenth of that in jobs and vnodes. For tests; by default a cycle of that size takes some 15 ms, and such
    // a query some milliseconds.
    void set_long_cycle(std::size_t queued_jobs);

    // Returns an Inspector for a query in this thread. Valid until the next call of another function.
    Inspector inspect();

    // Do the same as the functions of Inspector with these names.
    Decisions rehearse(Instant now, std::string_view sched, CycleTrigger trigger);
    void describe(const std::function<void(const StateRecord&)>& sink) const;
    std::optional<Explanation> explain(Instant now, std::string_view job_id);

    // Finds a place for one job that isn't running, because an operator wants it started (qrun). Decides
    // `run`, in the job's queue; or `comment`, with the reason why there is no place now. Ignores holds, the
    // order of jobs, limits, times and `scheduling`. Returns no decision if there is no such job. Takes some
    // milliseconds at most. `preempts`: if the policy preempts, the job has the highest level, and decisions
    // before `run` preempt jobs for it.
    Decisions place(Instant now, JobHandle job, bool preempts = false);

    // Returns whether Inspector::test_start() may take longer than some milliseconds: because it has to
    // search for a place (`searches`), or because vnodes or many running jobs have changed since the last
    // test.
    bool test_takes_long(Instant now, JobHandle job, bool searches);
    // Calls Inspector::test_start(), which is described there.
    Decisions test_start(Instant now, JobHandle job, std::span<const Place> places = {},
                         Explanation* explanation = nullptr);

    // Reads a record of describe(). REQUIRES: the scheduler has had only the records before it. Errors: those
    // of server_changed(), set_configuration() and set_sched_config().
    Result<void> restore(const StateRecord& record);

    // The next instant at which tick() has work; Instant::max(): none.
    Instant next_deadline(Instant now);
    // Does the work that is due: policy switches, prime and dedicated time, windows of queues, decay. A call
    // before the deadline does no harm.
    TickResult tick(Instant now);

    Status status(Instant now, std::string_view sched);

    // Returns the questions to programs or files of the site by a rule of the policy in force, which is given
    // by its name (framework/questions.h); empty if the policy doesn't use the rule. Pass the answers to the
    // functions below.
    std::vector<Question> questions(Instant now, std::string_view sched, std::string_view rule);

    // Notes that a DEDICATED_TIME_COMMAND was run (rule "dedicated_time", outages.h). Until its first answer,
    // no job starts that the answer could affect.
    void await_outages(std::string_view command, std::string_view name);
    // set_outages() stores the answer; settle_outages() notes that there is none, so the last answer remains
    // valid. True: the decisions of a cycle may differ now.
    bool set_outages(std::string_view command, std::string_view name, std::vector<Outage> outages);
    bool settle_outages(std::string_view command, std::string_view name);

    // Stores the first line of a program's answer. `element`: an element of server_dyn_res, which is ignored
    // until its first answer; or the name of a rule that needs one word. Returns true if refused jobs may
    // start now.
    bool set_told(std::string_view element, std::string_view output);
    // Returns whether the output is an amount of the element's resource.
    bool is_amount(std::string_view element, std::string_view output) const;

    // Store the answers for the rule "allocation": the allocations of groups (allocations.h). `dir`:
    // SCHED_ACCT_DIR, as in the policy.
    void set_allocated(std::string_view dir, NodeHours groups);
    void set_used(std::string_view dir, NodeHours groups);

    // Returns records of ended jobs, to be appended to the schedulers' schedule logs. Call it after events
    // about jobs, and after finish_work() for stored events. Empty if no policy in force has a log, and while
    // the scheduler is busy.
    std::vector<ScheduleRecords> take_schedule();

    // Past usage (SORT_BY_PAST_USAGE). Load it once before the first event; after any call, take the changes
    // and write them.
    void load_usage(std::span<const UsageRow> rows, std::span<const ChargeRow> charges, Instant last_decay);
    UsageChanges take_usage_changes();
    bool has_usage_changes() const;
    // Sets whether changes are stored for take_usage_changes(). Off for a host that doesn't write them.
    void keep_usage_changes(bool keep);
    std::vector<UsageRow> usage_rows() const;

    // Fair-share usage is loaded and stored like past usage, but for each scope: an fs_group, with the
    // scheduler's name unless that is `default`. Returns the scopes whose records have to be loaded, each
    // once. Call it after changes of the configuration or of schedulers. Until they are loaded, usage counts
    // from 0.
    std::vector<std::string> shares_to_load();
    // Makes shares_to_load() return all scopes again, because the store has got usage that the scheduler
    // didn't write.
    void load_shares_again();
    // `long_usage`: the stored long usage of entities, see FairShares::load_long_usage().
    void load_shares(std::string_view scope, std::span<const UsageRow> rows,
                     std::span<const ChargeRow> charges, Instant last_decay,
                     std::span<const UsageRow> long_usage = {});
    std::vector<ShareChanges> take_share_changes();
    bool has_share_changes() const;
    static std::string share_scope(std::string_view sched, std::string_view group);
    // The fs_groups whose usage a scheduler stores, by name.
    std::vector<std::string> share_groups(std::string_view sched) const;
    // Changes the usage of an fs_group for a manager, for the next cycle. take_share_changes() then has the
    // changes to write. Errors: there is no such fs_group, or an entity isn't in it; then nothing has
    // changed.
    Result<void> change_shares(Instant now, std::string_view sched, std::string_view group,
                               const SharesChange& change);

    // The scheduler whose policy counts past usage now; empty: none.
    std::string usage_keeper(Instant now);

    // Sets whether cycles decide estimates: the expected starts of jobs with reservations (top jobs, and jobs
    // for which a queue is drained). There is one decision for each job, and another when its instant or
    // place changes or no start is expected any more. The host itself forgets the estimates of jobs that
    // aren't queued any more. The default is off.
    void set_tell_estimates(bool on);

    // Sets whether the standard algorithm may give a chunk in pieces from several vnodes of a host
    // (Place::joined). Off for a host that treats each place as a chunk. The default is on.
    void set_divide_chunks(bool on);
    bool divides_chunks() const;

    // Sets whether cycles preempt jobs if the policy says so. Off for a host that can't. The default is on.
    void set_preempt(bool on);
    bool preempts() const;

    // Sets whether cycles weigh the processes of running jobs if the policy says so (DecisionKind::weigh). A
    // host that can't weigh them leaves this off. The default is off.
    void set_weigh(bool on);

    // Sets whether cycles decide about requested reservations. Off for a host without reservations. The
    // default is on.
    void set_answer_reservations(bool on);

    // Sets whether a filter answers only once for all jobs that no filter can distinguish (a category). The
    // default is on. Tests switch it off, to compare: then every filter is called for every job, and the
    // decisions must be the same.
    void set_categories(bool on);

    // Sets whether cycles after events of single jobs (job_new, job_ended) consider only the jobs that these
    // could let start, if the policy permits it (events_since.h). Such a cycle starts the same jobs as a
    // cycle over all jobs. Off, for tests: each cycle considers all jobs. The default is on.
    void set_by_events(bool on);
    // The time after which a cycle after events considers all jobs anyway, to renew their comments; 5 minutes
    // by default. A host that doesn't show comments sets a longer one.
    void set_comment_interval(Seconds interval);
    // Sets whether cycles decide about comments. Off for a host that shows none at present. Jobs that have
    // waited meanwhile get theirs in the next cycle over all jobs once it is on again. The default is on.
    void set_comments(bool on);

  private:
    friend class Inspector;
    struct Impl;
    // Waits for the work in the thread, and applies the stored events.
    void settle() const;
    void take_in();
    void deliver_kept();
    bool start(Instant now, bool takes_long, const std::function<void()>& work,
               std::function<void()> finished);
    std::unique_ptr<Impl> impl_;
};

// A query of a scheduler, which leaves its state unchanged. Nothing else may use the scheduler meanwhile.
class Inspector {
  public:
    // Returns the decisions that Scheduler::cycle() would make over all jobs. Takes as long as a cycle.
    Decisions rehearse(Instant now, std::string_view sched, CycleTrigger trigger);

    // Passes the whole state to `sink` as records (record.h), in an order in which Scheduler::restore() can
    // read them. Equal states give equal records. Stops halfway once `give_up` is true.
    void describe(const std::function<void(const StateRecord&)>& sink,
                  const std::atomic<bool>* give_up = nullptr) const;
    // Passes the record of one object to `sink`. Returns false if the object is gone, or is a configured
    // object, which configuration() has.
    bool describe_one(const ObjectRef& object, const std::function<void(const StateRecord&)>& sink) const;
    void describe_resources(const std::function<void(const StateRecord&)>& sink) const;
    // The configuration that is in force; null if it was set from values.
    std::shared_ptr<const objects::Snapshot> configuration() const;

    // Explains why a job starts or waits in a cycle at `now`, without doing anything. nullopt: there is no
    // job with the id. Takes as long as a cycle.
    std::optional<Explanation> explain(Instant now, std::string_view job_id);

    // Tests whether a job may start now, for a program that schedules by itself: by everything that decides
    // about this job alone, such as limits, quotas, windows and room; the order of jobs, and those that wait,
    // don't count. `places`: where it is to start; empty: the policy chooses. Decides `run` (with places only
    // if it has chosen them), or `comment` with the reason why the job may not start. No decision: there is
    // no such job. `explanation`: gets all answers, as explain() does, but neither the job's place in the
    // order nor other places and times; null: not wanted. Leaves the state unchanged.
    Decisions test_start(Instant now, JobHandle job, std::span<const Place> places = {},
                         Explanation* explanation = nullptr);

    // A scheduler's trees of shares, by the name of their fs_group. Takes as long as a walk over the
    // elements; for a user, over all jobs.
    std::vector<SharesView> shares(const SharesAsked& asked);
    // The tickets of a scheduler's jobs by its policy in force; `asked.group` isn't looked at. For a user,
    // the tickets of the user's jobs. O(n log n) for n jobs, apart from the games (tickets/game.h).
    TicketsView tickets(const SharesAsked& asked);
    // The counters of the quotas of a scheduler's policy in force, of enabled quotas and others. Takes as
    // long as a walk over the running jobs. `with_jobs`: also lists the jobs that count in each counter or
    // will count there, which takes as long as a walk over all jobs. `user`: only counters that are for this
    // user.
    std::vector<QuotaUse> quotas(Instant now, std::string_view sched, bool with_jobs = false,
                                 std::optional<std::string_view> user = {});
    // Returns how many preferences (the resource `prefer`) these places of a job miss, summed over its
    // chunks. Preferences for amounts look at the amounts that are free now. nullopt: the job has no
    // preferences, or isn't known.
    std::optional<std::int64_t> missed_preferences(JobHandle job, std::span<const Place> places) const;
    // Returns the name of a job's entity in a tree of shares; nullopt: the scheduler has no such tree, or
    // doesn't schedule the job.
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
