// A cycle, first part: what the filters are going to look at.

#include <algorithm>

#include "server_plugin/scheduler/framework/cycle_parts.h"

namespace pbs::sched {
namespace {

rrule::Interval earliest(const std::optional<rrule::Interval>& a, const rrule::Interval& b) {
    return a && a->start <= b.start ? *a : b;
}

}  // namespace

void CycleScratch::clear() {
    constexpr std::size_t most_kept = std::size_t{4} << 20;  // bytes of a list
    const auto clear_list = [](auto& list) {
        list.clear();
        if (list.capacity() * sizeof(list[0]) > most_kept) list.shrink_to_fit();
    };
    for (auto& list : classes) clear_list(list);
    for (auto& list : verdict_of) clear_list(list);
    for (auto& list : answers_of_signature) clear_list(list);
    clear_list(verdicts);
    clear_list(signature_answers);
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

Cycle::Cycle(const CycleInput& input)
    : in_(input),
      scratch_(take_scratch(input.memory->kept)),
      t_(*input.tables),
      s_(input.policy->settings),
      p_(*s_.profile),
      schedule_(input.keep_pending_jobs ? input.events->schedule : own_schedule_) {
    set_up_state();
    state_.prime = &input.policy->prime;
    set_up_time();
    if (renew_filters(s_, in_.now, filters_)) setup_.policy = nullptr;
    setup_.admissions = admissions_of(s_, in_.now);
    count_running();
}

Cycle::~Cycle() {
    if (keeps_schedule())
        schedule_.end_cycle();
    else
        schedule_.clear(t_.requests);
    scratch_->clear();
    in_.memory->kept.scratch = std::move(scratch_);
}

void Cycle::set_up_state() {
    state_.now = in_.now;
    state_.settings = &s_;
    state_.queues = &t_.queues;
    state_.resources = &t_.resources;
    state_.server = &t_.server;
    state_.strings = &t_.strings;
    state_.vnodes = &t_.vnodes;
    state_.node_size = {s_.ssinode_cpus, s_.ssinode_mem};
    if (p_.counts_nodes) state_.vnode_share = state_.node_size;
    // Only together with TEST_ONLY: what is decided on such vnodes can't be carried out.
    if (s_.fake_machine_mult > 1 && s_.test_only.holds(in_.now)) {
        fake_vnodes_ = t_.vnodes;
        fake_vnodes_->multiply(s_.fake_machine_mult);
        state_.vnodes = &*fake_vnodes_;
    }
    state_.vnodes->clear_reservations();
    if (const auto found = t_.allocations.find(s_.sched_acct_dir); found != t_.allocations.end())
        state_.allocations = &found->second;
    state_.views = &views_;
    state_.instants = in_.events != nullptr ? &in_.events->instants : &instants_;
    state_.hpm_resource = t_.resources.known().hpm;
    state_.hpm_ready = t_.hpm == HpmCounters::user;
}

void Cycle::set_up_time() {
    state_.prime_enforced = s_.enforce_prime_time.holds(state_.now);
    state_.prime->move_to(state_.now);
    state_.prime_now = state_.prime_enforced && state_.prime->now_inside();
    if (s_.backfill_prime) state_.prime_change = s_.prime.next_change(state_.now);
}

// The current or next one of time_windows and of what DEDICATED_TIME_COMMAND tells together.
void Cycle::set_dedicated_time(QueueView& view) const {
    view.dedicated_time.reset();
    view.dedicated_now = false;
    if (!s_.enforce_dedicated_time.holds(state_.now)) return;
    const rrule::WindowSet& windows = in_.configuration->dedicated;
    auto found = windows.at_or_after(state_.now);
    if (!s_.dedicated_time_command.empty()) {
        const HostOutages told = host_outages(t_, s_, t_.strings.text(view.host));
        view.dedicated_awaited = told.awaited;
        if (const auto outage = outage_at_or_after(told.list, state_.now)) found = earliest(found, *outage);
        // What one of them touches at its end goes on with the other.
        for (bool grows = found.has_value(); grows;) {
            const Instant end = found->end;
            for (const auto& next : {windows.at_or_after(end), outage_at_or_after(told.list, end)})
                if (next && next->start <= found->end) found->end = std::max(found->end, next->end);
            grows = found->end > end;
        }
    }
    view.dedicated_time = found;
    view.dedicated_now = found && found->start <= state_.now;
}

void Cycle::set_windows(QueueView& view) const {
    const auto windows = in_.configuration->queue_windows.find(view.queue->name);
    if (windows == in_.configuration->queue_windows.end()) return;
    view.has_windows = true;
    view.open = windows->second.contains(state_.now);
    view.opens.reset();
    view.closes.reset();
    (view.open ? view.closes : view.opens) = windows->second.next_change(state_.now);
}

// What of a queue depends on the time.
void Cycle::set_time(QueueView& view) const {
    set_dedicated_time(view);
    set_windows(view);
    view.early = is_early(view);
}

bool Cycle::is_early(const QueueView& view) const {
    if (in_.memory->early_until.empty()) return false;
    const auto early = in_.memory->early_until.find(view.slot);
    return early != in_.memory->early_until.end() && state_.prime_now && state_.now < early->second;
}

void Cycle::count_running() {
    t_.count_nodes_by(state_.node_size);
    state_.counts = &t_.counts;
    state_.running = t_.running;
    for (const KeptAmount& available : t_.server.resources_available)
        state_.server_in_use.push_back(available.resource < t_.in_use.size() ? t_.in_use[available.resource]
                                                                             : 0);
}

Targets Cycle::views_of(const std::vector<QueueSpec>& specs, bool dedicated) {
    Targets targets;
    for (const QueueSpec& spec : specs) {
        const QueueSlot slot = t_.queues.find(spec.queue);
        if (slot == no_slot || t_.queues[slot].partition != in_.partition) continue;
        targets.views.push_back(make_view(slot, t_.strings.id(spec.host), dedicated));
    }
    for (QueueView* view : targets) {
        view->shared = std::ranges::count(views_, view->slot, &QueueView::slot) > 1;
        fill_view(*view);
    }
    return targets;
}

// Of an earlier cycle: what jobs use of it is other now, and the time may be.
void Cycle::renew_view(QueueView& view) {
    view.queue = &t_.queues[view.slot];
    if (in_.by_events) {
        view.early = is_early(view);
    } else {
        const Opening before = Opening::of(state_, view);
        view.dedicated_awaited = false;
        set_time(view);
        if (Opening::of(state_, view) != before) view.filters_known = false;
    }
    view.refused_for_prime.clear();
    view.top_job = no_slot;
    view.running = view.nodes = 0;
    std::ranges::fill(view.in_use, 0);
    fill_view(view);
}

QueueView* Cycle::make_view(QueueSlot slot, std::uint32_t host, bool dedicated) {
    QueueView& view = views_.emplace_back();
    view.number = static_cast<std::uint32_t>(views_.size() - 1);
    view.slot = slot;
    view.queue = &t_.queues[slot];
    view.host = host;
    view.dedicated = dedicated || view.queue->execution_type == ExecutionType::dedicated;
    view.pool = state_.vnodes->pool(view.queue->handle, host, in_.partition, chunks_by(t_, s_));
    view.node_limit = p_.counts_nodes ? node_limit(*view.queue) : -1;
    set_time(view);
    view.in_use.assign(view.queue->resources_available.size(), 0);
    const auto walltime = number_of(view.queue->resources_max, t_.resources.known().walltime);
    if (walltime) view.max_walltime = Seconds(*walltime);
    return &view;
}

void Cycle::fill_view(QueueView& view) {
    const bool shared = view.shared;
    view.empties = in_.now;
    const Queue& queue = *view.queue;
    // When a queue will be empty matters to few policies.
    const bool wants_end = s_.nonprime_drain_sys.holds(in_.now) || s_.avoid_fragmentation.holds(in_.now);
    if (shared || wants_end) {
        for (const JobSlot job : queue.running) {
            if (shared && !state_.vnodes->holds_in(view.pool, job)) continue;
            if (shared) count_into(view, job, 1);
            view.empties = std::max(view.empties, t_.jobs.end(job));
        }
    }
    if (!shared) {
        view.running = static_cast<std::int64_t>(queue.running.size());
        view.nodes = queue.nodes_in_use;
        for (std::size_t i = 0; i < view.in_use.size(); ++i) {
            const auto resource = queue.resources_available[i].resource;
            view.in_use[i] = resource < queue.in_use.size() ? queue.in_use[resource] : 0;
        }
    }
    if (view.dedicated) state_.dedicated_running += view.running;
}

void Cycle::count_into(QueueView& view, JobSlot job, int sign) const {
    view.running += sign;
    view.nodes += sign * nodes_of(job);
    const Request& request = t_.requests[t_.jobs.request[job]];
    for (std::size_t i = 0; i < view.in_use.size(); ++i)
        view.in_use[i] +=
            sign * number_of(request.totals, view.queue->resources_available[i].resource).value_or(0);
}

// The nodes of a queue: what resources_available or resources_max say in ssinodes, else what resources_max
// has in CPUs and memory.
std::int64_t Cycle::node_limit(const Queue& queue) const {
    const auto& known = t_.resources.known();
    if (const auto nodes = number_of(queue.resources_available, known.ssinodes)) return *nodes;
    if (const auto nodes = number_of(queue.resources_max, known.ssinodes)) return *nodes;
    const auto ncpus = number_of(queue.resources_max, known.ncpus);
    const auto mem = number_of(queue.resources_max, known.mem);
    if (!ncpus && !mem) return -1;
    return state_.node_size.nodes(ncpus.value_or(-1), mem.value_or(-1));
}

std::int64_t Cycle::nodes_of(JobSlot job) const {
    return job_nodes(t_, s_, job);
}

}  // namespace pbs::sched
