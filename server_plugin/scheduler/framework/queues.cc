// The part of a cycle that makes the QueueViews of its queues: the form in which filters read queues.

#include "server_plugin/scheduler/framework/queues.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>

#include "server_plugin/scheduler/model/words.h"

namespace pbs::sched {
namespace {

rrule::Interval earliest(const std::optional<rrule::Interval>& a, const rrule::Interval& b) {
    return a && a->start <= b.start ? *a : b;
}

}  // namespace

// Returns the dedicated time, by time_windows and DEDICATED_TIME_COMMAND together.
std::optional<rrule::Interval> Queues::dedicated_time_from(std::uint32_t host, Instant t,
                                                           bool* is_awaited) const {
    if (!s_.enforce_dedicated_time.holds(t)) return std::nullopt;
    const rrule::WindowSet& windows = in_.configuration->dedicated;
    auto found = windows.at_or_after(t);
    if (!s_.dedicated_time_command.empty()) {
        const HostOutages told = host_outages(t_, s_, t_.strings.text(host));
        if (is_awaited != nullptr) *is_awaited = told.awaited;
        if (const auto outage = outage_at_or_after(told.list, t)) found = earliest(found, *outage);
        // A further dedicated time that begins by the end of this one prolongs it.
        for (bool grows = found.has_value(); grows;) {
            const Instant end = found->end;
            for (const auto& next : {windows.at_or_after(end), outage_at_or_after(told.list, end)})
                if (next && next->start <= found->end) found->end = std::max(found->end, next->end);
            grows = found->end > end;
        }
    }
    return found;
}

void Queues::set_dedicated_time(QueueView& view) const {
    view.dedicated_time = dedicated_time_from(view.host, state_.now, &view.dedicated_awaited);
    view.dedicated_now = view.dedicated_time && view.dedicated_time->start <= state_.now;
}

// Sets whether the queue belongs to an advance reservation, and its present booking; for a standing
// reservation, the first booking.
void Queues::set_booking(QueueView& view) const {
    view.is_reservation = t_.reservation_of(view.slot) != nullptr;
    view.booking = kNoSlot;
    if (!view.is_reservation) return;
    const std::vector<Booking>& list = state_.vnodes->bookings().list();
    const auto own = std::ranges::find(list, view.slot, &Booking::queue);
    if (own != list.end()) view.booking = static_cast<std::uint32_t>(own - list.begin());
}

void Queues::set_windows(QueueView& view) const {
    const auto found = in_.configuration->queue_hours.find(view.queue->name);
    const bool has_hours = found != in_.configuration->queue_hours.end();
    view.hours = has_hours ? &found->second : nullptr;
    view.open = !has_hours || view.hours->open().contains(state_.now);
    view.opens.reset();
    view.closes.reset();
    if (!has_hours) return;
    (view.open ? view.closes : view.opens) = view.hours->open().next_change(state_.now);
}

// Sets the members of a queue that depend on the time.
void Queues::set_time(QueueView& view) const {
    set_dedicated_time(view);
    set_windows(view);
    view.early = is_early(view);
    view.facts = {state_.settings,
                  state_.server,
                  view.queue,
                  view.slot,
                  view.node_limit,
                  view.dedicated,
                  view.dedicated_time.has_value(),
                  view.dedicated_awaited,
                  view.open};
}

bool Queues::is_early(const QueueView& view) const {
    return state_.prime_now && std::ranges::any_of(p_.after_refusal, [&](const AfterRefusalRule* rule) {
               return rule->gave_up_prime != nullptr &&
                      rule->gave_up_prime(in_.memory->own, view.queue->handle, state_.now);
           });
}

CandidateQueues Queues::views_of(const std::vector<QueueSpec>& specs, bool dedicated) {
    CandidateQueues queues;
    for (const QueueSpec& spec : specs) {
        const QueueSlot slot = t_.queues.find(spec.queue);
        if (slot == kNoSlot || t_.queues[slot].partition != in_.partition) continue;
        queues.views.push_back(make_view(slot, t_.strings.id(spec.host), dedicated));
    }
    for (QueueView* view : queues) {
        view->shared = std::ranges::count(views_, view->slot, &QueueView::slot) > 1;
        fill_view(*view);
    }
    return queues;
}

// Updates a view (a queue as filters see it) of an earlier cycle: the use by jobs has changed, and the time
// may have.
void Queues::renew_view(QueueView& view) {
    assert(&views_[view.number] == &view);  // limits distinguish views by their number
    view.facts.queue = view.queue = &t_.queues[view.slot];
    set_booking(view);
    if (in_.by_events) {
        view.early = is_early(view);
    } else {
        const QueueFacts before = view.facts;
        view.dedicated_awaited = false;
        set_time(view);
        if (view.facts != before) view.filters_known = false;
    }
    view.running = view.nodes = 0;
    std::ranges::fill(view.in_use, values::Sum());
    fill_view(view);
}

QueueView* Queues::make_view(QueueSlot slot, std::uint32_t host, bool dedicated) {
    QueueView& view = views_.emplace_back();
    view.number = static_cast<std::uint32_t>(views_.size() - 1);
    view.slot = slot;
    view.queue = &t_.queues[slot];
    set_booking(view);
    view.host = host;
    view.dedicated = dedicated || view.queue->execution_type == ExecutionType::dedicated;
    const auto pool = [&](const KeysOfPlace* place) {
        return state_.vnodes->pool(view.queue->handle, host, in_.partition, chunks_by(t_, s_),
                                   c_.node_keys(place));
    };
    view.pool = pool(nullptr);
    for (const KeysOfPlace& place : s_.node_sort_key_of_place) view.pools_of_place.push_back(pool(&place));
    view.node_limit = p_.counts_nodes ? node_limit(*view.queue) : -1;
    view.groups = groups_of(*view.queue);
    set_time(view);
    view.in_use.assign(view.queue->resources_available.size(), 0);
    const auto walltime = number_of(view.queue->resources_max, t_.resources.known().walltime);
    if (walltime) view.max_walltime = Seconds(*walltime);
    return &view;
}

// The resources of node_group_key. Ignores names that aren't resources.
std::vector<std::uint32_t> Queues::groups_of(const Queue& queue) const {
    std::vector<std::uint32_t> resources;
    if (!t_.node_group_enable) return resources;
    for_each_word(queue.node_group_key.empty() ? t_.node_group_key : queue.node_group_key,
                  [&](std::string_view name) {
                      if (const std::uint32_t id = t_.resources.id(name); id != kNoResource)
                          resources.push_back(id);
                  });
    return resources;
}

void Queues::fill_view(QueueView& view) {
    const bool shared = view.shared;
    view.empties = in_.now;
    const Queue& queue = *view.queue;
    if (shared || wants_last_end_) {
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
            view.in_use[i] = resource < queue.in_use.size() ? queue.in_use[resource] : values::Sum();
        }
    }
    if (view.dedicated) state_.dedicated_running += view.running;
}

void Queues::count_into(QueueView& view, JobSlot job, int sign) const {
    view.running += sign;
    view.nodes += sign * c_.nodes_of(job);
    const Request& request = t_.requests[t_.jobs.request[job]];
    for (std::size_t i = 0; i < view.in_use.size(); ++i)
        view.in_use[i] +=
            values::Sum(number_of(request.totals, view.queue->resources_available[i].resource).value_or(0)) *
            sign;
}

std::vector<QueueView*> Queues::counting(JobSlot job) const {
    std::vector<QueueView*> counting;
    for (QueueView& view : views_)
        if (view.slot == t_.jobs.queue[job] && (!view.shared || state_.vnodes->holds_in(view.pool, job)))
            counting.push_back(&view);
    return counting;
}

// Returns the number of nodes of a queue: ssinodes in resources_available or resources_max; else from the
// CPUs and the memory in resources_max. -1: none of these is set.
std::int64_t Queues::node_limit(const Queue& queue) const {
    const auto& known = t_.resources.known();
    if (const auto nodes = number_of(queue.resources_available, known.ssinodes)) return *nodes;
    if (const auto nodes = number_of(queue.resources_max, known.ssinodes)) return *nodes;
    const auto ncpus = number_of(queue.resources_max, known.ncpus);
    const auto mem = number_of(queue.resources_max, known.mem);
    if (!ncpus && !mem) return -1;
    return state_.node_size.nodes(ncpus.value_or(-1), mem.value_or(-1));
}

// Returns whether the set-up of an earlier cycle is still valid.
bool Queues::are_set_up() const {
    return setup_.policy == in_.policy && in_.events != nullptr && !c_.fake_vnodes &&
           setup_.times_all == in_.events->since.times_all && setup_.pools == t_.vnodes.version();
}

// Forgets the set-up of an earlier cycle, perhaps by another policy.
void Queues::forget() {
    setup_.policy = nullptr;
    views_.clear();
    setup_.batch = {};
    setup_.in_place.clear();
    setup_.sources.clear();
    setup_.submit = setup_.special = kNoSlot;
}

void Queues::renew(CandidateQueues& queues) {
    for (QueueView* view : queues) renew_view(*view);
    if (queues.user_reads.value_or(0) != 0) queues.standings = {};
    queues.released = {};
    if (!in_.by_events) queues.user_reads.reset();
}

void Queues::set_up() {
    if (are_set_up()) {
        renew(setup_.batch);
        for (auto& [slot, queues] : setup_.in_place) renew(queues);
        if (!in_.by_events) find_leaving();
        return;
    }
    forget();
    if (p_.intake == JobSource::named_queues)
        add_named_queues();
    else
        add_every_queue();
    find_leaving();
    if (p_.make_chains != nullptr) p_.make_chains(*in_.policy, t_.resources);
    setup_.policy = in_.events != nullptr && !c_.fake_vnodes ? in_.policy : nullptr;
    if (setup_.policy == nullptr) return;
    setup_.times_all = in_.events->since.times_all;
    setup_.pools = t_.vnodes.version();
}

// Finds the filters for QueueSetup::leaving.
void Queues::find_leaving() {
    const auto is_set = [&](const Filter* filter) {
        if (filter->limit() == nullptr) return filter->leaves != nullptr;
        for (const QueueView& view : views_)
            if (!filter->lets_all_pass(view.facts)) return true;
        for (QueueSlot q = 0; q < t_.queues.size(); ++q)
            if (!filter->lets_all_pass({.settings = state_.settings,
                                        .server = state_.server,
                                        .queue = &t_.queues[q],
                                        .slot = q,
                                        .dedicated = true}))
                return true;
        return false;
    };
    setup_.leaving.clear();
    std::ranges::copy_if(c_.filters, std::back_inserter(setup_.leaving), is_set);
}

void Queues::add_in_place(QueueSlot queue, const QueueSpec& spec, std::optional<JobClass> job_class) {
    if (queue == kNoSlot || setup_.in_place.contains(queue)) return;
    CandidateQueues views = views_of({spec}, job_class == JobClass::dedicated);
    if (views.empty()) return;
    setup_.in_place.emplace(queue, std::move(views));
    setup_.sources.push_back({queue, job_class});
}

QueueView& Queues::add_alone(QueueSlot queue) {
    QueueView& view = *make_view(queue, 0, names_as_dedicated(t_.queues[queue]));
    fill_view(view);
    return view;
}

void Queues::add_named_queues() {
    setup_.batch = views_of(s_.batch_queues, false);
    for (const QueueSpec& spec : dedicated_queues())
        add_in_place(t_.queues.find(spec.queue), spec, JobClass::dedicated);
    const auto source = [&](const std::vector<QueueSpec>& spec) {
        const QueueSlot slot = spec.empty() ? kNoSlot : t_.queues.find(spec[0].queue);
        return slot == kNoSlot || t_.queues[slot].partition != in_.partition || setup_.in_place.contains(slot)
                   ? kNoSlot
                   : slot;
    };
    setup_.special = source(s_.special_queue);
    setup_.submit = source(s_.submit_queue);
    for (const QueueSpec& spec : s_.external_queues)
        add_in_place(t_.queues.find(spec.queue), spec, JobClass::rest);
    // Add the queues of advance reservations, which no policy names.
    for (const auto& [handle, reservation] : t_.reservations) {
        const QueueSlot slot = t_.queues.find(reservation.queue);
        if (slot != kNoSlot && t_.queues[slot].known && t_.queues[slot].partition == in_.partition)
            add_in_place(slot, {t_.queues[slot].name}, JobClass::rest);
    }
    if (setup_.special != kNoSlot) setup_.sources.push_back({setup_.special, JobClass::special});
    if (setup_.submit != kNoSlot && setup_.submit != setup_.special)
        setup_.sources.push_back({setup_.submit});
}

void Queues::add_every_queue() {
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        const Queue& queue = t_.queues[q];
        if (!queue.known || !queue.execution || queue.partition != in_.partition) continue;
        CandidateQueues own{{make_view(q, 0, names_as_dedicated(queue))}, {}};
        fill_view(*own[0]);
        setup_.in_place.emplace(q, std::move(own));
        setup_.sources.push_back({q});
    }
}

// Returns whether the policy names the queue in dedicated_queues.
bool Queues::names_as_dedicated(const Queue& queue) const {
    return std::ranges::any_of(s_.dedicated_queues,
                               [&](const QueueSpec& spec) { return spec.queue == queue.name; });
}

// The dedicated queues of the policy, and queues of execution_type execution_dedicated.
std::vector<QueueSpec> Queues::dedicated_queues() const {
    std::vector<QueueSpec> specs = s_.dedicated_queues;
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        const Queue& queue = t_.queues[q];
        if (queue.known && queue.execution_type == ExecutionType::dedicated) specs.push_back({queue.name});
    }
    return specs;
}

CandidateQueues& Queues::of(const Lane& lane) {
    return starts_in_place(lane.job_class) ? setup_.in_place.at(lane.of) : setup_.batch;
}

CandidateQueues& Queues::of(const OrderedJob& job) {
    if (!starts_in_place(job.job_class)) return setup_.batch;
    if (of_queue_.empty()) {
        of_queue_.assign(t_.queues.size(), nullptr);
        for (auto& [queue, queues] : setup_.in_place) of_queue_[queue] = &queues;
    }
    CandidateQueues* own = of_queue_[t_.signatures[job.signature].queue];
    return own != nullptr ? *own : setup_.batch;
}

std::span<const std::uint32_t> Queues::ranks() {
    if (!ranks_.empty()) return ranks_;
    std::vector<QueueSlot> order(t_.queues.size());
    for (QueueSlot q = 0; q < order.size(); ++q) order[q] = q;
    std::ranges::sort(order, [&](QueueSlot a, QueueSlot b) {
        const Queue& x = t_.queues[a];
        const Queue& y = t_.queues[b];
        return x.priority != y.priority ? x.priority > y.priority : x.handle < y.handle;
    });
    ranks_.resize(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) ranks_[order[i]] = i;
    return ranks_;
}

}  // namespace pbs::sched
