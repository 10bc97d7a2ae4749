// Carries out decisions of the plugin: each one is checked against the present state of the server's objects,
// and becomes a step of a change.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/cycle/weights.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/state/placement.h"

namespace pbs::host {

// Returns whether the decision only informs users. Such a decision is never dropped, because the plugin
// assumes that it is carried out and doesn't repeat it.
bool is_harmless(const Decision& decision);

// Puts decisions of a cycle into one transaction. Keeps account of the amounts on vnodes: a later decision
// can't use amounts that an earlier decision has taken.
// The outcome of decisions that start subjobs together.
enum class Together {
    started,
    moot,     // the array isn't queued any more, and nothing has changed
    refused,  // one of the decisions doesn't fit any more: the batch must not be committed
};

class DecisionBatch {
  public:
    // `preempted`: the ids of the jobs that the cycle's decisions have preempted so far; this object adds
    // further ones. `failed`: whether a preemption of the cycle has failed. `log`: the scheduler's log, or
    // null.
    DecisionBatch(Server& server, int64_t now, std::vector<std::string>& preempted, bool& failed,
                  Weights& weights, Log* log);

    // Applies a decision. Returns false if it doesn't fit any more, or is about another server's job and
    // can't be carried out.
    bool apply(const Decision& decision);
    // Applies the decisions that start subjobs of an array together, in a batch without other decisions.
    Together apply_together(const std::vector<Decision>& decisions);
    // After apply() of a decision about a job of this server, or apply_together(): returns why it was
    // refused; nullopt: it wasn't.
    const std::optional<Error>& refusal() const { return refusal_; }
    // Returns whether the last decision has started a subjob, and the array's next subjob may start, too.
    bool array_goes_on() const { return array_goes_on_; }
    // Commits. A transaction that has only comments, estimates and types of accrued time doesn't wait for the
    // disk: if it is lost, a later cycle decides the same again.
    Result<void> commit();
    // Returns the time since the commit: after the actions that follow a commit, this is their duration.
    std::chrono::nanoseconds since_commit() const { return std::chrono::steady_clock::now() - committed_; }

  private:
    Result<void> run(const Decision& decision, Job& job);
    Result<void> may_use_places(const Decision& decision) const;
    Result<void> run_subjob(const Decision& decision, Job& array);
    bool pull(const Decision& decision, uint64_t queue);
    void answer_reservation(const Decision& decision);
    void weigh(const Decision& decision, const Job& job);
    Result<void> resume(const Decision& decision, Job& job);
    Result<void> check_waits(uint64_t handle) const;
    Result<void> preempt(const Decision& decision);
    std::vector<RunId> awaited() const;
    void leave(const std::vector<Place>& places);
    Result<void> move(const Decision& decision, Job& job);
    static Result<void> check_started(const Queue* queue);
    Result<void> take_room(const std::vector<Place>& places);

    Server& server_;
    Change change_;
    Taken taken_;
    std::vector<std::string>& preempted_;
    bool& failed_;
    Weights& weights_;
    Log* log_;
    std::chrono::steady_clock::time_point committed_{};
    bool only_tells_ = true;
    bool array_goes_on_ = false;
    std::optional<Error> refusal_;
};

// Starts a job on the decision's places. The job gets the resources that the decision sets.
Result<void> start_as_decided(Change& change, Job& job, const Decision& decision);

}  // namespace pbs::host
