#include "server_plugin/host/state/accrual.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "server_plugin/host/state/preemption.h"

namespace pbs::host {
namespace {

// Returns the type of time that follows from the job's state, by the rules of OpenPBS's server; nullopt: the
// scheduler decides.
std::optional<Accrue> type_by_state(const Job& job, const State& state, int64_t now) {
    if (is_preempted(job)) return Accrue::eligible;
    if (job.state == job_state::kRunning) return Accrue::running;
    if (job.state == job_state::kExiting || job.history()) return Accrue::exiting;
    if (job.attributes.integer("Execution_Time", 0) > now) return Accrue::ineligible;
    const std::string_view holds = job.hold_types();
    if (holds.find('u') != std::string_view::npos || job.substate == substate::kHeldByDepend)
        return Accrue::ineligible;
    if (holds != "n") return Accrue::eligible;
    const Queue* queue = state.queue(job.queue);
    if (queue != nullptr && !queue->started()) return Accrue::eligible;
    if (!job.attributes.has("accrues_as")) return Accrue::eligible;   // a new job
    if (accrue_type(job) > Accrue::eligible) return Accrue::initial;  // it has run, and waits again
    return std::nullopt;
}

}  // namespace

bool counts_eligible_time(const Attributes& server) {
    return server.boolean("eligible_time_enable", false);
}

int64_t eligible_since(const State& state) {
    return state.server.integer("eligible_since", 0);
}

Accrue accrue_type(const Job& job) {
    if (job.state == job_state::kRunning) return Accrue::running;
    if (job.state == job_state::kExiting || job.history()) return Accrue::exiting;
    return static_cast<Accrue>(job.attributes.integer("accrues_as", 0));
}

int64_t eligible_time(const Job& job, const State& state, int64_t now) {
    const int64_t before = job.attributes.integer("eligible_before", 0);
    if (job.attributes.integer("accrues_as", 0) != static_cast<int64_t>(Accrue::eligible)) return before;
    const int64_t since = std::max(job.attributes.integer("accrues_since", 0), eligible_since(state));
    return before + std::max<int64_t>(0, now - since);
}

void count_from(Job& job, int64_t now) {
    set_attribute(job, "accrues_since", fmt::format("{}", now));
}

void set_accrue_type(Job& job, const State& state, Accrue type, int64_t now) {
    const auto before = job.attributes.integer("accrues_as", 0);
    if (before == static_cast<int64_t>(type)) return;
    set_attribute(job, "eligible_before", fmt::format("{}", eligible_time(job, state, now)));
    set_attribute(job, "accrues_as", fmt::format("{}", static_cast<int>(type)));
    set_attribute(job, "accrues_since", fmt::format("{}", now));
}

bool is_accrual_settled(const Job& job, const State& state, int64_t now) {
    const auto type = type_by_state(job, state, now);
    return !type || job.attributes.integer("accrues_as", 0) == static_cast<int64_t>(*type);
}

void settle_accrual(Job& job, const State& state, int64_t now) {
    if (const auto type = type_by_state(job, state, now)) set_accrue_type(job, state, *type, now);
}

}  // namespace pbs::host
