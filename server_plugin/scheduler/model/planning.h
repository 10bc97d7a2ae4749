// The time for which a policy plans jobs to hold their places.
#pragma once

#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/model/queue_hours.h"
#include "server_plugin/scheduler/model/settings.h"

namespace pbs::sched {

struct Planning {
    Seconds unasked = kUnlimitedWalltime;  // default_duration: for jobs that request no walltime
    Seconds offset{0};    // duration_offset: the time between the end of a job and the next start
    bool pauses = false;  // jobs are suspended when their queue's hours end (QueueHours)

    // Makes the planning of a policy. `stops`: jobs can be stopped, and the hours of some queue stop jobs.
    static Planning by(const Settings& settings, bool stops) {
        const Seconds unasked = settings.default_duration;
        return {unasked > Seconds(0) ? std::min(unasked, kUnlimitedWalltime) : kUnlimitedWalltime,
                std::min(settings.duration_offset, kUnlimitedWalltime),
                stops && settings.algorithm != Algorithm::origin};
    }
    // Returns whether the planned end of a job with this walltime (below 0: none) is put off when it is
    // reached, because the job was planned with default_duration.
    bool repeats(Seconds walltime) const { return walltime < Seconds(0) && unasked < kUnlimitedWalltime; }
    // Returns the first planned end after `now`, for a job whose end is put off by default_duration each
    // time.
    Instant again(Instant end, Instant now) const {
        return now < end ? end : end + unasked * ((now - end) / unasked + 1);
    }
    // Returns the instant until which a running job holds its places. A job that was planned with
    // default_duration and goes on is expected to run as long again. `hours`: Queue::hours of the job's
    // queue.
    Instant end(const JobTable& jobs, JobSlot job, Instant now, const QueueHours* hours) const {
        return course(jobs, job, now, hours).end;
    }
    // Returns the same end, with the time before it for which the job will be suspended.
    QueueHours::Course course(const JobTable& jobs, JobSlot job, Instant now, const QueueHours* hours) const {
        const Instant end = repeats(jobs.walltime[job]) ? again(jobs.stime[job] + unasked + offset, now)
                                                        : jobs.end(job) + offset;
        if (!pauses || hours == nullptr || !jobs.can_be_stopped(job)) return {end};
        // If the hours have ended and a cycle has yet to suspend the job, plan it as stopped at their end.
        const auto closed = hours->closed_since(jobs.stime[job], now);
        return course(*hours, closed ? closed->at - Seconds(1) : now, end,
                      (jobs.flags[job] & job_rerunnable) != 0);
    }
    // Returns the course of a job that runs at `from` and would hold its places until `end` if its queue
    // didn't close.
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
