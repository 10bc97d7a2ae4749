// Reads the server and its schedulers from their attributes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/limits.h"

namespace pbs::cluster {

struct Server {
    std::string name;
    std::string host;
    std::int64_t backfill_depth = -1;  // -1: not set
    std::string job_sort_formula;
    std::string node_group_key;
    bool node_group_enable = false;
    std::string suspend_releases;       // resources, with commas; empty: all
    bool counts_eligible_time = false;  // eligible_time_enable
    std::int64_t eligible_since = 0;    // when eligible_time_enable was set, in seconds since the Epoch; 0:
                                        // unknown
    bool has_runjob_hook = false;       // a hook may keep jobs from being run
    bool others_see_jobs = false;       // query_other_jobs
    // The server forgets a job's estimated start when no place is reserved for the job any more
    // (clear_topjob_estimates_enable).
    bool clears_estimates = false;
    Limits limits{};
    bool operator==(const Server&) const = default;
};

Server server_of(std::string_view name, AttributeViews attributes);

struct Sched {
    bool scheduling = false;
    bool own = false;        // its jobs are scheduled by the plugin, not by pbs_sched
    std::string partition;   // empty: that of the default scheduler
    std::string sched_priv;  // absolute path
    bool operator==(const Sched&) const = default;
};

void read_sched(Sched& sched, AttributeViews attributes);

// Reads a partition. OpenPBS calls that of the default scheduler "pbs-default".
std::string partition_of(std::string_view value);

}  // namespace pbs::cluster
