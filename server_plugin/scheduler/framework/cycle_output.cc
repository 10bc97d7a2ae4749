// A cycle, last part: decisions, comments, what would be done.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "server_plugin/scheduler/framework/cycle_parts.h"
#include "server_plugin/scheduler/log/sorted_jobs.h"

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
    return (static_cast<std::uint32_t>(reason.code) + 1) << text_bits;
}
bool are_of_one_kind(std::uint32_t a, std::uint32_t b) {
    return a >> text_bits == b >> text_bits;
}

}  // namespace

// The list as it was sorted, behind what ran before.
void Cycle::dump_sorted_jobs(Decisions& out) {
    if (s_.sorted_job_dumpfile.empty()) return;
    std::vector<OrderedJob> all;
    for (const QueueView& view : views_)
        for (const JobSlot job : view.queue->running) all.push_back(ordered(job, JobClass::running));
    const auto ranks = queue_ranks();
    const OrderContext context{in_.now, s_, t_.jobs, t_.queues, t_.requests, ranks};
    sort_by(p_.chain(*in_.policy, JobClass::running, false), context, all);
    all.insert(all.end(), turns_in_order_.begin(), turns_in_order_.end());
    out.sorted_jobs =
        FileToWrite{s_.sorted_job_dumpfile, sorted_jobs_text(t_, s_, in_.now, state_.prime_now, all)};
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
        if (line.empty() && p_.comments_starts)
            line = keep_text(out, started_text(ctime_text(in_.now, t_.zone, t_.last_ctime), special));
        decide_start(out, started, line);
    }
    for (const Refused& refusal : refused_) {
        if (refusal.job == no_slot || !answers_[refusal.answer].rejected) continue;
        const std::string_view line = answer_text(out, answers_[refusal.answer]);
        out.list.push_back({DecisionKind::reject, t_.jobs.handle[refusal.job], {}, line, {}, {}});
    }
    decide_comments(out);
    decide_estimates(out, state_.reservations);
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
    const auto ssinodes = t_.resources.known().ssinodes;
    Decision decision{
        DecisionKind::run, t_.jobs.handle[started.job], started.view->queue->handle, text, {}, {}};
    if (p_.counts_nodes && ssinodes != no_resource) {
        auto* amount = memory.new_object<Amount>(Amount{ssinodes, nodes_of(started.job), {}});
        decision.set_resources = {amount, 1};
    }
    decision.places = places_of(out, started.job, started.placement);
    out.list.push_back(decision);
}

// One for each chunk, or for each piece of one that is divided: whoever runs the job starts the processes of
// each.
std::span<const Place> Cycle::places_of(Decisions& out, JobSlot job, const Placement& placement) const {
    std::pmr::polymorphic_allocator<> memory(out.memory.get());
    const Request& request = t_.requests[t_.jobs.request[job]];
    const auto ssinodes = t_.resources.known().ssinodes;
    std::size_t count = 0;
    for (const Part& part : placement) count += static_cast<std::size_t>(part.count);
    auto* const places = memory.allocate_object<Place>(count);
    std::size_t made = 0;
    for (const Part& part : placement) {
        const std::span<const Need> needs = placement.amounts_of(part, request);
        auto* amounts = memory.allocate_object<Amount>(needs.size() + 1);
        std::size_t n = 0;
        std::int64_t ncpus = -1;
        std::int64_t mem = -1;
        for (const Need& need : needs) {
            if (need.resource == t_.resources.known().ncpus) ncpus = need.amount;
            if (need.resource == t_.resources.known().mem) mem = need.amount;
            if (p_.counts_nodes && need.resource == ssinodes) continue;
            std::construct_at(&amounts[n++], Amount{need.resource, need.amount, {}});
        }
        if (p_.counts_nodes && ssinodes != no_resource)
            std::construct_at(&amounts[n++], Amount{ssinodes, state_.node_size.nodes(ncpus, mem), {}});
        for (std::int64_t i = 0; i < part.count; ++i)
            std::construct_at(&places[made++],
                              Place{(*state_.vnodes)[part.vnode].handle, {amounts, n}, part.joined});
    }
    return {places, count};
}

namespace {

std::uint64_t number_of(const Placement& placement) {
    std::uint64_t number = placement.parts.size();
    const auto add = [&](std::uint64_t value) { number = (number ^ value) * 0x9E3779B97F4A7C15ULL; };
    for (const Part& part : placement)
        for (const std::uint64_t value :
             {std::uint64_t{part.vnode}, std::uint64_t{part.chunk}, static_cast<std::uint64_t>(part.count)})
            add(value);
    for (const Need& need : placement.amounts) add(static_cast<std::uint64_t>(need.amount));
    return number;
}

}  // namespace

// For whom something is kept is told what has changed of it. What a cycle after events has taken over from
// the last one is as it was told then.
void Cycle::decide_estimates(Decisions& out, std::span<const Reservation> made) {
    if (!t_.estimates.on) return;
    auto& told = t_.estimates.told;
    for (std::size_t i = 0; i < made.size(); ++i) {
        const bool kept = i < reserved_kept_;
        const Placement& placement = kept ? in_.events->kept[i].placement : made[i].placement;
        const JobHandle job = t_.jobs.handle[made[i].job];
        Estimates::Told& known = told[job];
        known.still = true;
        if (kept && known.start == made[i].start) continue;
        const std::uint64_t where = number_of(placement);
        if (known.start == made[i].start && known.where == where) continue;
        known.start = made[i].start;
        known.where = where;
        out.list.push_back(
            {DecisionKind::estimate, job, {}, {}, {}, places_of(out, made[i].job, placement), made[i].start});
    }
    for (auto one = told.begin(); one != told.end();) {
        const JobSlot job = t_.jobs.find(one->first);
        const Queue* queue = job == no_slot ? nullptr : &t_.queues[t_.jobs.queue[job]];
        const bool own = queue == nullptr || queue->partition == in_.partition || is_unserved(*queue);
        if (std::exchange(one->second.still, false) || !own) {
            ++one;
            continue;
        }
        if (job != no_slot && t_.jobs.state[job] == 'Q')
            out.list.push_back({DecisionKind::estimate, one->first, {}, {}, {}, {}});
        one = told.erase(one);
    }
}

// Lazy commenting (origin-overview): a comment is set only if the job arrived after the last cycle, or has
// none, or wasn't touched for some time; and never again with the same text. The amounts that are free are
// those at the end of the cycle.
void Cycle::decide_comments(Decisions& out) {
    JobTable& jobs = t_.jobs;
    constexpr std::size_t ahead = 16;
    int new_amounts = 0;
    for (std::size_t i = 0; i < refused_.size(); ++i) {
        if (i + ahead < refused_.size() && refused_[i + ahead].job != no_slot) {
            const JobSlot next = refused_[i + ahead].job;
            __builtin_prefetch(&jobs.flags[next]);
            __builtin_prefetch(&jobs.mtime[next]);
            __builtin_prefetch(&jobs.comment[next]);
            __builtin_prefetch(&jobs.handle[next]);
        }
        const Refused& refusal = refused_[i];
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
        // The first cycle of many jobs tells nearly all of them.
        if (out.list.size() == out.list.capacity()) out.list.reserve(out.list.size() + refused_.size() - i);
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
