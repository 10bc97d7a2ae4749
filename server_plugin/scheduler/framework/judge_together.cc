// The function of Judge that starts several subjobs of an array, all of them or none.

#include <fmt/format.h>

#include "server_plugin/scheduler/framework/judge.h"

namespace pbs::sched {
namespace {

// The subjobs that a cycle has placed for arrays that didn't start: for those whose time to start is over,
// and for the others. Each takes some microseconds, so a cycle gives up after kMost of each kind, and leaves
// further arrays to later cycles. An array whose time is over is rejected once it was tried, so in each cycle
// there are fewer of these. The first array of each kind is tried however many subjobs it has.
struct PlacedInVain {
    static constexpr std::int64_t kMost = 5'000;
    std::int64_t at_last = 0;
    std::int64_t before = 0;
    bool is_over(std::int64_t known, std::size_t further) const {
        return known > 0 && known + static_cast<std::int64_t>(further) >= kMost;
    }
};

// The most subjobs that start together. The server starts all of them in one turn of its loop, and answers
// nobody meanwhile.
constexpr std::int64_t kMostTogether = 500;

}  // namespace

// Starts `count` subjobs of the array: `first`, which has its place (CycleState::placement), and others. If
// one of them can't start beside those before it, none starts: takes back what the others were charged,
// writes the refusal into the verdict, and returns false. Rejects an array with more than kMostTogether.
bool Judge::start_together(const OrderedJob& job, const Candidate& first, CandidateQueues& queues,
                           std::int64_t count, Verdict& verdict) {
    struct Placed {
        Candidate job;
        QueueView* view;
        Placement placement;
    };
    const QueueSlot queue_of_first = verdict.view->slot;
    if (count > kMostTogether) {
        const auto words = t_.strings.id(fmt::format(
            "Job rejected: {} subjobs of the array would start together, and at most {} may: give "
            "it a limit, such as %{} behind its range",
            count, kMostTogether, kMostTogether));
        verdict = {.reason = {ReasonCode::other, queue_of_first, words}, .rejected = true};
        return false;
    }
    Tables::Impatient& impatient = t_.impatient.at(job.job);
    const bool at_last = impatient.until <= in_.now;
    PlacedInVain& all_in_vain = state_.own.of<PlacedInVain>();
    std::int64_t& in_vain = at_last ? all_in_vain.at_last : all_in_vain.before;
    const std::size_t refused_by_sets = state_.refused_by_sets;
    bool is_left = false;
    std::vector<Placed> placed;
    Candidate next = first;
    while (verdict.view != nullptr) {
        is_left = all_in_vain.is_over(in_vain, placed.size());
        if (is_left) break;
        placed.push_back({next, verdict.view, std::exchange(state_.placement, {})});
        charge(next, *verdict.view, placed.back().placement, 1);
        if (static_cast<std::int64_t>(placed.size()) == count) break;
        next = c_.candidate(job);
        verdict = judge(job, next, queues, {});
        if (verdict.view == nullptr && !verdict.rejected) shorten(job, next, queues, verdict);
    }
    if (verdict.view != nullptr && !is_left) {
        for (Placed& one : placed) note_start(one.job, *one.view, std::move(one.placement), count--);
        return true;
    }
    if (!verdict.rejected && !is_left) {
        // The text tells of the amounts that are free beside the subjobs before this one.
        const auto of_next = static_cast<std::uint32_t>(c_.of_next_subjobs.size());
        c_.of_next_subjobs.push_back(text(verdict.reason, c_.reason_context()));
        verdict.reason = {ReasonCode::subjobs_together, queue_of_first, of_next, count,
                          static_cast<std::int64_t>(placed.size())};
    }
    for (auto one = placed.rbegin(); one != placed.rend(); ++one)
        charge(one->job, *one->view, one->placement, -1);
    in_vain += static_cast<std::int64_t>(placed.size());
    // The array waits for anything, so no refusal by sets has to be forgotten for it. The instants at which
    // time may lift refusals of its subjobs stay noted: at worst they wake the scheduler once too often.
    state_.refused_by_sets = refused_by_sets;
    if (is_left) {
        const auto words = t_.strings.id(
            "Not Running: So many arrays with start_within were tried that this one is left to another "
            "cycle");
        Refusal refusal{{ReasonCode::other, queue_of_first, words}, blocker::kAnything};
        refusal.until = at_last ? in_.now + Seconds(1) : impatient.until;
        impatient.left_at = in_.now;
        verdict = {.reason = refusal.reason, .blockers = blockers_of(refusal), .of_job = true};
        return false;
    }
    // The places of the first subjobs depend on all vnodes, so any event may let all of them start.
    verdict.blockers |= blocker::kAnything;
    verdict.lasting = false;
    return false;
}

}  // namespace pbs::sched
