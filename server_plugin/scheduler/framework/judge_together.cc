// The function of Judge that starts several subjobs of an array, all of them or none.

#include "server_plugin/scheduler/framework/judge.h"

namespace pbs::sched {
namespace {

// The subjobs that a cycle has placed for arrays that didn't start. Each takes some microseconds, so a cycle
// gives up after kMost of them, and leaves further arrays to later cycles.
struct PlacedInVain {
    static constexpr std::int64_t kMost = 50'000;
    std::int64_t count = 0;
};

}  // namespace

// Starts `count` subjobs of the array: `first`, which has its place (CycleState::placement), and others. If
// one of them can't start beside those before it, none starts: takes back what the others were charged,
// writes the refusal into the verdict, and returns false.
bool Judge::start_together(const OrderedJob& job, const Candidate& first, CandidateQueues& queues,
                           std::int64_t count, Verdict& verdict) {
    struct Placed {
        Candidate job;
        QueueView* view;
        Placement placement;
    };
    const QueueSlot queue_of_first = verdict.view->slot;
    std::int64_t& in_vain = state_.own.of<PlacedInVain>().count;
    if (in_vain > PlacedInVain::kMost) {
        const auto words = t_.strings.id(
            "Not Running: So many arrays with start_within were tried that this one is left to another "
            "cycle");
        verdict = {.reason = {ReasonCode::other, queue_of_first, words}, .blockers = blocker::kAnything};
        return false;
    }
    std::vector<Placed> placed;
    Candidate next = first;
    while (verdict.view != nullptr) {
        placed.push_back({next, verdict.view, std::exchange(state_.placement, {})});
        charge(next, *verdict.view, placed.back().placement, 1);
        if (static_cast<std::int64_t>(placed.size()) == count) break;
        next = c_.candidate(job);
        verdict = judge(job, next, queues, {});
        if (verdict.view == nullptr && !verdict.rejected) shorten(job, next, queues, verdict);
    }
    if (verdict.view != nullptr) {
        for (Placed& one : placed) note_start(one.job, *one.view, std::move(one.placement), count--);
        return true;
    }
    if (!verdict.rejected) {
        // The text tells of the amounts that are free beside the subjobs before this one.
        const auto of_next = static_cast<std::uint32_t>(c_.of_next_subjobs.size());
        c_.of_next_subjobs.push_back(text(verdict.reason, c_.reason_context()));
        verdict.reason = {ReasonCode::subjobs_together, queue_of_first, of_next, count,
                          static_cast<std::int64_t>(placed.size())};
    }
    for (auto one = placed.rbegin(); one != placed.rend(); ++one)
        charge(one->job, *one->view, one->placement, -1);
    in_vain += static_cast<std::int64_t>(placed.size());
    // The places of the first subjobs depend on all vnodes, so any event may let all of them start.
    verdict.blockers |= blocker::kAnything;
    verdict.lasting = false;
    return false;
}

}  // namespace pbs::sched
