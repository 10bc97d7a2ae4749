// The answer of pbs_statchanges() (ifl/pbs_ifl.h): lines like those of a record, for the objects that have
// changed. The policy plugin and pbs_simulate answer with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "server_plugin/record/change_log.h"
#include "server_plugin/scheduler/scheduler.h"

namespace pbs::record {

// The most changes in an answer: the number to pass to ChangeLog::after().
inline constexpr std::size_t kMostChanges = 2000;

// The text of PBSE_HISTORY, for a version after which ChangeLog::after() doesn't know all changes.
std::string too_old_text(std::int64_t version);

// Writes the objects of `some` as they are in the scheduler, and as the last line the number of the last
// change that is included and the time: {"version":1796000000000200,"now":1796000000}. A long text ends
// early; the last line says so. If another thread sets `give_up`, writing stops in the middle.
std::string changes_text(const sched::Inspector& scheduler, const ChangeLog::Some& some, sched::Instant now,
                         const std::atomic<bool>& give_up);

}  // namespace pbs::record
