// Runs scheduling cycles, and carries out their decisions.
//
// The folder cycle/ connects the plugin and the jobs. Server::want_cycle() asks for a cycle; the loop begins
// it by the functions in this file. The cycle's decisions are carried out some at a time, between requests.
// Each decision is checked first against the changes since the cycle began (ChangedSince), and becomes a part
// of a transaction (apply_decisions.h). The outcome for each job is written to the scheduler's log
// (sched_logs.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server_plugin/host/change/change.h"
#include "server_plugin/host/change/counters.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/cycle/apply_decisions.h"
#include "server_plugin/host/cycle/sched_logs.h"
#include "server_plugin/host/cycle/weights.h"
#include "server_plugin/host/policy/plugin.h"

namespace pbs::host {

// Runs one cycle at a time, in two stages: the plugin decides, perhaps in a thread of its own; then the
// server carries the decisions out, in slices if they are many. Requests are answered in and between the
// stages.
class Cycles {
  public:
    // `slice`: the time that one call spends on carrying out decisions. `least`: the number of decisions that
    // one call carries out at least, so that there is progress even if each commit takes longer than the
    // slice. go_on() carries out the rest.
    explicit Cycles(Server& server, std::chrono::milliseconds slice = std::chrono::milliseconds(6),
                    size_t least = 32)
        : server_(server),
          slice_(slice),
          least_at_once_(least),
          most_at_once_(2 * least),
          logs_(server.options.home, server.parts.clock),
          weights_(server) {}

    // Begins the wanted cycles of schedulers whose scheduling is on, at most one for each. Does nothing while
    // busy(), or while a request waits to ask the plugin (Server::placing): the cycles stay wanted.
    void run_wanted();

    // Call it when the plugin's thread has made its decisions (client::Options::cycle_finished).
    void cycle_finished();

    // Call it when the plugin has finished other work (client::Options::work_finished). Does the plugin's
    // work that became due meanwhile, and begins a cycle that had to wait.
    void work_finished();

    // Carries out further decisions of the cycle and, when none is left, begins the next wanted cycle.
    void go_on();

    bool busy() const { return stage_ != Stage::idle || server_.cycle_waits; }
    // Returns whether cycles of further schedulers are left, so that run_wanted() has to be called again.
    // That happens after a cycle of one scheduler has failed.
    bool has_more() const { return !todo_.empty(); }
    // Returns whether decisions are left, so that go_on() has to be called soon.
    bool has_decisions() const { return stage_ == Stage::applying; }

    // Does the plugin's work whose deadline has passed, asks for cycles of schedulers whose
    // scheduler_iteration is over, and tries again weights that couldn't be set. Call it at least each
    // second, because the clock may jump.
    void look_at_clock();

  private:
    enum class Stage : std::uint8_t { idle, deciding, applying };

    void begin_next();
    void begin(const std::string& sched, int trigger);
    void wait(const std::string& sched, int trigger);
    std::chrono::nanoseconds stage_took();
    bool more_starts() const;
    bool still_holds(const Decision& decision) const;
    void take_decisions();
    void apply_some();
    std::vector<Decision> next_together() const;
    Together apply_together(DecisionBatch& batch, const std::vector<Decision>& decisions);
    bool array_goes_on(const DecisionBatch& batch);
    void note_refusal(const Decision& decision, const DecisionBatch& batch);
    bool put_aside(uint64_t job, const std::string& why);
    void put_aside(uint64_t job, int times, int64_t now);
    void put_failed_starts_aside(int64_t now);
    void forget_failures(int64_t now);
    void take_up_jobs(int64_t now);
    void learn(size_t count, std::chrono::nanoseconds took);
    void learn_of_starts(size_t starts, std::chrono::nanoseconds took);
    void fail_cycle(const Error& error);
    void end();

    Server& server_;
    std::chrono::milliseconds slice_;
    size_t least_at_once_;
    size_t most_at_once_;  // most decisions of the next slice, by the time that the last slices took
    size_t most_starts_at_once_ =
        8;  // most starts of a slice, by the time that the last starts took after their commit
    SchedLogs logs_;
    Weights weights_;
    std::map<std::string, int64_t> last_;  // scheduler to the instant of its last cycle
    // The waiting jobs that the server has refused to start or to move, or whose processes couldn't be
    // started, by the plugin's handle. The plugin may choose a job that is `aside` from the instant `again`
    // on.
    struct Refused {
        int times = 0;
        bool aside = false;
        int64_t again = 0;
        std::string sched{};  // the scheduler whose cycle was refused; empty: each may try again
    };
    std::map<uint64_t, Refused> refused_jobs_;
    // The starts in succession that were carried out, and failed, by Job::handle: each start of a subjob
    // gives its array another handle of the plugin.
    struct Failures {
        int count = 0;
        int64_t last = 0;  // the instant of the last one
    };
    std::map<uint64_t, Failures> failures_;
    std::deque<std::pair<std::string, int>> todo_;  // cycles to run: scheduler and trigger
    Stage stage_ = Stage::idle;
    // The following members are about the cycle under way.
    std::string sched_;
    int trigger_ = 0;
    CycleNote note_;
    std::chrono::steady_clock::time_point stage_began_{};
    client::Decisions decisions_;
    size_t applied_ = 0;
    size_t refused_ = 0;  // decisions that were dropped because scheduling is off
    // The ids of the jobs that the cycle has preempted. not_preempted_: a preemption of the cycle has failed.
    std::vector<std::string> preempted_;
    bool not_preempted_ = false;
    std::vector<std::pair<uint64_t, std::string>> to_put_aside_;  // plugin's handles of jobs, and the reasons
    bool dropped_ = false;  // a decision was dropped because an object had changed since the cycle began
};

}  // namespace pbs::host
