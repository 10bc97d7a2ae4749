// Makes random sites: vnodes, queues, a configuration of the scheduler, and jobs, in OpenPBS's terms. The
// sites vary everything on which the jobs' starts, their order and their places depend, except loads of hosts
// and the passing of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pbs::e2e {

struct RandomSite {
    std::string vnodes;                   // the vnodes' definition, for pbs_mom
    bool one_mom = false;                 // one mom has all vnodes; false: each vnode has a mom
    std::string sched_config;             // the text of the file
    std::string resource_group;           // the text of the file; empty: there are no shares
    std::vector<std::string> usage;       // arguments of pbsfs that set past usage
    std::vector<std::string> resources;   // directives of qmgr to be given before the vnodes are made
    std::vector<std::string> directives;  // the other directives of qmgr

    bool preempts = false;  // whether jobs preempt others

    // A span of time, in minutes from now. The scheduler's files name its times of day.
    struct Span {
        int from = 0;
        int until = 0;
    };
    std::optional<Span> dedicated;
    // The span of prime time, which may have begun before now; nullopt: it is always prime time.
    std::optional<Span> prime;

    struct Job {
        std::string user;
        std::string options;  // options of qsub
    };
    // The jobs that are submitted before each cycle. Before each cycle but the first, some running jobs are
    // deleted.
    std::vector<std::vector<Job>> cycles;

    // Returns the whole site as text, for messages of tests.
    std::string text() const;
};

// The users who own jobs. The first three exist in every box.
inline const std::vector<std::string> kOwners{"alice", "oscar", "una", "dora", "emil"};

// Makes a random site. The same seed gives the same site on every machine.
RandomSite random_site(std::uint64_t seed);

}  // namespace pbs::e2e
