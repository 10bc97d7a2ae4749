// Blockers: the events that could lift the refusal of a job. A filter that refuses names what would have to
// happen before its answer can change. The job is parked under these blockers, and is looked at again only
// after an event that lifts one of them. A refusal for which the filter names nothing is blocked by
// `anything`: such jobs are looked at in every cycle, which takes time and is never wrong.
#pragma once

#include <cstdint>

#include "rrule/window.h"
#include "server_plugin/scheduler/state/use_key.h"

namespace pbs::sched {

// A set of blockers, as bits. Each kind has a bit of its own; instants and limits share the others. Two
// blockers that share a bit at most have a job looked at once too often.
using Blockers = std::uint32_t;

namespace blocker {

// The comment of each blocker says what lifts the refusals that are parked under it.

// Only a change of the configuration, after which every job is looked at.
inline constexpr Blockers kConfiguration = 0;
// Any event.
inline constexpr Blockers kAnything = 1U << 0;
// A job starts.
inline constexpr Blockers kStart = 1U << 1;
// Vnodes get room for a job of its size.
inline constexpr Blockers kRoom = 1U << 2;
// The job that holds up those behind it starts, goes, or no longer holds them up.
inline constexpr Blockers kHeldUp = 1U << 3;
// Reservations for jobs that come before take less of limits.
inline constexpr Blockers kReserved = 1U << 4;
// The next cycle begins. For filters that read values of which no event tells, and which no job gives back.
inline constexpr Blockers kCycle = 1U << 5;

constexpr std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 31) * 0x9E3779B97F4A7C15ULL;
    return (value ^ value >> 29) * 0xBF58476D1CE4E5B9ULL >> 32;
}

// The instant comes.
inline Blockers time(rrule::Instant at) {
    if (at == rrule::Instant::max()) return kConfiguration;
    return 1U << (6 + mixed(static_cast<std::uint64_t>(at.time_since_epoch().count())) % 4);
}
// All bits that time() may return.
inline constexpr Blockers kTimes = ((1U << 10) - 1) & ~((1U << 6) - 1);
// A program of server_dyn_res reports another amount.
inline constexpr Blockers kTold = 1U << 10;
// Jobs use less of what the key is for.
constexpr Blockers less_of(const UseKey& key) {
    const std::uint64_t who = std::uint64_t{key.object} << 32 | key.of;
    const auto kind = static_cast<std::uint64_t>(key.scope) * 4 + static_cast<std::uint64_t>(key.entity);
    const std::uint64_t number = mixed(mixed(who) * 7 + kind);
    return key.is_of_owner() || key.is_of_group() ? 1U << (22 + number % 10) : 1U << (11 + number % 11);
}
// All bits that less_of() may return.
inline constexpr Blockers kUses = ~((1U << 11) - 1);

// The blockers that the end of a running job may lift.
inline constexpr Blockers kGivenBack = kAnything | kRoom | kReserved | kUses;
// The blockers that may be lifted when a cycle starts a job.
inline constexpr Blockers kByStart = kAnything | kStart;

}  // namespace blocker

}  // namespace pbs::sched
