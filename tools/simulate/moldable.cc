#include "tools/simulate/moldable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pbs::simulate {
namespace {

constexpr double kLongestWalltime = 1e11;  // in seconds: 3,000 years

}  // namespace

void make_moldable(Trace& trace, double factor) {
    for (TraceJob& job : trace.jobs) {
        if (job.request != kNoRequest) continue;
        constexpr double kRounding = 1e-9;  // tolerated error of the division: a third of 9 is 3
        const auto least =
            static_cast<std::int64_t>(std::ceil(static_cast<double>(job.cpus) / factor - kRounding));
        job.least_cpus = std::clamp<std::int64_t>(least, 1, job.cpus);
        if (job.walltime < Seconds(0)) continue;
        job.run_time = std::min(job.run_time, job.walltime);
        const double longest = std::ceil(static_cast<double>(job.walltime.count()) *
                                         static_cast<double>(job.cpus) / static_cast<double>(job.least_cpus));
        job.walltime = Seconds(static_cast<std::int64_t>(std::min(longest, kLongestWalltime)));
    }
    trace.notes.push_back(fmt::format(
        "--moldable {0}: each job may have from 1/{0} of its processors up to all of them; it runs as "
        "much longer as it has fewer, and its walltime is that for the fewest. No walltime ends a job.",
        factor));
}

}  // namespace pbs::simulate
