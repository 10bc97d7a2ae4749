// Sites of a random number generator: vnodes, queues, a configuration of the scheduler and jobs, in the words
// that OpenPBS has for them. They are about everything that decides which jobs start, in which order and
// where, except loads of hosts and the passing of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pbs::e2e {

struct RandomSite {
    std::string vnodes;                   // a definition of vnodes for pbs_mom
    bool one_mom = false;                 // all of them are one mom's; else each has its own
    std::string sched_config;             // the whole file
    std::string resource_group;           // the whole file; empty: there are no shares
    std::vector<std::string> usage;       // arguments of pbsfs: past usage
    std::vector<std::string> resources;   // directives of qmgr that a server takes before it has vnodes
    std::vector<std::string> directives;  // of qmgr, for the rest

    // Minutes from now on, since both files speak of the time of the day.
    struct Span {
        int from = 0;
        int until = 0;
    };
    std::optional<Span> dedicated;
    // Without it prime time is always. Until may be before from: it is prime time now.
    std::optional<Span> prime;

    struct Job {
        std::string user;
        std::string options;  // of qsub
    };
    // The jobs that are submitted before each cycle. Before each but the first, some that run are deleted.
    std::vector<std::vector<Job>> cycles;

    // All of it, for messages.
    std::string text() const;
};

// The users that own jobs; the first three are in every box.
inline const std::vector<std::string> kOwners{"alice", "oscar", "una", "dora", "emil"};

// The same seed makes the same site everywhere.
RandomSite random_site(std::uint64_t seed);

}  // namespace pbs::e2e
