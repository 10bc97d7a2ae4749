#include "server_plugin/scheduler/framework/outcome.h"

#include <algorithm>
#include <cstring>

#include "server_plugin/scheduler/framework/judge.h"

namespace pbs::sched {
namespace {

constexpr unsigned kTextBits = 24;
// Returns the upper bits of an answer's number, which stand for its reason; never 0. The lower ones stand for
// its text. So the number is the same in another process, which numbers queues and resources differently.
std::uint32_t number_of_kind(const Reason& reason) {
    return (static_cast<std::uint32_t>(reason.code) + 1) << kTextBits;
}

// Returns Answer::number of an answer.
std::uint32_t answer_number(const Reason& reason, std::string_view text) {
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
    return number_of_kind(reason) | (hash & ((1U << kTextBits) - 1));
}

}  // namespace

bool Outcome::are_of_one_kind(std::uint32_t number, const Answer& answer) {
    return number >> kTextBits == number_of_kind(answer.reason) >> kTextBits;
}

std::string_view Outcome::keep_text(std::string_view text) const {
    char* kept = static_cast<char*>(out_.memory->allocate(std::max<std::size_t>(1, text.size()), 1));
    std::memcpy(kept, text.data(), text.size());
    return {kept, text.size()};
}

std::string_view Outcome::text(Answer& answer) {
    if (answer.number != 0) return answer.text;
    if (answer.reason.code == ReasonCode::subjobs_together) {
        answer.text = keep_text(c_.text_of(answer));
        answer.number = answer_number(answer.reason, answer.text);
        return answer.text;
    }
    const auto [place, made] = told_.try_emplace(answer.reason);
    CommentText& told = place->second;
    if (made) {
        told.text = keep_text(sched::text(answer.reason, c_.reason_context()));
        told.number = answer_number(answer.reason, told.text);
    }
    answer.text = told.text;
    answer.number = told.number;
    return answer.text;
}

void Outcome::preempt(const Preempted& preempted) {
    Decision decision;
    decision.kind = DecisionKind::preempt;
    decision.job = t_.jobs.handle[preempted.job];
    decision.for_job = t_.jobs.handle[preempted.for_job];
    decision.methods = preempted.methods;
    out_.list.push_back(decision);
}

void Outcome::start(const Started& started, std::string_view text) {
    std::pmr::polymorphic_allocator<> memory(out_.memory.get());
    const auto ssinodes = t_.resources.known().ssinodes;
    Decision decision{
        DecisionKind::run, t_.jobs.handle[started.job], started.view->queue->handle, text, {}, {}};
    const bool sets_nodes = p_.counts_nodes && ssinodes != kNoResource;
    const JobTable& jobs = t_.jobs;
    const Request& request = t_.requests[jobs.request[started.job]];
    const bool sets_walltime = !jobs.is_suspended(started.job) && jobs.walltime[started.job] >= Seconds(0) &&
                               least_walltime(t_, request) > Seconds(0);
    // A job with a range gets the number of its chunks, also one that starts with the least number.
    const bool sets_select =
        !jobs.is_suspended(started.job) && (!request.range.empty() || c_.resized.contains(started.job));
    if (sets_nodes || sets_walltime || sets_select) {
        const std::size_t of_select = sets_select ? request.amounts.size() : 0;
        auto* const amounts = memory.allocate_object<Amount>(2 + of_select);
        std::size_t count = 0;
        if (sets_nodes) std::construct_at(&amounts[count++], Amount{ssinodes, c_.nodes_of(started.job), {}});
        if (sets_walltime)
            std::construct_at(&amounts[count++],
                              Amount{t_.resources.known().walltime, started.asked.count(), {}});
        if (sets_select)
            for (const KeptAmount& a : request.amounts)
                if (a.resource == t_.resources.known().select || t_.resources.consumable(a.resource))
                    std::construct_at(&amounts[count++], Amount{a.resource, a.number, keep_text(a.text)});
        decision.set_resources = {amounts, count};
    }
    decision.places = places_of(started.job, started.placement);
    decision.after_preemptions = started.after_preemptions;
    decision.together = started.together;
    out_.list.push_back(decision);
}

std::span<const Place> Outcome::places_of(std::span<const Placed> placed) const {
    std::pmr::polymorphic_allocator<> memory(out_.memory.get());
    const auto ssinodes = t_.resources.known().ssinodes;
    std::size_t count = 0;
    for (const auto& [request, placement] : placed)
        for (const Part& part : placement) count += static_cast<std::size_t>(part.count);
    auto* const places = memory.allocate_object<Place>(count);
    std::size_t made = 0;
    std::size_t next = SIZE_MAX;  // the place with which the next occurrence's placement begins
    for (const auto& [request, placement] : placed) {
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
            if (p_.counts_nodes && ssinodes != kNoResource)
                std::construct_at(&amounts[n++], Amount{ssinodes, state_.node_size.nodes(ncpus, mem), {}});
            for (std::int64_t i = 0; i < part.count; ++i, ++made)
                std::construct_at(
                    places + made,
                    Place{(*state_.vnodes)[part.vnode].handle, {amounts, n}, part.joined, made == next});
        }
        next = made;
    }
    return {places, count};
}

}  // namespace pbs::sched
