// Random sites: vnodes, queues, a configuration of the scheduler and jobs, in the terms of OpenPBS. They vary
// everything that decides which jobs start, in which order and where, except loads of hosts and the passing
// of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pbs::e2e {

struct RandomSite {
    std::string vnodes;                   // definition of vnodes for pbs_mom
    bool one_mom = false;                 // one mom has all vnodes; else each vnode has its own
    std::string sched_config;             // the whole file
    std::string resource_group;           // the whole file; empty: there are no shares
    std::vector<std::string> usage;       // arguments of pbsfs: past usage
    std::vector<std::string> resources;   // directives of qmgr to give before there are vnodes
    std::vector<std::string> directives;  // the other directives of qmgr

    // Minutes from now on. The files name times of day.
    struct Span {
        int from = 0;
        int until = 0;
    };
    std::optional<Span> dedicated;
    // Prime time; nullopt: always. `from` may be before now.
    std::optional<Span> prime;

    struct Job {
        std::string user;
        std::string options;  // options of qsub
    };
    // Jobs that are submitted before each cycle. Before each cycle but the first, some running jobs are
    // deleted.
    std::vector<std::vector<Job>> cycles;

    // Returns the whole site as text, for messages.
    std::string text() const;
};

// Users that own jobs; the first three are in every box.
inline const std::vector<std::string> kOwners{"alice", "oscar", "una", "dora", "emil"};

// Makes a site. The same seed makes the same site everywhere.
RandomSite random_site(std::uint64_t seed);

}  // namespace pbs::e2e
