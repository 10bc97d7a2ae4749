// The time for which a policy plans jobs to hold their places.
#pragma once

#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/model/settings.h"

namespace pbs::sched {

struct Planning {
    Seconds unasked = kUnlimitedWalltime;  // default_duration: for jobs that request no walltime
    Seconds offset{0};  // duration_offset: the time between the end of a job and the next start

    static Planning by(const Settings& settings) {
        const Seconds unasked = settings.default_duration;
        return {unasked > Seconds(0) ? std::min(unasked, kUnlimitedWalltime) : kUnlimitedWalltime,
                std::min(settings.duration_offset, kUnlimitedWalltime)};
    }
    // Does an end of this kind move on when it is over?
    bool repeats(Seconds walltime) const { return walltime < Seconds(0) && unasked < kUnlimitedWalltime; }
    // Returns the first end after `now`, of one that repeats.
    Instant again(Instant end, Instant now) const {
        return now < end ? end : end + unasked * ((now - end) / unasked + 1);
    }
    // Returns the instant until which a running job holds its places. A job that was planned with
    // default_duration and goes on is expected to run as long again.
    Instant end(const JobTable& jobs, JobSlot job, Instant now) const {
        if (!repeats(jobs.walltime[job])) return jobs.end(job) + offset;
        return again(jobs.stime[job] + unasked + offset, now);
    }
    friend bool operator==(const Planning&, const Planning&) = default;
};

}  // namespace pbs::sched
