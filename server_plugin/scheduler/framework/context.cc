#include "server_plugin/scheduler/framework/context.h"

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/scheduler/framework/advance_reservations.h"
#include "server_plugin/scheduler/framework/shares.h"

namespace pbs::sched {

void CycleScratch::clear() {
    // The size in bytes above which a list's memory is freed.
    constexpr std::size_t kMostKept = std::size_t{4} << 20;
    const auto clear_list = [](auto& list) {
        list.clear();
        if (list.capacity() * sizeof(list[0]) > kMostKept) list.shrink_to_fit();
    };
    for (auto& list : classes) clear_list(list);
    for (auto& list : verdict_of) clear_list(list);
    for (auto& list : answers_of_signature) clear_list(list);
    clear_list(verdicts);
    clear_list(signature_answers);
    clear_list(signature_refusals);
    clear_list(answers);
    clear_list(refused);
    clear_list(started);
    clear_list(news);
    verdict_of_user.clear();
    pending.clear();
    answers_of_few.clear();
}

namespace {

std::shared_ptr<CycleScratch> take_scratch(KeptScratch& kept) {
    return kept.scratch ? std::move(kept.scratch) : std::make_shared<CycleScratch>();
}

}  // namespace

CycleContext::CycleContext(const CycleInput& input)
    : in(input),
      scratch(take_scratch(input.memory->kept)),
      tables(*input.tables),
      settings(input.policy->settings),
      profile(*settings.profile),
      test_only(settings.test_only.holds(input.now)),
      setup(scratch->setup),
      views(setup.views),
      filters(setup.filters),
      admissions(setup.admissions),
      started(scratch->started),
      refused(scratch->refused),
      answers(scratch->answers) {
    set_up_state();
    set_clock();
    if (renew_filters(settings, in.now, setup.filters)) setup.policy = nullptr;
    setup.admissions = admissions_of(settings, in.now);
    count_running();
    count_own_limits();
    by_soft_limits = tables.preempts && soft_limits_matter();
    preempts = settings.preemption && tables.preempts && (by_soft_limits || has_levels());
}

CycleContext::~CycleContext() {
    scratch->clear();
    in.memory->kept.scratch = std::move(scratch);
}

// Returns whether preemption levels depend on soft limits: the policy names them, and some are set.
bool CycleContext::soft_limits_matter() const {
    if (!settings.preemption) return false;
    if (settings.preempt_prio.names(preempt_server_softlimits) && tables.server.limits.any_soft())
        return true;
    if (!settings.preempt_prio.names(preempt_queue_softlimits)) return false;
    for (QueueSlot q = 0; q < tables.queues.size(); ++q)
        if (tables.queues[q].partition == in.partition && tables.queues[q].limits.any_soft()) return true;
    return false;
}

// Returns whether two jobs can have different preemption levels, apart from soft limits.
bool CycleContext::has_levels() const {
    const PreemptPriorities& levels = settings.preempt_prio;
    if (levels.names(preempt_starving) && settings.help_starving_jobs) return true;
    if (levels.names(preempt_fairshare) && settings.fairshare && in.shares != nullptr) return true;
    if (!levels.names(preempt_express)) return false;
    for (QueueSlot q = 0; q < tables.queues.size(); ++q) {
        const Queue& queue = tables.queues[q];
        if (queue.known && queue.partition == in.partition && queue.priority >= settings.preempt_queue_prio &&
            !queue.queued.empty())
            return true;
    }
    return false;
}

std::int64_t CycleContext::preempt_level(QueueSlot queue, std::uint32_t entity, bool starving,
                                         unsigned traits) const {
    const std::int32_t priority = tables.queues[queue].priority;
    if (priority >= settings.preempt_queue_prio) traits |= preempt_express;
    if (starving && settings.help_starving_jobs) traits |= preempt_starving;
    if (settings.fairshare && in.shares != nullptr && in.shares->tree.is_over(entity, usage_as_of()))
        traits |= preempt_fairshare;
    return settings.preempt_prio.level(traits, priority);
}

std::int64_t CycleContext::preempt_level(JobSlot job, bool starving) const {
    return preempt_level_over(job, starving, soft_traits(job));
}

std::int64_t CycleContext::preempt_level_over(JobSlot job, bool starving, unsigned traits) const {
    const bool by_shares = settings.fairshare && in.shares != nullptr;
    return preempt_level(tables.jobs.queue[job], by_shares ? in.shares->entity(tables, job) : 0, starving,
                         traits);
}

unsigned CycleContext::soft_traits(JobSlot job) const {
    if (!by_soft_limits) return 0;
    const QueueSlot queue = tables.jobs.queue[job];
    const CountedJob counted = tables.counted(job);
    const EntityUse& use = tables.counts.entities();
    const std::uint32_t server = EntityUse::server_in(tables.queues[queue].partition);
    return (is_over_soft(tables.server.limits, use, server, counted) ? preempt_server_softlimits : 0U) |
           (is_over_soft(tables.queues[queue].limits, use, queue, counted) ? preempt_queue_softlimits : 0U);
}

unsigned CycleContext::soft_traits_once_it_runs(JobSlot job) const {
    if (!by_soft_limits) return 0;
    const QueueSlot queue = tables.jobs.queue[job];
    tables.count_use(queue, tables.counted(job), 1);
    const unsigned traits = soft_traits(job);
    tables.count_use(queue, tables.counted(job), -1);
    return traits;
}

void CycleContext::set_up_state() {
    state.now = in.now;
    state.settings = &settings;
    state.planning = Planning::by(settings, tables.preempts && tables.has_closings);
    for (const std::string& name : settings.reserved_resources)
        if (const auto id = tables.resources.id(name); id != kNoResource)
            state.reserved_resources.push_back(id);
    state.queues = &tables.queues;
    state.resources = &tables.resources;
    state.server = &tables.server;
    state.shares = in.shares;
    state.tables = &tables;
    state.sums = in.memory->sums.get();
    state.strings = &tables.strings;
    state.vnodes = &tables.vnodes;
    state.node_size = {settings.ssinode_cpus, settings.ssinode_mem};
    if (profile.counts_nodes) state.vnode_share = state.node_size;
    // A larger machine is assumed only with TEST_ONLY: decisions about vnodes that don't exist can't be
    // carried out.
    if (settings.fake_machine_mult > 1 && settings.test_only.holds(in.now) && !in.tests_start) {
        fake_vnodes = tables.vnodes;
        fake_vnodes->multiply(settings.fake_machine_mult);
        state.vnodes = &*fake_vnodes;
    }
    state.vnodes->clear_reservations();
    book_reservations(tables, state);
    // Drop the reservations kept from an earlier cycle if there are bookings: whenever a booking begins or
    // ends, a reserved job may find another start.
    if (in.events != nullptr && !state.vnodes->bookings().empty()) in.events->kept.clear();
    tables.requests.see_without(settings.exclude_resources, tables.resources);
    if (const auto found = tables.allocations.find(settings.sched_acct_dir);
        found != tables.allocations.end())
        state.allocations = &found->second;
    state.vnodes->loads().begin_cycle();
    if (settings.orders_by_load())
        state.load_order = state.vnodes->loads().renew(
            *state.vnodes, tables.resources,
            {settings.load_formula, settings.job_load_adjustments, settings.load_adjustment_decay_time},
            in.now);
    state.views = &views;
    state.prime = &in.policy->prime;
    state.instants = in.events != nullptr ? &in.events->instants : &instants;
}

void CycleContext::set_clock() {
    state.prime_enforced = settings.enforce_prime_time.holds(state.now);
    state.prime->move_to(state.now);
    state.prime_now = state.prime_enforced && state.prime->now_inside();
    if (settings.backfill_prime) state.prime_change = settings.prime.next_change(state.now);
}

void CycleContext::count_running() {
    tables.count_nodes_by(state.node_size);
    state.counts = &tables.counts;
    state.partition = in.partition;
    state.running = 0;
    for (QueueSlot q = 0; q < tables.queues.size(); ++q)
        if (tables.queues[q].partition == in.partition)
            state.running += static_cast<std::int64_t>(tables.queues[q].running.size());
    for (const KeptAmount& available : tables.server.resources_available)
        state.server_amounts.push_back({available});
    for (const std::string& element : settings.server_dyn_res) add_told_amount(element);
    for (ServerAmount& amount : state.server_amounts) {
        const std::uint32_t resource = amount.available.resource;
        amount.given_back = tables.resources.consumable(resource);
        if (amount.given_back && resource < tables.in_use.size()) amount.in_use = tables.in_use[resource];
    }
}

NodeKeys CycleContext::node_keys(const KeysOfPlace* place) const {
    const NodeOrder* order = profile.node_order;
    if (order == nullptr) return {};
    NodeKeys keys = place != nullptr && order->of_place != nullptr
                        ? order->of_place(settings, tables.resources, *place)
                        : order->keys(settings, tables.resources);
    for (NodeKey& key : keys)
        if (key.is_load()) key.load_order = state.load_order;
    return keys;
}

bool CycleContext::order_moves() const {
    const auto moves_for = [&](const KeysOfPlace* place) {
        return std::ranges::any_of(node_keys(place), &NodeKey::moves);
    };
    return moves_for(nullptr) ||
           std::ranges::any_of(settings.node_sort_key_of_place,
                               [&](const KeysOfPlace& place) { return moves_for(&place); });
}

// Lists the limits with counters of their own, and counts the running jobs in them.
void CycleContext::count_own_limits() {
    for (const Filter* filter : filters)
        if (const OwnLimit* limit = filter->own_limit; limit != nullptr) {
            state.own_limits.push_back(limit);
            if (limit->binds_vnodes == nullptr || limit->binds_vnodes(settings))
                state.vnode_limits.push_back(limit);
            if (limit->counts_vnodes == nullptr || limit->counts_vnodes(settings))
                state.limits_count_vnodes = true;
        }
    if (!in.at_request)
        for (const OwnLimit* limit : state.own_limits)
            if (limit->begin_cycle != nullptr) limit->begin_cycle(state);
    if (std::ranges::all_of(state.own_limits, &OwnLimit::finds_running)) return;
    for (QueueSlot q = 0; q < tables.queues.size(); ++q)
        for (const JobSlot job : tables.queues[q].running) count_own(job, 1, true);
}

void CycleContext::count_own(JobSlot job, int sign, bool is_first) {
    if (state.own_limits.empty()) return;
    Vnodes::Shares shares;
    LimitUser user = limit_user(state, job, shares);
    user.nodes = nodes_of(job);
    for (const OwnLimit* limit : state.own_limits)
        if (!is_first || !limit->finds_running) limit->count(state, user, sign);
}

// Replaces the server's resources_available of the element's resource by the amount that the program of the
// element (server_dyn_res) reports.
void CycleContext::add_told_amount(const std::string& element) {
    const ToldAmounts::Report* known = tables.told.find(element);
    const std::uint32_t resource = tables.resources.id(DynamicResource::of(element).resource);
    if (known == nullptr || resource == kNoResource) return;
    auto value = tables.resources.parse_told(resource, known->value);
    ServerAmount amount{std::move(value).value_or(KeptAmount{resource, 0, {}}), element, false, known->taken};
    const auto set = std::ranges::find(state.server_amounts, resource,
                                       [](const ServerAmount& a) { return a.available.resource; });
    if (set == state.server_amounts.end())
        state.server_amounts.push_back(std::move(amount));
    else
        *set = std::move(amount);
}

void CycleContext::keep_what_was_taken() {
    for (const ServerAmount& amount : state.server_amounts)
        if (amount.is_told() && !amount.given_back)
            tables.told.set_taken(amount.element, amount.in_use.value());
}

Candidate CycleContext::candidate(const OrderedJob& job) const {
    Candidate c;
    c.job = job.job;
    c.job_class = job.job_class;
    c.user = {tables.jobs.owner[job.job], tables.jobs.group[job.job]};
    c.request_number = tables.jobs.request[job.job];
    c.request = &tables.requests[c.request_number];
    c.run_host = tables.jobs.run_host[job.job];
    c.nodes = job.nodes;
    if (tables.jobs.is_suspended(job.job)) c.suspended = job.job;
    c.asked = tables.jobs.walltime_left(job.job);
    c.walltime = c.asked < Seconds(0) ? time_unasked(c) : c.asked + state.planning.offset;
    c.hard_walltime = tables.jobs.hard_walltime_left(job.job);
    if (c.hard_walltime > Seconds(0)) c.hard_walltime += state.planning.offset;
    if (tables.by_project) c.project = tables.jobs.project[job.job];
    if (tables.by_shape) c.shape = tables.jobs.shape(job.job);
    if (tables.by_array) c.array = tables.jobs.array(job.job);
    return c;
}

// Returns the time for which a job without a walltime is planned, if its queue has no maximum.
Seconds CycleContext::time_unasked(const JobNeeds& job) const {
    const Planning& planning = state.planning;
    if (job.suspended == kNoSlot) return planning.unasked + planning.offset;
    const Instant began = in.now - Seconds(tables.jobs.rare_fields(job.suspended).elapsed);
    return planning.again(began + planning.unasked + planning.offset, in.now) - in.now;
}

void CycleContext::set_walltime(Candidate& job, const QueueView& view) const {
    const Planning& planning = state.planning;
    const QueueHours* hours = planning.pauses ? view.queue->hours : nullptr;
    if (job.asked < Seconds(0)) {
        const Seconds most = view.max_walltime >= Seconds(0) ? view.max_walltime : kUnlimitedWalltime;
        job.walltime = std::min(most + planning.offset, time_unasked(job));
        // Nothing ends the job after default_duration. So advance reservations expect it to use the queue's
        // maximum.
        if (planning.repeats(job.asked)) job.hard_walltime = most + planning.offset;
    } else if (hours != nullptr) {
        job.walltime = job.asked + planning.offset;
    }
    if (hours == nullptr) return;
    // Compute both times from the job's own walltimes. Those of the candidate may include the pauses that its
    // queue's hours cause from another instant on.
    if (const Seconds hard = tables.jobs.hard_walltime_left(job.job);
        hard > Seconds(0) && !planning.repeats(job.asked))
        job.hard_walltime = hard + planning.offset;
    for (Seconds* const time : {&job.walltime, &job.hard_walltime})
        if (*time > Seconds(0)) *time = planning.course(*hours, state.now, state.now + *time).end - state.now;
}

std::uint32_t CycleContext::nodes_of_ordered(JobSlot job) const {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(nodes_of(job), UINT32_MAX));
}

Reason CycleContext::held_up_reason(const QueueView* view) const {
    if (held_up == 0 || (view != nullptr && view->is_reservation)) return {};
    for (const auto& rule : after_refusal)
        if (const Reason reason = rule->holds_up(view)) return reason;
    return {};
}

Reason CycleContext::not_started_reason(QueueSlot home) const {
    return tables.queues[home].started ? Reason{} : Reason{ReasonCode::queue_not_started, home};
}

std::string CycleContext::text_of(const Answer& answer) const {
    const Reason& reason = answer.reason;
    const std::string words = text(reason, reason_context());
    if (reason.code != ReasonCode::subjobs_together) return words;
    return fmt::format("{}: {}", words, without_verdict(of_next_subjobs[reason.object]));
}

void CycleContext::refuse(JobSlot job, const Reason& reason) {
    refused.push_back({job, static_cast<std::uint32_t>(answers.size())});
    answers.push_back({reason});
}

void CycleContext::refuse_unserved() {
    if (!in.served) return;
    for (QueueSlot q = 0; q < tables.queues.size(); ++q)
        if (is_unserved(tables.queues[q]))
            for (const JobSlot job : tables.queues[q].queued) refuse_if_unserved(job);
}

bool CycleContext::is_unserved(const Queue& queue) const {
    return in.served && queue.known && queue.execution &&
           std::ranges::find(*in.served, queue.partition) == in.served->end();
}

void CycleContext::refuse_if_unserved(JobSlot job) {
    const QueueSlot queue = tables.jobs.queue[job];
    if (is_unserved(tables.queues[queue]) && !tables.jobs.is_elsewhere(job))
        refuse(job, {ReasonCode::no_scheduler, queue, tables.queues[queue].partition});
}

}  // namespace pbs::sched
