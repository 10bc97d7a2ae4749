// Makes traces that imitate logs of the Parallel Workloads Archive, from published statistics.
//
// A log's page in the archive has the size of the machine, the number of jobs and of users, and the
// utilisation. The distributions are those that Lublin and Feitelson found in several of these logs ("The
// workload on parallel supercomputers: modeling the characteristics of rigid jobs", 2003): sizes in two
// stages of a uniform distribution of logarithms, many of them 1 or a power of two; run times whose
// logarithms are of a hyper-gamma distribution, longer for larger jobs; arrivals mostly in the afternoon.
// Requested walltimes are round and mostly much too long (Mu'alem and Feitelson, 2001).
#pragma once

#include <array>
#include <cstdint>

#include "tools/simulate/trace.h"

namespace pbs::bench {

struct ArchiveLog {
    const char* name;
    std::int64_t vnodes;         // the units in which the machine is given to jobs
    std::int64_t cpus_of_vnode;  // CPUs of a unit
    std::int64_t jobs;
    double load;              // the utilisation of the log, which the trace offers
    int users;                // as many as used the machine
    std::int64_t hours;       // the longest walltime that jobs request
    bool only_powers_of_two;  // sizes are those of partitions
};

inline constexpr std::array<ArchiveLog, 5> kArchiveLogs = {{
    {"CTC_SP2", 338, 1, 77'222, 0.852, 679, 18, false},
    {"KTH_SP2", 100, 1, 28'476, 0.704, 214, 60, false},
    {"SDSC_SP2", 128, 1, 59'715, 0.835, 437, 18, false},
    {"SDSC_BLUE", 144, 8, 243'306, 0.767, 468, 36, false},
    // Partitions of 64 nodes with four cores, and multiples of these.
    {"ANL_Intrepid", 640, 256, 68'936, 0.596, 236, 12, true},
}};

// Returns a trace of so many jobs. The same numbers come from each call.
simulate::Trace make_archive_trace(const ArchiveLog& log, std::int64_t jobs);

}  // namespace pbs::bench
