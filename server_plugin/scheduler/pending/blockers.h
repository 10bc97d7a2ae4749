// What could lift the refusal of a job. A filter that refuses says what would have to happen before its
// answer can change. The job is parked under these blockers, and is looked at again only after an event that
// lifts one of them. A refusal for which the filter says nothing is blocked by `anything`: such jobs are
// looked at in every cycle, which takes time and is never wrong.
#pragma once

#include <cstdint>

#include "rrule/window.h"
#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// A set of blockers, as bits. Each kind has a bit of its own; instants and limits share the others. If two of
// them share a bit, a job may be looked at once too often, and no more.
using Blockers = std::uint32_t;

// The key of what jobs use together, as limits count it.
struct UseKey {
    enum class Kind : std::uint8_t {
        queue,
        queue_user,
        queue_group,
        server,
        server_user,
        server_group,
        dedicated,
        queue_project,
        server_project
    };
    Kind kind = Kind::server;
    std::uint32_t object = 0;  // the slot of the queue; 0 for kinds that are about none
    std::uint32_t of = 0;      // the owner, group or project
    friend bool operator==(const UseKey&, const UseKey&) = default;
    constexpr bool is_of_owner() const { return kind == Kind::queue_user || kind == Kind::server_user; }
    constexpr bool is_of_group() const { return kind == Kind::queue_group || kind == Kind::server_group; }
};

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
// The next cycle begins. It is for filters that read what no event tells, and what no job gives back.
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
// A program of server_dyn_res tells another amount.
inline constexpr Blockers kTold = 1U << 10;
// Jobs use less of what the key is for.
constexpr Blockers less_of(const UseKey& key) {
    const std::uint64_t who = std::uint64_t{key.object} << 32 | key.of;
    const std::uint64_t number = mixed(mixed(who) * 7 + static_cast<std::uint64_t>(key.kind));
    return key.is_of_owner() || key.is_of_group() ? 1U << (22 + number % 10) : 1U << (11 + number % 11);
}
// All bits that less_of() may return.
inline constexpr Blockers kUses = ~((1U << 11) - 1);

// What may be lifted when a running job ends.
inline constexpr Blockers kGivenBack = kAnything | kRoom | kReserved | kUses;
// What may be lifted when a cycle starts a job.
inline constexpr Blockers kByStart = kAnything | kStart;

}  // namespace blocker

}  // namespace pbs::sched
