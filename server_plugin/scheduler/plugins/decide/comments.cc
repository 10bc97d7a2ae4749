// Sets comments with the reasons why jobs wait.

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

constexpr std::chrono::seconds kMinCommentAge{300};
// The most comments in a cycle that change only because of free amounts: otherwise each start would change
// all comments of a long list.
constexpr int kMostNewAmounts = 500;

// Sets a comment lazily (origin-overview): only if the job arrived after the last cycle, has no comment, or
// hasn't changed for some time; and never the same text again. A comment that only says that
// dedicated_time_command hasn't answered yet is replaced at once. Free amounts are those at the end of the
// cycle.
void decide_comments(Outcome& outcome) {
    CycleContext& cycle = outcome.cycle();
    if (!cycle.in.comments) return;
    const std::vector<Refused>& refused = cycle.refused;
    auto& list = outcome.out().list;
    JobTable& jobs = cycle.tables.jobs;
    constexpr std::size_t kAhead = 16;
    int new_amounts = 0;
    Answer unanswered;
    unanswered.reason.code = ReasonCode::dedicated_unknown;
    for (std::size_t i = 0; i < refused.size(); ++i) {
        if (i + kAhead < refused.size() && refused[i + kAhead].job != kNoSlot) {
            const JobSlot next = refused[i + kAhead].job;
            __builtin_prefetch(&jobs.flags[next]);
            __builtin_prefetch(&jobs.mtime[next]);
            __builtin_prefetch(&jobs.comment[next]);
            __builtin_prefetch(&jobs.handle[next]);
        }
        const Refused& refusal = refused[i];
        if (refusal.job == kNoSlot) continue;
        Answer& answer = cycle.answers[refusal.answer];
        if (answer.rejected) continue;
        auto& flags = jobs.flags[refusal.job];
        const bool fresh = (flags & job_fresh) != 0;
        const bool has_comment = (flags & job_has_comment) != 0;
        flags &= static_cast<std::uint16_t>(~job_fresh);
        if (!fresh && has_comment && cycle.in.now - jobs.mtime[refusal.job] < kMinCommentAge &&
            !Outcome::are_of_one_kind(jobs.comment[refusal.job], unanswered))
            continue;
        const bool told = has_comment && Outcome::are_of_one_kind(jobs.comment[refusal.job], answer);
        if (told && new_amounts == kMostNewAmounts) continue;
        const std::string_view line = outcome.text(answer);
        if (has_comment && jobs.comment[refusal.job] == answer.number) continue;
        if (told) ++new_amounts;
        jobs.comment[refusal.job] = answer.number;
        // Reserve memory for all further comments: the first cycle over many jobs sets nearly all of them.
        if (list.size() == list.capacity()) list.reserve(list.size() + refused.size() - i);
        list.push_back({DecisionKind::comment, jobs.handle[refusal.job], {}, line, {}, {}});
    }
}

}  // namespace

extern const Decide kCommentsDecide{.name = "comments", .decide = decide_comments};

}  // namespace pbs::sched
