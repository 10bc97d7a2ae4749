// The plugin as the scheduler of an OpenPBS server: registers as the scheduler of those scheduler objects
// whose policies the plugin carries out, reports the server's changes to the plugin, and carries out the
// decisions of the plugin's cycles.
//
// Scheduling is a state machine that never waits: step() does all that can be done at the moment. For one
// scheduler at a time it
//
//   1. queries the server for changes since the last time: the states of vnodes and their `sharing`, queues,
//      and the jobs whose mtime has changed. Jobs that are gone can be seen only in the server's counts: if a
//      queue has fewer running or fewer waiting jobs than are known here, the ids of these jobs are queried,
//      and then the jobs that are missing, by their ids. At the start, and later at long intervals as a
//      check, it queries everything; the check counts the changes that had been missed (model_checks);
//   2. has the plugin decide, in a thread of the plugin if that takes long;
//   3. carries the decisions out, with at most 64 requests unanswered at a time. If the server had commanded
//      the cycle, reports the cycle's end to the server.
//
// A cycle is begun by a command of the server, by a change that the shim has noticed, by the time, or by a
// query that finds a change which no command reported. Such queries are made every few seconds, and one
// second after the last request that altered a job.
//
// While a program of the site schedules (algorithm = external, external_program = ifl), a cycle makes its
// queries alone, and the program asks for the changes that they find (programs.h). The query after a request
// that altered a job then follows within a tenth of a second.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server_plugin/client/registrations.h"
#include "server_plugin/openpbs/plugin.h"
#include "server_plugin/openpbs/server_client.h"
#include "server_plugin/openpbs/settings.h"
#include "server_plugin/openpbs/site.h"
#include "server_plugin/openpbs/untold.h"

namespace pbs::openpbs {

class Scheduling {
  public:
    using Clock = std::chrono::steady_clock;

    // `site`: the server's objects as the plugin knows them. `plugin` and `site` have to outlive this object.
    Scheduling(Plugin& plugin, Site& site, std::function<void(const std::string&)> log);
    ~Scheduling();
    Scheduling(const Scheduling&) = delete;
    Scheduling& operator=(const Scheduling&) = delete;

    // Does all that can be done at the moment.
    void step();
    void poll_for(std::vector<pollfd>& set) const;
    // Returns the longest time, in milliseconds, before step() must be called even if no descriptor is ready.
    int patience() const;

    // Notes that a request has changed objects of this type (enum pbs_object_type).
    void noticed(std::uint32_t object_type);
    // Notes that the plugin's configuration has changed.
    void configured();
    // Returns the number of cycles that have been decided or have failed.
    std::uint64_t cycles() const { return cycles_; }
    // Notes that the plugin's thread has finished the cycle.
    void cycle_finished();
    // Notes for which schedulers the plugin wants a cycle. Call this after a tick of the plugin.
    void look_at_wanted();
    // Makes one query of the server's jobs after `since`, because the server tells a scheduler nothing about
    // new held jobs. Returns true if the query is done, or can't be made now.
    bool look_after(Clock::time_point since);

    // Returns whether the plugin registers as this scheduler: its policy doesn't leave the jobs to pbs_sched.
    bool is_own(const std::string& sched) const;
    // Returns whether the records have all of the server's objects. They don't while the plugin isn't
    // registered as any scheduler.
    bool knows() const { return known_; }
    // The programs of the site that have registered.
    client::Registrations& registrations() { return registrations_; }
    // Returns whether decisions about starts are being made or carried out.
    bool decides() const {
        return phase_ != Phase::idle && phase_ != Phase::learning && phase_ != Phase::checking;
    }
    // Notes that the server is about to run a job at a place, at the request of a program. Until handled()
    // or not_started(), queries may still describe the job as waiting.
    void starts(const Decision& decision);
    // Notes that the server has carried starts() out, or may have. A query under way may not show that yet;
    // one that follows soon shows how the job is.
    void handled(const std::string& job);
    // Takes starts() back, because the server has refused to run the job or may not have run it. `before`:
    // the job, or its array, before starts().
    void not_started(const std::string& job, const Job& before);
    // Copies the settings that managers have changed at the server into the policies, before the next cycle.
    void take_over(const Site& before, const Site& after);
    // Returns the attributes about the scheduler that `list sched` shows.
    ifl::Attributes shown(const std::string& sched) const;
    // Adds to unsupported_settings a line for each attribute of the scheduler that only pbs_sched acts on.
    void show_not_acted_on(const std::string& sched, ifl::Attributes& attributes) const;

  private:
    // The data of a scheduler object that are kept from run to run. Its connection is absent, being made,
    // registered, or closed and due to be made again.
    struct Session {
        std::unique_ptr<ServerClient> client;
        Clock::time_point next_try{};
        std::string why;       // why the scheduler isn't registered; empty: it is, or wasn't tried yet
        std::string logged;    // the last `why` that was logged
        int wanted = 0;        // the trigger of a cycle that is wanted; 0: none is wanted
        bool goes_on = false;  // the last cycle left work for another one
        bool command = false;  // the server has commanded a cycle and waits for its end
        std::deque<std::string> qruns;
        std::set<std::string> lacking{};  // names of attributes whose folders didn't exist when they were set
        // attr_update_period: the least time between two updates of waiting jobs' comments and estimates.
        std::int64_t period = 0;   // value in the last cycle, in seconds
        std::int64_t told_at = 0;  // time of the last update; 0: none since the period changed
        // Comments and estimates that are sent in the next period, or when no cycle is wanted.
        Untold untold{};
        bool tells_on = false;  // `untold` is sent as soon as no cycle is wanted

        bool is_registered() const { return client && client->state() == ServerClient::State::registered; }
    };
    enum class Phase : std::uint8_t { idle, learning, checking, waiting, deciding, applying };
    // A job that the server refused to run at the last attempt.
    struct Failed {
        int times = 0;              // refusals in a row
        Clock::time_point again{};  // when the job is tried again at the latest
        bool stays = false;         // the job isn't taken up before `again`
        bool waits = false;         // a cycle is wanted at `again`
    };
    // The answers to the queries of one run.
    struct Learnt {
        std::optional<Server> server;
        std::optional<std::map<std::string, Sched>> scheds;
        std::optional<std::map<std::string, ResourceDefinition>> resources;
        std::map<std::string, Queue> queues;
        Reservations reservations;
        std::map<std::string, Vnode> seen;                   // all vnodes, with what changes by itself
        std::optional<std::map<std::string, Vnode>> vnodes;  // all vnodes, with all attributes
        std::map<std::string, JobCount> counts;              // the server's counts of jobs, by queue
        std::vector<Job> jobs;
        std::optional<std::set<std::string>> ids;      // of all jobs, without subjobs
        std::optional<std::set<std::string>> subjobs;  // ids of the running subjobs
        std::time_t asked = 0;
        std::string error;
    };

    // The search for jobs that are gone. It begins when a run's queries are answered.
    struct Search {
        enum class Step : std::uint8_t { none, ids, names };
        struct Ids {
            std::optional<std::set<std::string>> running;  // ids of running jobs, with subjobs
            std::optional<std::set<std::string>> waiting;  // ids of jobs in any state, without subjobs
        };
        Step step = Step::none;
        std::map<std::string, JobCount> counts;  // the server's counts of jobs, by queue
        std::map<std::string, Ids> queues;       // queues that have fewer jobs than are known
        std::set<std::string> missing;           // ids of known jobs that weren't found, to be queried by id
    };

    // One run for one scheduler. A run is a query with a cycle, a query only, the answer to a qrun, or the
    // sending of comments that earlier runs left unsent. These data end with the run; data that last longer
    // are in Session, above.
    //
    //   learning, checking   queries are on their way; the answers are in `learnt`
    //   waiting              the plugin is busy with something else, and is called again
    //   deciding             a thread of the plugin works on the cycle
    //   applying             decisions become requests, in their order, and the server answers them; then
    //                        comments and estimates are sent for a while, those of earlier runs first
    //
    // The usual order is learning, waiting, deciding, applying, idle. A query that finds nothing new, an
    // error and a lost connection lead to idle from any phase. A run that only sends comments begins with
    // applying.
    struct Run {
        int trigger = 0;             // enum pbs_cycle_trigger
        bool look_only = false;      // a query only; a cycle follows if something has changed
        bool for_command = false;    // the server waits for the end of this cycle
        bool dropped = false;        // the cycle's decisions won't be carried out
        bool altered_known = false;  // requests had altered jobs before the queries were sent
        Learnt learnt{};
        std::size_t changes = 0;  // the number of changed objects that the queries have found so far
        Search search{};
        std::optional<std::string> qrun{};         // the job of a qrun for which no place is known yet
        std::optional<std::string> qrun_placed{};  // the job of a qrun for which the plugin has a place
        std::vector<Decision> decisions{};         // all decisions but comments and estimates
        std::size_t applied = 0;                   // the number of decisions handled so far
        bool tells = true;                         // comments and estimates may be sent
        bool told_enough = false;                  // enough was sent: the others wait for a later run
        std::set<std::string> told_anyway{};       // jobs whose comments are sent even if `tells` is false
        std::optional<Clock::time_point> telling_since{};  // when the first comment or estimate was sent
        std::size_t told = 0;            // comments and estimates since the last query of the server's state
        std::size_t tellings_asked = 0;  // unanswered queries of the server's state
        std::vector<std::string> started{};  // jobs started by requests without a reply
        std::size_t preempting = 0;          // unanswered requests to preempt jobs
        bool preempt_failed = false;         // a job couldn't be preempted
        bool again = false;                  // another cycle has to follow
    };

    static std::int64_t now() { return std::time(nullptr); }
    bool is_by_program(const std::string& sched) const;
    Clock::duration settling_time() const;
    bool has_begun_since(const std::string& job) const;
    bool is_outdated(const Job& job) const;
    Session& current() { return scheds_.at(current_); }

    std::string external_scheduler(const std::string& sched) const;
    void look_after_registration(const std::string& name, Session& one);
    void set_own(const std::string& name, bool own);
    void take_commands(const std::string& name, Session& one);
    std::string reason(const std::string& name, int refused, const std::string& why) const;
    void lost(const std::string& name, Session& one);

    bool wants(const std::string& sched) const;
    void begin_next();
    void begin_run(const std::string& sched);
    void learn(bool all);
    void learn_jobs(bool all);
    void note_error(const ifl::Result<ifl::Reply>& reply);
    void ask_about(ifl::RequestType type, ifl::Attributes wanted, const std::string& extend,
                   ifl::ObjectSink sink);
    void ask_jobs(ifl::Attributes criteria, ifl::Attributes wanted, ifl::ObjectSink sink);
    std::size_t take_learnt();
    std::size_t take_objects();
    std::size_t take_jobs();
    std::size_t forget(const std::string& job);
    void compare_counts();
    void ask_ids(const std::string& queue, bool running);
    void ask_missing();
    std::size_t forget_missing();
    bool look_for_gone();
    void learnt();
    bool settle_settings();
    void look_at_folder(const ChangedFolder& folder);
    void decide();
    void take_decisions();
    void begin_applying();
    bool has_to_tell() const;
    bool may_apply() const;
    void apply_some();
    void apply(const Decision& decision);
    void answer_reservation(const Decision& decision);
    void preempt();
    struct Preemption {
        std::string for_job;  // empty: the job's queue has ended its hours, so no job gets the room
        std::string comment;  // empty: the usual comment of a preemption for a job
    };
    void preempted(const std::string& id, const Preemption& done, char method);
    void resume(const std::string& id);
    void run(const Decision& decision);
    void send_run(const Decision& decision, const std::string& id);
    void refused(const std::string& id, const ifl::Reply& reply);
    void set_aside(const std::string& job);
    void look_at_failed(Clock::time_point time);
    // Notes that all schedulers except `but` need a cycle.
    void want_cycles(const std::string& but = {});
    void look_at_starts();
    void started_as(const std::string& id, Job job);
    void refresh(const std::string& id, bool was_run = false);
    void qrun();
    void apply_qrun(const std::string& job, const Decision& decision);
    void answer_qrun(const std::string& job, int error, const std::string& text);
    void end();
    void comment(const std::string& job, const std::string& text);
    using Estimate = std::pair<std::int64_t, std::string>;  // start, exec_vnode
    void tell_estimate(const std::string& job, const Estimate& estimate);
    void clear_estimate(const std::string& job);
    void clear_left_estimates(const std::vector<Decision>& decisions);
    void look_at_period();
    bool may_tell();
    std::optional<Decision> next_untold();
    void tell_next();
    void tell_on(const std::string& sched);
    void accrue(const std::string& job, std::int32_t type);
    void log(const std::string& line) const { log_(line); }

    Plugin& plugin_;
    Site& site_;
    std::function<void(const std::string&)> log_;
    std::map<std::string, Session> scheds_;
    Phase phase_ = Phase::idle;
    std::string current_;  // the scheduler of the present run
    Run run_;
    std::map<std::string, Estimate> estimates_;  // by job: the estimate that was last sent to the server
    // Waiting jobs that have an estimate from an earlier scheduler. A cycle replaces or clears these
    // estimates.
    std::set<std::string> left_top_jobs_;
    bool estimates_forgotten_ = false;    // the server has forgotten them: the next cycle sends them again
    PendingSettings settings_;            // changed settings that have still to be written to the policies
    std::vector<ChangedFolder> folders_;  // changed folders that have still to be checked
    // By scheduler: the values of preempt_order that the plugin itself has set, in this cycle and the last
    // one.
    std::map<std::string, std::vector<std::string>> orders_given_;

    client::Registrations registrations_;
    // The jobs that programs have started: when the server had handled the start; max(): it hasn't yet.
    std::map<std::string, Clock::time_point> begun_;
    std::map<std::string, Failed> failed_;
    bool known_ = false;        // all of the server's objects have been queried once
    bool stale_server_ = true;  // the server, schedulers and resources may have changed
    bool stale_vnodes_ = true;
    // By queue: the number of jobs that the server counts but doesn't describe, such as subjobs that wait to
    // run again.
    std::map<std::string, JobCount> undescribed_;
    std::time_t jobs_since_ = 0;  // all changes of jobs before this time are known
    bool look_soon_ = false;
    std::optional<Clock::time_point> altered_;  // last request that altered jobs and isn't followed by a
                                                // query
    Clock::time_point look_began_{};
    Clock::time_point looked_{};
    Clock::time_point checked_{};
    std::int64_t checked_at_ = 0;
    std::uint64_t checks_ = 0;
    std::uint64_t cycles_ = 0;
    std::uint64_t missed_ = 0;
};

}  // namespace pbs::openpbs
