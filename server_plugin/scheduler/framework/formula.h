// job_sort_formula: an expression over what a job asks for, compiled once for each change of configuration.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "objects/formula.h"
#include "server_plugin/scheduler/model/error.h"
#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {

// Names: resources (sizes in kilobytes, durations in seconds, as in pbs_sched; 0 if the job asks for
// none), eligible_time (seconds), queue_priority, job_priority. The fairshare ones and accrue_type are 0.
class Formula {
  public:
    // An error names the formula and where it goes wrong.
    static Result<Formula> compile(const std::string& text);

    // The value for a job. What can't be computed (a division by zero) is 0.
    double value(const OrderContext& context, const Resources& resources, JobSlot job);

    // Does it change with time, for jobs that nothing happens to?
    bool changes_with_time() const {
        return std::ranges::count(reads_, What::eligible_time, &Read::what) > 0;
    }

  private:
    enum class What : std::uint8_t {
        nothing,
        eligible_time,
        queue_priority,
        job_priority,
        walltime,
        resource
    };
    struct Read {
        What what = What::nothing;
        std::uint32_t resource = no_resource;
    };
    explicit Formula(objects::Formula expression);
    void resolve(const Resources& resources);
    double read(std::size_t name, const OrderContext& c, const Resources& resources, JobSlot job) const;

    objects::Formula expression_;
    std::vector<Read> reads_;  // by name of the expression
    std::size_t known_resources_ = SIZE_MAX;
    std::vector<double> values_;
};

}  // namespace pbs::sched
