// A cycle, last part: decisions, comments, what would be done.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>

#include "server_plugin/scheduler/cycle_parts.h"
#include "server_plugin/scheduler/sorted_jobs.h"

namespace pbs::sched {
namespace {

constexpr std::chrono::seconds min_comment_age{300};
// So many jobs are told in a cycle that other amounts are free than their comments say: with a long list this
// would be all of them after each start.
constexpr int most_new_amounts = 500;

// A comment's number is of its reason and its text, so that it is the same in another process, which counts
// queues and resources otherwise. Never 0.
constexpr unsigned text_bits = 24;
std::uint32_t number_of_kind(const Reason& reason) {
    return (static_cast<std::uint32_t>(reason.because) + 1) << text_bits;
}
bool are_of_one_kind(std::uint32_t a, std::uint32_t b) {
    return a >> text_bits == b >> text_bits;
}

}  // namespace

// Before any job is considered: the list as it was sorted, behind what runs.
void Cycle::dump_sorted_jobs(Decisions& out) {
    if (s_.sorted_job_dumpfile.empty() || s_.algorithm != Algorithm::origin) return;
    for (const QueueView& view : views_)
        for (const JobSlot job : view.queue->running) add_job(job, JobClass::running);
    order_class(JobClass::running, false);
    std::vector<OrderedJob> all;
    for (const auto& jobs : classes_) all.insert(all.end(), jobs.begin(), jobs.end());
    out.sorted_jobs =
        FileToWrite{s_.sorted_job_dumpfile, sorted_jobs_text(t_, s_, in_.now, state_.prime_now, all)};
    classes_[static_cast<std::size_t>(JobClass::running)].clear();
}

std::string_view Cycle::keep_text(Decisions& out, std::string_view text) const {
    char* kept = static_cast<char*>(out.memory->allocate(std::max<std::size_t>(1, text.size()), 1));
    std::memcpy(kept, text.data(), text.size());
    return {kept, text.size()};
}

// SCHED_RESTART_ACTION resubmit.
void Cycle::decide_moves(Decisions& out) {
    for (const auto& [job, queue] : moves_)
        out.list.push_back({DecisionKind::move, t_.jobs.handle[job], t_.queues[queue].handle, {}, {}, {}});
}

void Cycle::decide(Decisions& out) {
    out.list.reserve(moves_.size() + started_.size() + refused_.size());
    decide_moves(out);
    std::array<std::string_view, 2> texts;  // of normal and of special jobs
    for (const Started& started : started_) {
        const bool special = special_ != no_slot && t_.jobs.queue[started.job] == special_;
        std::string_view& line = texts[special ? 1 : 0];
        // By the standard algorithm the host says where it runs, as OpenPBS does.
        if (line.empty() && s_.algorithm == Algorithm::origin)
            line = keep_text(out, started_text(ctime_text(in_.now, t_.zone, t_.last_ctime), special));
        decide_start(out, started, line);
    }
    for (const Refused& refusal : refused_) {
        if (refusal.job == no_slot || !answers_[refusal.answer].rejected) continue;
        const std::string_view line = answer_text(out, answers_[refusal.answer]);
        out.list.push_back({DecisionKind::reject, t_.jobs.handle[refusal.job], {}, line, {}, {}});
    }
    decide_comments(out);
}

// Made when the first job is told, and once for equal reasons.
std::string_view Cycle::answer_text(Decisions& out, Answer& answer) {
    if (answer.number != 0) return answer.text;
    const auto [place, made] = text_of_.try_emplace(answer.reason);
    if (made) place->second = keep_text(out, text(answer.reason, reason_context()));
    answer.text = place->second;
    answer.number =
        number_of_kind(answer.reason) |
        (static_cast<std::uint32_t>(std::hash<std::string_view>{}(answer.text)) & ((1U << text_bits) - 1));
    return answer.text;
}

void Cycle::decide_start(Decisions& out, const Started& started, std::string_view text) {
    std::pmr::polymorphic_allocator<> memory(out.memory.get());
    const Request& request = t_.requests[t_.jobs.request[started.job]];
    const bool origin = s_.algorithm == Algorithm::origin;
    const auto ssinodes = t_.resources.known().ssinodes;
    Decision decision{
        DecisionKind::run, t_.jobs.handle[started.job], started.view->queue->handle, text, {}, {}};
    if (origin && ssinodes != no_resource) {
        auto* amount = memory.new_object<Amount>(Amount{ssinodes, nodes_of(started.job), {}});
        decision.set_resources = {amount, 1};
    }
    // A place for each chunk: whoever runs the job starts the processes of each.
    std::size_t count = 0;
    for (const Part& part : started.placement) count += static_cast<std::size_t>(part.count);
    auto* places = memory.allocate_object<Place>(count);
    decision.places = {places, count};
    for (const Part& part : started.placement) {
        const Chunk& chunk = request.chunks[part.chunk];
        auto* amounts = memory.allocate_object<Amount>(chunk.needs.size() + 1);
        std::size_t n = 0;
        std::int64_t ncpus = -1;
        std::int64_t mem = -1;
        for (const Need& need : chunk.needs) {
            if (need.resource == t_.resources.known().ncpus) ncpus = need.amount;
            if (need.resource == t_.resources.known().mem) mem = need.amount;
            if (origin && need.resource == ssinodes) continue;
            std::construct_at(&amounts[n++], Amount{need.resource, need.amount, {}});
        }
        if (origin && ssinodes != no_resource)
            std::construct_at(&amounts[n++], Amount{ssinodes, state_.node_size.nodes(ncpus, mem), {}});
        for (std::int64_t i = 0; i < part.count; ++i)
            std::construct_at(places++, Place{(*state_.vnodes)[part.vnode].handle, {amounts, n}});
    }
    out.list.push_back(decision);
}

// Lazy commenting (origin-overview): a comment is set only if the job arrived after the last cycle, or has
// none, or wasn't touched for some time; and never again with the same text. The amounts that are free are
// those at the end of the cycle.
void Cycle::decide_comments(Decisions& out) {
    JobTable& jobs = t_.jobs;
    int new_amounts = 0;
    for (const Refused& refusal : refused_) {
        if (refusal.job == no_slot) continue;
        Answer& answer = answers_[refusal.answer];
        if (answer.rejected) continue;
        auto& flags = jobs.flags[refusal.job];
        const bool fresh = (flags & job_fresh) != 0;
        const bool has_comment = (flags & job_has_comment) != 0;
        flags &= static_cast<std::uint8_t>(~job_fresh);
        if (!fresh && has_comment && in_.now - jobs.mtime[refusal.job] < min_comment_age) continue;
        const bool told =
            has_comment && are_of_one_kind(jobs.comment[refusal.job], number_of_kind(answer.reason));
        if (told && new_amounts == most_new_amounts) continue;
        const std::string_view line = answer_text(out, answer);
        if (has_comment && jobs.comment[refusal.job] == answer.number) continue;
        if (told) ++new_amounts;
        jobs.comment[refusal.job] = answer.number;
        out.list.push_back({DecisionKind::comment, jobs.handle[refusal.job], {}, line, {}, {}});
    }
}

// TEST_ONLY: lines for the log instead of decisions.
void Cycle::say_what_would_be_done(Decisions& out) {
    for (const auto& [job, queue] : moves_)
        out.log.push_back(
            fmt::format("test_only: would move job {} to queue {}", t_.jobs.id[job], t_.queues[queue].name));
    for (const Started& started : started_)
        out.log.push_back(fmt::format("test_only: would start job {} in queue {}", t_.jobs.id[started.job],
                                      started.view->queue->name));
    for (const Refused& refusal : refused_) {
        if (refusal.job == no_slot) continue;
        const Answer& answer = answers_[refusal.answer];
        out.log.push_back(fmt::format("test_only: would {} job {}: {}",
                                      answer.rejected ? "reject" : "not start", t_.jobs.id[refusal.job],
                                      text(answer.reason, reason_context())));
    }
}

}  // namespace pbs::sched
