#include "tests/openpbs/differences.h"

#include <fmt/format.h>

#include <utility>

namespace pbs::e2e {
namespace {

using Jobs = std::vector<RandomSite::Job>;

constexpr const char* kUnused = "node_sort_key: \"ncpus HIGH unused\" ALL\n";
constexpr const char* kStrict = "strict_ordering: True ALL\n";
constexpr const char* kPreempts = "preemptive_sched: True ALL\n";

// Makes a site whose vnodes have these numbers of CPUs, and 8 GB each. `hosts` has one letter for each vnode,
// which names the vnode's host.
RandomSite site_of(const std::vector<int>& cpus, std::string config, const std::string& hosts = {}) {
    RandomSite site;
    site.vnodes = "$configversion 2\nbox: resources_available.ncpus=0\n";
    for (std::size_t i = 0; i < cpus.size(); ++i)
        site.vnodes += fmt::format("v{0}: resources_available.ncpus={1}\nv{0}: resources_available.mem=8gb\n",
                                   i, cpus[i]);
    for (std::size_t i = 0; i < hosts.size(); ++i)
        site.vnodes += fmt::format("v{}: resources_available.host=h{}\n", i, hosts[i]);
    site.one_mom = !hosts.empty();
    site.sched_config =
        "dedicated_prefix: ded\nprimetime_prefix: p_\nnonprimetime_prefix: np_\n"
        "by_queue: False ALL\nsmp_cluster_dist: pack\n"
        "resources: \"ncpus, mem, arch, host, vnode\"\n" +
        std::move(config);
    site.directives = {"create queue batch queue_type=execution, enabled=True, started=True",
                       "create queue express queue_type=execution, enabled=True, started=True, Priority=200",
                       "set server default_queue = batch"};
    return site;
}
RandomSite with(RandomSite site, const std::vector<std::string>& directives, std::vector<Jobs> cycles) {
    site.directives.insert(site.directives.end(), directives.begin(), directives.end());
    site.cycles = std::move(cycles);
    return site;
}
// Makes a job with this select, and a walltime in seconds.
RandomSite::Job job(const std::string& user, const std::string& select, int seconds,
                    const std::string& more = {}) {
    return {user, fmt::format("-l select={} -l walltime={} {}", select, seconds, more)};
}
RandomSite::Job cpus(const std::string& user, int number, int seconds, const std::string& more = {}) {
    return job(user, fmt::format("1:ncpus={}", number), seconds, more);
}

}  // namespace

std::vector<Difference> differences() {
    const std::string express = "-q express";
    return {
        {"a job preempts others for want of a resource",
         with(site_of({4, 4}, kPreempts), {"set sched preempt_sort = min_time_since_start"},
              {{job("alice", "1:ncpus=0:mem=8gb:host=v0", 3600)},
               {job("oscar", "1:ncpus=4:host=v1", 3600)},
               {job("una", "1:ncpus=2:mem=4gb", 600, express)}}),
         "0 S (v0:mem=8388608kb:ncpus=0), 1 R (v1:ncpus=4), 2 R (v0:mem=4194304kb:ncpus=2)",
         "0 R (v0:mem=8388608kb:ncpus=0), 1 S (v1:ncpus=4), 2 R (v1:mem=4194304kb:ncpus=2)"},
        {"a job preempts others for a limit of a project on the server (`max_run_res`)",
         with(site_of({8}, kPreempts), {"set server max_run_res.ncpus = \"[p:apollo=4]\""},
              {{cpus("oscar", 4, 3600, "-P apollo")}, {cpus("una", 2, 600, "-P apollo " + express)}}),
         "0 R (v0:ncpus=4), 1 Q", "0 S (v0:ncpus=4), 1 R (v0:ncpus=2)"},
        {"a job preempts others, and several users are over a soft limit",
         with(site_of({4, 4, 4, 4}, kPreempts),
              {"set sched preempt_prio = \"express_queue, normal_jobs, server_softlimits\"",
               "set sched preempt_sort = min_time_since_start",
               "set server max_run_soft = \"[u:PBS_GENERIC=1]\""},
              {{cpus("oscar", 4, 3600)},
               {cpus("oscar", 4, 3600)},
               {cpus("alice", 4, 3600)},
               {cpus("alice", 4, 3600)},
               {job("una", "2:ncpus=4", 600, express)}}),
         "0 R (v0:ncpus=4), 1 R (v1:ncpus=4), 2 S (v2:ncpus=4), 3 S (v3:ncpus=4), 4 R "
         "(v2:ncpus=4)+(v3:ncpus=4)",
         "0 R (v0:ncpus=4), 1 S (v1:ncpus=4), 2 R (v2:ncpus=4), 3 S (v3:ncpus=4), 4 R "
         "(v1:ncpus=4)+(v3:ncpus=4)"},
        {"a job preempts others, and the same cycle has just started jobs of a lower preemption level",
         with(site_of({4, 4}, kPreempts),
              {"set sched preempt_prio = \"express_queue, normal_jobs, server_softlimits\"",
               "set server max_run_soft = \"[u:PBS_GENERIC=1]\""},
              {{cpus("oscar", 4, 3600), cpus("oscar", 4, 3600), cpus("una", 4, 600)}}),
         "0 Q, 1 R (v1:ncpus=4), 2 R (v0:ncpus=4) | 0 R (v0:ncpus=4), 1 R (v1:ncpus=4), 2 Q",
         "0 S (v0:ncpus=4), 1 R (v1:ncpus=4), 2 R (v0:ncpus=4) | 0 R (v0:ncpus=4), 1 R (v1:ncpus=4), 2 Q"},
        {"a job preempts others, and several of the lowest level have started in the same second",
         with(site_of({4}, kPreempts), {}, {{cpus("oscar", 4, 3600)}, {cpus("una", 4, 600, express)}}),
         "0 S (v0:ncpus=4), 1 R (v0:ncpus=4)", "0 S (v0:ncpus=4), 1 R (v0:ncpus=4)", true},
        {"a job is preempted by requeuing",
         with(site_of({6}, std::string(kPreempts) + kStrict),
              {"set sched preempt_order = R", "set server backfill_depth = 1"},
              {{cpus("oscar", 4, 3600)},
               {cpus("una", 4, 600, express), cpus("alice", 6, 600), cpus("dora", 2, 900)}}),
         "0 Q, 1 R (v0:ncpus=4), 2 Q, 3 R (v0:ncpus=2)", "0 Q, 1 R (v0:ncpus=4), 2 Q, 3 R (v0:ncpus=2)",
         true},
        {"several vnodes on a host, a chunk or job that doesn't fit on one of them",
         with(site_of({2, 2, 3}, "", "001"), {},
              {{cpus("oscar", 3, 3600), cpus("alice", 3, 3600),
                job("una", "2:ncpus=1", 600, "-l place=pack")}}),
         "0 R (v0:ncpus=2+v1:ncpus=1), 1 R (v2:ncpus=3), 2 Q",
         "0 R (v0:ncpus=2+v1:ncpus=1), 1 R (v2:ncpus=3), 2 Q", true},
        {"several vnodes on a host, `place=exclhost`",
         with(site_of({2, 2}, "", "00"), {},
              {{cpus("oscar", 1, 3600, "-l place=exclhost"), cpus("alice", 1, 3600)}}),
         "0 R (v0:ncpus=1)+(v1), 1 Q", "0 R (v0:ncpus=1), 1 Q"},
        {"placement sets, `node_sort_key` by assigned or unused amounts",
         with(site_of({4, 4, 4}, kUnused),
              {"set server node_group_key = host", "set server node_group_enable = True"},
              {{cpus("oscar", 1, 3600, "-l place=group=arch"), cpus("alice", 1, 3600, "-l place=group=arch"),
                cpus("una", 1, 3600, "-l place=group=arch")}}),
         "0 R (v0:ncpus=1), 1 R (v1:ncpus=1), 2 R (v2:ncpus=1)",
         "0 R (v0:ncpus=1), 1 R (v1:ncpus=1), 2 R (v2:ncpus=1)", true},
        {"several vnodes on a host, `node_sort_key` by assigned or unused amounts",
         with(
             site_of({4, 2, 4, 3}, kUnused, "0011"), {},
             {{cpus("oscar", 1, 3600), cpus("alice", 1, 3600), cpus("una", 1, 3600), cpus("dora", 1, 3600)}}),
         "0 R (v0:ncpus=1), 1 R (v2:ncpus=1), 2 R (v2:ncpus=1), 3 R (v0:ncpus=1)",
         "0 R (v0:ncpus=1), 1 R (v2:ncpus=1), 2 R (v0:ncpus=1), 3 R (v2:ncpus=1)"},
        {"jobs that have waited for long (`help_starving_jobs`, `max_starve`)",
         with(site_of({4}, "help_starving_jobs: True ALL\nmax_starve: 00:00:01\n"), {},
              {{cpus("oscar", 2, 3600), cpus("alice", 4, 600)}, {cpus("una", 2, 7200)}}),
         "0 R (v0:ncpus=2), 1 Q, 2 R (v0:ncpus=2)", "0 R (v0:ncpus=2), 1 Q, 2 Q"},
        {"an array runs as many subjobs as its `%` limit allows, with `strict_ordering`",
         with(site_of({4}, kStrict), {"set server backfill_depth = 1"},
              {{cpus("oscar", 2, 600, "-J 1-3%1"), cpus("alice", 4, 600), cpus("una", 2, 900)}}),
         "0[1] R (v0:ncpus=2), 0[2] Q, 0[3] Q, 1 Q, 2 R (v0:ncpus=2)",
         "0[1] R (v0:ncpus=2), 0[2] Q, 0[3] Q, 1 Q, 2 Q"},
        {"an array runs as many subjobs as its `%` limit allows, with `strict_ordering` and a "
         "`backfill_depth` of 0",
         with(site_of({4}, kStrict), {"set server backfill_depth = 0"},
              {{cpus("oscar", 2, 600, "-J 1-3%1"), cpus("una", 2, 900)}}),
         "0[1] R (v0:ncpus=2), 0[2] Q, 0[3] Q, 1 Q", "0[1] R (v0:ncpus=2), 0[2] Q, 0[3] Q, 1 R (v0:ncpus=2)"},
        {"the start of a top job (`opt_backfill_fuzzy`)",
         with(site_of({4}, kStrict),
              {"set server backfill_depth = 1", "set sched opt_backfill_fuzzy = 1000000000"},
              {{cpus("oscar", 2, 600), cpus("alice", 1, 3600), cpus("una", 3, 600), cpus("dora", 1, 1200)}}),
         "0 R (v0:ncpus=2), 1 R (v0:ncpus=1), 2 Q, 3 R (v0:ncpus=1)",
         "0 R (v0:ncpus=2), 1 R (v0:ncpus=1), 2 Q, 3 Q"},
    };
}

}  // namespace pbs::e2e
