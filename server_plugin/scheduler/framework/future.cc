#include "server_plugin/scheduler/framework/future.h"

namespace pbs::sched {

Future::Future(CycleContext& context, Queues& queues)
    : CyclePart(context),
      queues_(queues),
      schedule_(context.in.keep_pending_jobs ? context.in.events->schedule : own_) {}

Future::~Future() {
    if (is_kept())
        schedule_.end_cycle();
    else
        schedule_.clear(t_.requests);
}

void Future::add(JobSlot job, const QueueView& view, std::uint32_t reservation, const Placement& placement,
                 const rrule::Interval& when) {
    schedule_.add(holding(job, view, reservation, placement, when), when);
}

ResourceSchedule::Holding Future::holding(JobSlot job, const QueueView& view, std::uint32_t reservation,
                                          const Placement& placement, const rrule::Interval& when) const {
    ResourceSchedule::Holding h;
    h.whose = t_.jobs.entities(job);
    h.walltime = t_.jobs.walltime[job];
    h.nodes = c_.nodes_of(job);
    h.request = t_.jobs.request[job];
    h.queue = view.slot;
    h.views = {view.number};
    h.dedicated_views = view.dedicated ? 1 : 0;
    h.reservation = reservation;
    h.began = when.start;
    h.end = when.end;
    if (const QueueHours* hours = view.queue->hours; state_.planning.pauses && hours != nullptr) {
        const auto course = state_.planning.course(*hours, when.start, when.end);
        h.stops = course.stops;
        h.resumes = course.resumes;
    }
    state_.vnodes->shares_of(placement, t_.requests[h.request], c_.vnode_share(), h.shares);
    return h;
}

void Future::give_up(const Preempted& preempted) {
    const JobSlot job = preempted.job;
    ResourceSchedule::Holding h;
    h.given_up = true;
    h.began = t_.jobs.stime[job];
    h.whose = t_.jobs.entities(job);
    h.walltime = t_.jobs.walltime[job];
    h.nodes = c_.nodes_of(job);
    h.request = t_.jobs.request[job];
    h.queue = t_.jobs.queue[job];
    for (const QueueView* view : queues_.counting(job)) {
        h.views.push_back(view->number);
        h.dedicated_views += view->dedicated ? 1 : 0;
    }
    state_.vnodes->shares_held(job, h.shares);
    // A job that has overrun its walltime is expected to end kOverrun from now, as in the schedule.
    const QueueHours::Course course = state_.planned_course(job);
    h.stops = course.stops;
    h.resumes = course.resumes;
    Instant end = course.end;
    if (end <= in_.now) end = in_.now + KeptReservation::kOverrun;
    schedule_.add(std::move(h), {in_.now, end});
}

void Future::clear_reservations() {
    ++c_.reservations_cleared;
    state_.reservations.clear();
    state_.vnodes->clear_reservations();
    schedule_.end_cycle();
    started_in_it_ = preempted_in_it_ = reservations_in_it_ = c_.reserved_kept = 0;
    later_.clear();
}

// Brings the running jobs in the schedule up to date.
void Future::begin() {
    if (!schedule_.is_in_cycle())
        schedule_.begin_cycle(state_, t_, is_kept() ? in_.events->since.times_all : 0);
}

bool Future::is_late() {
    begin();
    return schedule_.is_late();
}

ResourceSchedule& Future::schedule() {
    begin();
    for (; reservations_in_it_ < c_.reserved_kept; ++reservations_in_it_) {
        const KeptReservation& kept = in_.events->kept[reservations_in_it_];
        add(state_.reservations[reservations_in_it_].job, views_[kept.view],
            static_cast<std::uint32_t>(reservations_in_it_), kept.placement, {kept.start, kept.end});
    }
    for (const std::uint32_t number : std::exchange(later_, {})) {
        const Reservation& made = state_.reservations[number];
        add(made.job, views_[made.view], number, made.placement, {made.start, made.end});
    }
    for (; preempted_in_it_ < c_.preempted.size(); ++preempted_in_it_)
        give_up(c_.preempted[preempted_in_it_]);
    for (; started_in_it_ < started_.size(); ++started_in_it_) {
        const Started& started = started_[started_in_it_];
        add(started.job, *started.view, kNoSlot, started.placement, {in_.now, started.end});
    }
    return schedule_;
}

}  // namespace pbs::sched
