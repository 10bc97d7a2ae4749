// Makes the reports of what jobs got of their wishes (wishes.h).
#pragma once

#include "tools/simulate/report.h"

namespace pbs::simulate {

DeadlineReport make_deadline_report(const Schedule& run);
RangeReport make_range_report(const Schedule& run);
PreferenceReport make_preference_report(const Schedule& run);

}  // namespace pbs::simulate
