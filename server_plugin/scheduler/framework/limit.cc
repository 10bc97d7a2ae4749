#include "server_plugin/scheduler/framework/limit.h"

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/model/words.h"

namespace pbs::sched {
namespace {

// A queue's or the server's amount of a resource for its jobs.
struct Supply {
    const KeptAmount& available;
    std::int64_t in_use = 0;
    bool given_back = false;  // jobs give their amounts back
    bool told = false;        // a program of server_dyn_res reports the amount
};

// Calls visit(supply) for each resource of resources_available that the policy doesn't exclude, until a call
// returns true. `view`: visit the resources of its queue; null: the resources of the server.
template <class Visit>
void for_each_supply(const CycleState& state, const QueueView* view, Visit visit) {
    if (view == nullptr) {
        for (const ServerAmount& amount : state.server_amounts)
            if (!state.is_excluded(amount.available.resource) &&
                visit(Supply{amount.available, amount.in_use.value(), amount.given_back, amount.is_told()}))
                return;
        return;
    }
    const auto& available = view->queue->resources_available;
    for (std::size_t i = 0; i < available.size(); ++i) {
        if (state.is_excluded(available[i].resource)) continue;
        const bool given_back = state.resources->consumable(available[i].resource);
        if (visit(Supply{available[i], given_back ? view->in_use[i].value() : 0, given_back, false})) return;
    }
}

// Returns `reason` with the amounts if the request needs more than the supply has; empty: there is enough.
// Jobs take nothing from a number that isn't consumable. A requested text has to be one of the available
// ones.
Reason lack_of(const CycleState& state, const Request& request, const Supply& supply, Reason reason) {
    const KeptAmount& available = supply.available;
    const std::uint32_t resource = available.resource;
    const auto differs_by = [&](std::string_view asked, std::string_view has) {
        reason.code = differs(reason.code);
        reason.a = state.strings->id(fmt::format("{} != {}", asked, has));
        return reason;
    };
    if (state.resources->is_text(resource)) {
        const auto asked = std::ranges::find(request.amounts, resource, &KeptAmount::resource);
        if (asked == request.amounts.end() || has_word(available.text, asked->text)) return {};
        return differs_by(asked->text, available.text);
    }
    const auto asked = number_of(request.totals, resource);
    if (!asked) return {};
    if (state.resources->is_boolean(resource)) {
        if (*asked == available.number) return {};
        return differs_by(state.resources->format(resource, *asked),
                          state.resources->format(resource, available.number));
    }
    if (*asked == 0 || values::Sum(supply.in_use) + *asked <= available.number) return {};
    reason.a = *asked;
    reason.b = (values::Sum(available.number) - supply.in_use).value();
    reason.c = available.number;
    return reason;
}

JobSize left_of_supplies(const CycleState& state, const QueueView* view) {
    JobSize left = kAnySize;
    const auto& known = state.resources->known();
    for_each_supply(state, view, [&](const Supply& supply) {
        const std::int64_t free =
            free_at_least((values::Sum(supply.available.number) - supply.in_use).value());
        if (supply.available.resource == known.ncpus) left.ncpus = narrow(free);
        if (supply.available.resource == known.mem) left.mem = megabytes(free);
        return false;
    });
    return left;
}

}  // namespace

// Returns the reason for a refusal. The ReasonCodes of a scope and measure are in the order of EntityKind.
ReasonCode Limit::code() const {
    if (reason != ReasonCode::nothing) return reason;
    const bool on_amounts = measure == Measure::amounts;
    const ReasonCode of_all = is_of_queue()
                                  ? (on_amounts ? ReasonCode::queue_amount_all : ReasonCode::queue_run_all)
                                  : (on_amounts ? ReasonCode::server_amount_all : ReasonCode::server_run_all);
    return static_cast<ReasonCode>(static_cast<int>(of_all) + static_cast<int>(entity));
}

// Returns a reason with the limit's own words, if it has any; else `given`.
Reason Limit::reason_with(const CycleState& state, Reason given) const {
    if (words == nullptr) return given;
    return {ReasonCode::other, given.queue, state.strings->id(words)};
}

// Returns the use whose decrease lifts the limit's refusals. For a limit of a view, that is the use of its
// queue.
UseKey Limit::lifted_by(QueueSlot queue, std::uint32_t whose) const {
    return {is_of_queue() ? UseScope::queue : scope, entity, is_of_queue() ? queue : 0, whose};
}

LimitKey Limit::counter(const QueueView& view, std::uint32_t whose, std::uint32_t what) const {
    const std::uint32_t object = scope == UseScope::view    ? view.number
                                 : scope == UseScope::queue ? view.slot
                                                            : 0;
    return {{scope, entity, object, whose}, what};
}

EntityLimits::Found Limit::most_jobs(const QueueFacts& o, std::uint32_t whose) const {
    if (most != nullptr) return {most(o), false};
    const EntityLimits::Limit* limit = by_entity(o).on_jobs(entity);
    return limit == nullptr ? Found{} : limit->find(whose);
}

// Returns the number of running jobs of an entity, or of all jobs, in the limit's scope. REQUIRES: the scope
// isn't a view.
std::int64_t Limit::running(const CycleState& state, QueueSlot queue, std::uint32_t whose) const {
    const bool in_queue = scope == UseScope::queue;
    if (entity == EntityKind::user)
        return state.counts->of_user(in_queue ? queue : state.everywhere(), whose);
    if (entity == EntityKind::group)
        return state.counts->of_group(in_queue ? queue : state.everywhere(), whose);
    if (entity == EntityKind::array) return state.counts->entities().of_array(whose);
    if (scope == UseScope::dedicated) return state.dedicated_running;
    if (by_entity == nullptr) return state.running;
    return state.counts->entities().of(in_queue ? queue : EntityUse::server_in(state.partition), entity,
                                       whose, kJobs);
}

Refusal Limit::check(const CycleState& state, const JobNeeds& job, const User& user,
                     const QueueView& view) const {
    const std::uint32_t whose = entities_of(job, user).of(entity);
    switch (measure) {
        case Measure::jobs:
            return check_jobs(state, whose, view);
        case Measure::nodes:
            return check_nodes(state, job, view);
        case Measure::amounts:
            return check_amounts(state, job, whose, view);
        case Measure::available:
            break;
    }
    return check_available(state, job, view);
}

Refusal Limit::check_jobs(const CycleState& state, std::uint32_t whose, const QueueView& view) const {
    if ((scope == UseScope::dedicated && !view.dedicated) || spares(whose)) return {};
    const Found found = most_jobs(view.facts, whose);
    if (found.most < 0) return {};
    const std::int64_t now = scope == UseScope::view ? view.running : running(state, view.slot, whose);
    if (now < found.most) return {};
    return Refusal::for_less_of(reason_with(state, {code(), view.slot, found.own ? whose : 0, found.most}),
                                lifted_by(view.slot, whose));
}

std::int64_t Limit::refuses_after(const CycleState& state, const User& user, const QueueView& view) const {
    const std::uint32_t whose = is_of_owner() ? user.owner : user.group;
    const std::int64_t allowed = most_jobs(view.facts, whose).most;
    if (allowed < 0) return kNever;
    return std::max<std::int64_t>(0, allowed - running(state, view.slot, whose));
}

Refusal Limit::check_nodes(const CycleState& state, const JobNeeds& job, const QueueView& view) const {
    const std::int64_t there_are = most(view.facts);
    if (there_are < 0 || view.nodes + job.nodes <= there_are) return {};
    return Refusal::for_less_of(reason_with(state, {code(), view.slot, 0, job.nodes, there_are - view.nodes}),
                                lifted_by(view.slot, 0));
}

// Tests the job's amount of each limited resource. A job that doesn't request a resource isn't affected by
// its limit. A maximum for the named entity replaces the one for each entity.
Refusal Limit::check_amounts(const CycleState& state, const JobNeeds& job, std::uint32_t whose,
                             const QueueView& view) const {
    const std::uint32_t of_scope =
        scope == UseScope::queue ? view.slot : EntityUse::server_in(state.partition);
    for (const EntityLimits::Limit& limit : by_entity(view.facts).of(entity)) {
        if (limit.resource == kJobs) continue;
        const Found found = limit.find(whose);
        if (found.most < 0) continue;
        const auto asked = asked_amount(*job.request, job.asked, limit.resource);
        if (!asked) continue;
        const std::int64_t used = state.counts->entities().of(of_scope, entity, whose, limit.resource);
        if (values::Sum(used) + *asked <= found.most) continue;
        const Reason why{code(), view.slot,  real_resource(limit.resource, *state.resources),
                         *asked, found.most, found.own ? whose : 0};
        return Refusal::for_less_of(reason_with(state, why), lifted_by(view.slot, whose));
    }
    return {};
}

Refusal Limit::check_available(const CycleState& state, const JobNeeds& job, const QueueView& view) const {
    Refusal refusal;
    for_each_supply(state, is_of_queue() ? &view : nullptr, [&](const Supply& supply) {
        const Reason lack =
            lack_of(state, *job.request, supply, {code(), view.slot, supply.available.resource});
        if (!lack) return false;
        refusal = Refusal::for_good(lack);
        if (supply.given_back) refusal.blockers |= blocker::less_of(lifted_by(view.slot, 0));
        if (supply.told) {
            refusal.blockers |= blocker::kTold;
            // The program may report more at any time. With an instant, even an unknown one, the job counts
            // as one that may start later.
            if (lack.a <= lack.c) refusal.until = Instant::max();
        }
        return true;
    });
    return refusal;
}

bool Limit::is_open(const QueueFacts& o) const {
    if (scope == UseScope::dedicated && !o.dedicated) return true;
    if (measure == Measure::available)
        return is_of_queue() ? o.queue->resources_available.empty()
                             : o.server->resources_available.empty() && o.settings->server_dyn_res.empty();
    if (most != nullptr) return most(o) < 0;
    return measure == Measure::amounts ? !by_entity(o).on_resources(entity)
                                       : by_entity(o).on_jobs(entity) == nullptr;
}

std::optional<JobSize> Limit::left_in(const CycleState& state, const QueueView& view) const {
    if (measure == Measure::available) return left_of_supplies(state, &view);
    const std::int64_t there_are = most(view.facts);
    if (there_are < 0) return std::nullopt;
    if (measure == Measure::nodes)
        return JobSize{narrow(there_are - view.nodes), kNoLimit, kNoLimit, kNoLimit};
    return view.running < there_are ? kAnySize : kNoSize;
}

// A job may need nothing of the resources whose limits are reached.
std::optional<JobSize> Limit::left_of_amounts(const CycleState& state, const UseKey& key,
                                              const EntityLimits& limits) const {
    if (!limits.on_resources(entity)) return std::nullopt;
    const std::uint32_t of_scope =
        scope == UseScope::queue ? key.object : EntityUse::server_in(state.partition);
    const auto& known = state.resources->known();
    JobSize left = kAnySize;
    for (const EntityLimits::Limit& limit : limits.of(entity)) {
        if (limit.resource != known.ncpus && limit.resource != known.mem) continue;
        const std::int64_t there_are = limit.find(key.of).most;
        if (there_are < 0) continue;
        const values::Sum used(state.counts->entities().of(of_scope, entity, key.of, limit.resource));
        const std::int64_t free = free_at_least((values::Sum(there_are) - used).value());
        if (limit.resource == known.ncpus) left.ncpus = narrow(free);
        if (limit.resource == known.mem) left.mem = megabytes(free);
    }
    return left;
}

std::optional<JobSize> Limit::left(const CycleState& state, const UseKey& key) const {
    if (key.entity != entity || key.scope != lifted_by(0, 0).scope) return std::nullopt;
    if (scope == UseScope::view)
        return left_by_views(state, key, [&](const QueueView& view) { return left_in(state, view); });
    if (measure == Measure::available) return left_of_supplies(state, nullptr);
    QueueFacts o{.settings = state.settings, .server = state.server};
    if (scope == UseScope::queue) {
        o.queue = &(*state.queues)[key.object];
        o.slot = key.object;
    }
    if (measure == Measure::amounts) return left_of_amounts(state, key, by_entity(o));
    const std::int64_t there_are = most_jobs(o, key.of).most;
    if (there_are < 0) return std::nullopt;
    return running(state, key.object, key.of) < there_are ? kAnySize : kNoSize;
}

void Limit::add_needs(const CycleState& state, const JobNeeds& job, const User& user, const QueueView& view,
                      std::vector<LimitNeed>& needs) const {
    const std::uint32_t whose = entities_of(job, user).of(entity);
    if ((scope == UseScope::dedicated && !view.dedicated) || spares(whose)) return;
    const auto add = [&](std::uint32_t what, std::int64_t amount, std::int64_t capacity) {
        if (capacity >= 0) needs.push_back({counter(view, whose, what), amount, capacity});
    };
    const QueueFacts& o = view.facts;
    switch (measure) {
        case Measure::jobs:
            return add(kJobs, 1, most_jobs(o, whose).most);
        case Measure::nodes:
            return add(kNodes, job.nodes, most(o));
        case Measure::amounts:
            for (const EntityLimits::Limit& limit : by_entity(o).of(entity))
                if (limit.resource != kJobs)
                    if (const auto amount = asked_amount(*job.request, job.asked, limit.resource))
                        add(limit.resource, *amount, limit.find(whose).most);
            return;
        case Measure::available:
            for_each_supply(state, is_of_queue() ? &view : nullptr, [&](const Supply& supply) {
                const std::uint32_t resource = supply.available.resource;
                if (!state.resources->consumable(resource)) return false;
                if (const auto amount = number_of(job.request->totals, resource))
                    needs.push_back({counter(view, whose, resource), *amount, supply.available.number});
                return false;
            });
    }
}

}  // namespace pbs::sched
