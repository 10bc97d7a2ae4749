#include "tools/simulate/wishes.h"

#include "server_plugin/scheduler/model/deadline.h"

namespace pbs::simulate {

void Wishes::submitted(std::uint32_t job, const sched::JobRecord& record, Schedule& run) const {
    for (const sched::Amount& amount : record.requested)
        if (deadline_ != nullptr && amount.resource == *deadline_)
            if (const auto at = sched::parse_deadline(amount.text, record.ctime, zone_))
                run.deadlines[job] = *at;
}

}  // namespace pbs::simulate
