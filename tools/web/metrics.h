// What the server counts, as metrics.
#pragma once

#include <string>

#include "ifl/pbs_ifl.h"

namespace pbs::web {

/// The metrics of what a server answered: the part "counters" of pbs_statdiagnosis(), and its schedulers.
/// Both NULL: the server can't be asked, and pbs_up is 0. A server that counts nothing, as OpenPBS's, has
/// schedulers alone.
std::string metrics(const batch_status* counters, const batch_status* scheds);

}  // namespace pbs::web
