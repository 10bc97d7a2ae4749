// The sched_config files of schedulers, compiled. A scheduler without a policy uses its file (PP-748,
// interface 1).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/scheduler/framework/policy.h"

namespace pbs::sched {

// One file as policy objects. `prime` and `non_prime` may be null.
struct SchedConfigObjects {
    std::shared_ptr<const objects::Object> all_time;
    std::shared_ptr<const objects::Object> prime;
    std::shared_ptr<const objects::Object> non_prime;
};

// The policies in the slots of one scheduler; null: an empty slot.
struct Assigned {
    Policy* all_time = nullptr;
    Policy* prime = nullptr;
    Policy* non_prime = nullptr;
};

class SchedConfigs {
  public:
    // Data on which settings depend, besides the objects: windows and non_work_days; and the server's
    // job_sort_formula (empty: none), which these schedulers use. The reference has to stay valid.
    struct Context {
        const Configuration& configuration;
        const rrule::Zone& zone;
        std::string_view server_formula;
    };

    // Sets the contents of a scheduler's file. Error: a formula doesn't compile; nothing is changed then.
    Result<void> set(std::string_view sched, SchedConfigObjects objects, const Context& context);
    // Compiles all files again. Error: a formula doesn't compile; nothing is changed then.
    Result<void> renew(const Context& context);
    void clear(std::string_view sched);
    // The policies of the scheduler's file; all null: it has no such file.
    Assigned assigned(std::string_view sched);
    // The files, by scheduler.
    std::map<std::string, SchedConfigObjects> all() const;

  private:
    struct Compiled {
        SchedConfigObjects objects;
        std::optional<Policy> all_time;
        std::optional<Policy> prime;
        std::optional<Policy> non_prime;
    };
    static Result<Compiled> compiled(SchedConfigObjects objects, const Context& context);

    std::map<std::string, Compiled, std::less<>> by_sched_;
};

}  // namespace pbs::sched
