// job_sort_formula: an expression over what a job asks for, compiled once for each change of configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server_plugin/scheduler/error.h"
#include "server_plugin/scheduler/order/comparator.h"

namespace pbs::sched {

// Variables: resources (sizes in kilobytes, durations in seconds, as in pbs_sched; 0 if the job asks for
// none), eligible_time (seconds), queue_priority, job_priority. The fairshare ones and accrue_type are 0.
class Formula {
  public:
    // An error names the formula and where it goes wrong.
    static Result<Formula> compile(const std::string& text);
    Formula(Formula&&) noexcept;
    Formula& operator=(Formula&&) noexcept;
    ~Formula();

    // The value for a job. What can't be computed (a division by zero) is 0.
    double value(const OrderContext& context, const Resources& resources, JobSlot job);
    // Names of variables in it that have no meaning yet.
    std::vector<std::string> unsupported() const;

  private:
    struct Impl;
    explicit Formula(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace pbs::sched
