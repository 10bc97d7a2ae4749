// The state of a simulation, and its steps. engine.cc has the steps of a simulation by the scheduler's
// policies, program_actions.cc the requests of a program of the site that schedules in place of a policy.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "objects/snapshot.h"
#include "server_plugin/record/change_log.h"
#include "tools/simulate/engine.h"
#include "tools/simulate/entries.h"
#include "tools/simulate/external.h"
#include "tools/simulate/job_records.h"
#include "tools/simulate/job_states.h"
#include "tools/simulate/loads.h"
#include "tools/simulate/quotas.h"
#include "tools/simulate/room.h"
#include "tools/simulate/shares.h"
#include "tools/simulate/simulated_server.h"
#include "tools/simulate/tickets.h"
#include "tools/simulate/wishes.h"

namespace pbs::simulate {

class Engine final : public SimulatedServer {
  public:
    Engine(const Trace& trace, const Cluster& cluster, const rrule::Zone& zone, const EngineOptions& options)
        : trace_(trace),
          cluster_(cluster),
          options_(options),
          records_(trace, cluster, options.checkpoints),
          scheduler_(zone),
          wishes_(cluster, zone),
          entries_(trace, cluster),
          waiting_(trace.jobs.size()),
          runs_(trace.jobs.size()),
          log_(first_change(trace), options.external != nullptr) {}

    Result<void> set_up(const std::shared_ptr<const objects::Snapshot>& snapshot);
    Result<Schedule> run();

    Instant now() const override { return now_; }
    sched::Scheduler& scheduler() override { return scheduler_; }
    const record::ChangeLog& changes() const override { return log_; }
    const Cluster& cluster() const override { return cluster_; }
    const Room& room() const override { return *room_; }
    char state(std::uint64_t job) override;
    std::span<const sched::Amount> requested(std::uint64_t job) override;
    ifl::Result<void> start(std::uint64_t job, std::span<const sched::Place> places) override;
    void refused_start(std::string_view reason) override { count_reason(run_.refused_starts, reason); }
    void suspend(std::uint64_t job) override;
    ifl::Result<void> resume(std::uint64_t job) override;
    void requeue(std::uint64_t job) override { stop(job, sched::PreemptMethod::requeue); }
    void remove(std::uint64_t job) override;
    void comment(std::uint64_t job, std::string_view text) override;
    void estimate(std::uint64_t job, Instant start) override;
    std::size_t waiting_jobs() const override { return waiting_.size(); }
    std::size_t jobs_to_come() const override { return trace_.jobs.size() - next_job_; }
    std::size_t progress() const override { return done_ + static_cast<std::size_t>(run_.started); }

  private:
    using Position = std::uint32_t;  // index of a job in the trace
    struct End {
        Instant at;
        Position job;
        bool operator>(const End& other) const { return at != other.at ? at > other.at : job > other.job; }
    };
    struct SchedTimes {
        std::string name;
        Seconds iteration{600};
        Instant last{};
        bool wanted_by_time = false;
        bool policy_switched = false;
        bool external = false;  // the program schedules by the policy in force
    };

    // Returns the number that precedes the number of the first change. It is the time of the simulated
    // server's start, in microseconds, as on a server.
    static std::int64_t first_change(const Trace& trace) {
        return trace.jobs.empty() ? 0 : trace.jobs.front().submit.time_since_epoch().count() * 1'000'000;
    }
    Result<void> submit_due();
    Result<void> submit(Position job);
    void end_due();
    void tick();
    void note_time();
    void run_cycles();
    void cycle(SchedTimes& sched, sched::CycleTrigger trigger);
    bool look_at_all();
    void apply(const sched::Decision& decision);
    void start(const sched::Decision& decision, Position job, Waiting& waiting);
    void preempt(const sched::Decision& decision);
    void stop(std::uint64_t job, sched::PreemptMethod method);
    void wait_again(Position job, Run& run, bool by_program);
    void remove_run(Position job, Run& run);
    sched::Accrual accrual(sched::AccrueType type, Seconds before) const;
    Result<void> fill(Position job, sched::QueueHandle queue) {
        return records_.fill(job, entries_.name(trace_.jobs[job]), queue);
    }
    void job_changed();
    void job_removed(Position job);
    void tell_waiting(Position job);
    void tell_holds(Position job);
    Instant next_end();
    Instant next_event();
    void tell_progress();

    const Trace& trace_;
    const Cluster& cluster_;
    const EngineOptions& options_;
    JobRecords records_;
    sched::JobRecord& record_ = records_.record();
    sched::Scheduler scheduler_;
    Wishes wishes_;
    std::vector<SchedTimes> scheds_;
    Entries entries_;

    Schedule run_;
    Instant now_{};
    Instant deadline_ = Instant::max();
    Instant time_changes_ = Instant::max();  // when prime time or the policy in force changes next
    bool prime_ = false;
    bool dirty_ = false;  // a job arrived, ended or was preempted since the last cycle
    Instant last_cycle_ = Instant::min();
    Instant last_news_{};  // when a job last arrived, started or ended
    Position next_job_ = 0;
    std::size_t done_ = 0;
    std::size_t events_ = 0;
    std::size_t changes_ = 0;  // decisions that changed something: starts, preemptions, rejections
    std::priority_queue<End, std::vector<End>, std::greater<>>
        ends_;                      // including stale ends of runs that were cut short
    bool hours_stop_jobs_ = false;  // a time_window has an at_close other than `run`
    JobStates<Waiting> waiting_;
    JobStates<Run> runs_;  // a suspended job is in waiting_ and in runs_
    std::unordered_map<Position, Work> work_;
    QuotaWatch quotas_;
    ShareWatch shares_;
    TicketWatch tickets_;
    HeldPlaces::Suspended suspended_;  // amounts of the job that was last suspended
    std::optional<LoadModel> loads_;
    std::shared_ptr<const objects::Snapshot> snapshot_;
    record::ChangeLog log_;
    std::optional<Room> room_;  // set if a program schedules
};

}  // namespace pbs::simulate
