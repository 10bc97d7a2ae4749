// usage_formula of an fs_group: the usage that a job adds to its entity. Compiled once for each change of
// configuration. (PP-748, interface 4)
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "objects/formula.h"
#include "server_plugin/scheduler/framework/formula.h"
#include "server_plugin/scheduler/model/error.h"
#include "server_plugin/scheduler/model/fair_shares.h"
#include "server_plugin/scheduler/model/resources.h"

namespace pbs::sched {

// A compiled usage_formula. Names in it are resources, and mean the amount that the job has used, else its
// requested amount, else 0; walltime is the time that it has run. Sizes are in kilobytes and durations in
// seconds, as in a job_sort_formula. fs_factor is 1 if there is no such resource.
class UsageFormula {
  public:
    // An empty text means "cput". Errors name the formula and the place of the mistake.
    static Result<UsageFormula> compile(const std::string& text);

    struct Amounts {
        std::span<const KeptAmount> used;
        std::span<const KeptAmount> asked;
        Seconds walltime_asked{-1};
    };
    // Returns the job's usage after a walltime. A value that can't be computed is 0.
    double value(const Amounts& job, const Resources& resources, double walltime);
    // Returns the job's usage as a linear function of its walltime; nullopt: it isn't linear.
    std::optional<FairShares::Use> line(const Amounts& job, const Resources& resources);
    // Returns the usage of a job that uses all of its request. A job counts with this as soon as a cycle
    // starts it.
    double expected(const Amounts& job, const Resources& resources) {
        const double walltime = static_cast<double>(std::max(Seconds(0), job.walltime_asked).count());
        return value({{}, job.asked, job.walltime_asked}, resources, walltime);
    }

  private:
    explicit UsageFormula(objects::Formula expression)
        : expression_(std::move(expression)), values_(expression_.names().size()) {}
    objects::Formula expression_;
    std::vector<double> values_;
};

}  // namespace pbs::sched
