// The time for which a policy plans jobs to hold their places.
#pragma once

#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/model/queue_hours.h"
#include "server_plugin/scheduler/model/settings.h"

namespace pbs::sched {

struct Planning {
    Seconds unasked = kUnlimitedWalltime;  // default_duration: for jobs that request no walltime
    Seconds offset{0};    // duration_offset: the time between the end of a job and the next start
    bool pauses = false;  // jobs are suspended where the hours of their queue end so (QueueHours)

    // `stops`: can jobs be stopped, and do the hours of any queue end so?
    static Planning by(const Settings& settings, bool stops) {
        const Seconds unasked = settings.default_duration;
        return {unasked > Seconds(0) ? std::min(unasked, kUnlimitedWalltime) : kUnlimitedWalltime,
                std::min(settings.duration_offset, kUnlimitedWalltime),
                stops && settings.algorithm != Algorithm::origin};
    }
    // Does an end of this kind move on when it is over?
    bool repeats(Seconds walltime) const { return walltime < Seconds(0) && unasked < kUnlimitedWalltime; }
    // Returns the first end after `now`, of one that repeats.
    Instant again(Instant end, Instant now) const {
        return now < end ? end : end + unasked * ((now - end) / unasked + 1);
    }
    // Returns the instant until which a running job holds its places. A job that was planned with
    // default_duration and goes on is expected to run as long again. `hours`: Queue::hours of the job's
    // queue.
    Instant end(const JobTable& jobs, JobSlot job, Instant now, const QueueHours* hours) const {
        return course(jobs, job, now, hours).end;
    }
    // The same, with the time for which it stands still before.
    QueueHours::Course course(const JobTable& jobs, JobSlot job, Instant now, const QueueHours* hours) const {
        const Instant end = repeats(jobs.walltime[job]) ? again(jobs.stime[job] + unasked + offset, now)
                                                        : jobs.end(job) + offset;
        if (!pauses || hours == nullptr || !jobs.can_be_stopped(job)) return {end};
        // A job that is to be suspended has stopped at the end of the hours: a cycle has yet to notice that.
        const auto closed = hours->closed_since(jobs.stime[job], now);
        return course(*hours, closed ? closed->at - Seconds(1) : now, end,
                      (jobs.flags[job] & job_rerunnable) != 0);
    }
    // The course of a job that runs at `from` and would hold its places until `end`.
    QueueHours::Course course(const QueueHours& hours, Instant from, Instant end,
                              bool requeued = false) const {
        if (end - offset <= from) return {end};
        QueueHours::Course course = hours.course(from, end - offset - from, requeued);
        course.end += offset;
        return course;
    }
    friend bool operator==(const Planning&, const Planning&) = default;
};

}  // namespace pbs::sched
