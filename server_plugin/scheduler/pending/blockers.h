// Blockers: the events that could lift the refusal of a job. A filter that refuses names the events after
// which its answer may differ. The job is parked under these blockers, and is considered again only after one
// of these events. If the filter names none, the blocker is `anything`: such jobs are considered in every
// cycle, which takes time but is never wrong.
#pragma once

#include <cstdint>

#include "rrule/window.h"
#include "server_plugin/scheduler/state/use_key.h"

namespace pbs::sched {

// A set of blockers, as bits. Each kind has its own bit; instants and limits share the others. If two
// blockers share a bit, a job may be considered once too often.
using Blockers = std::uint32_t;

namespace blocker {

// Lifted only by a change of the configuration, after which all jobs are considered.
inline constexpr Blockers kConfiguration = 0;
// Lifted by any event.
inline constexpr Blockers kAnything = 1U << 0;
// Lifted when a job starts.
inline constexpr Blockers kStart = 1U << 1;
// Lifted when vnodes get free amounts for a job of this size.
inline constexpr Blockers kRoom = 1U << 2;
// Lifted when the job that holds up later jobs starts, is removed, or doesn't hold them up any more.
inline constexpr Blockers kHeldUp = 1U << 3;
// Lifted when reservations for earlier jobs take less of limits.
inline constexpr Blockers kReserved = 1U << 4;
// Lifted when the next cycle begins. For filters that read values whose changes no event reports, and which
// jobs don't give back.
inline constexpr Blockers kCycle = 1U << 5;

constexpr std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 31) * 0x9E3779B97F4A7C15ULL;
    return (value ^ value >> 29) * 0xBF58476D1CE4E5B9ULL >> 32;
}

// Returns the blocker that is lifted when the instant comes; kConfiguration for Instant::max().
inline Blockers time(rrule::Instant at) {
    if (at == rrule::Instant::max()) return kConfiguration;
    return 1U << (6 + mixed(static_cast<std::uint64_t>(at.time_since_epoch().count())) % 4);
}
// All bits that time() may return.
inline constexpr Blockers kTimes = ((1U << 10) - 1) & ~((1U << 6) - 1);
// Lifted when a program of server_dyn_res reports another amount, or a vnode has another load.
inline constexpr Blockers kTold = 1U << 10;
// Returns the blocker that is lifted when jobs use less of the key's limit.
constexpr Blockers less_of(const UseKey& key) {
    const std::uint64_t who = std::uint64_t{key.object} << 32 | key.of;
    const auto kind = static_cast<std::uint64_t>(key.scope) * 4 + static_cast<std::uint64_t>(key.entity);
    const std::uint64_t number = mixed(mixed(who) * 7 + kind);
    return key.is_of_owner() || key.is_of_group() ? 1U << (22 + number % 10) : 1U << (11 + number % 11);
}
// All bits that less_of() may return; and those for keys of owners and groups.
inline constexpr Blockers kUses = ~((1U << 11) - 1);
inline constexpr Blockers kUsesOfUsers = ~((1U << 22) - 1);

// The blockers that the end of a running job may lift.
inline constexpr Blockers kGivenBack = kAnything | kRoom | kReserved | kUses;
// The blockers that may be lifted when a cycle starts a job.
inline constexpr Blockers kByStart = kAnything | kStart;

}  // namespace blocker

}  // namespace pbs::sched
