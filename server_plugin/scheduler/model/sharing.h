// The sharing of vnodes between jobs, by the job's place= and the vnode's attribute `sharing`. (PBS Reference
// Guide, vnode attributes, "sharing")
#pragma once

#include <cstdint>

namespace pbs::sched {

// The job's request. `unsaid`: the vnode decides. Later words are stricter.
enum class AskedSharing : std::uint8_t { shared, unsaid, excl, exclhost };

// The vnode's attribute. If one vnode of a host gives whole hosts, all vnodes of that host do.
enum class Sharing : std::uint8_t {
    default_shared,
    default_excl,
    default_exclhost,
    ignore_excl,
    force_excl,
    force_exclhost
};

// The vnodes that a job has exclusively: none, the vnode, or the vnode and all others of its host.
enum class Sole : std::uint8_t { nothing, vnode, host };

constexpr Sole sole_of(AskedSharing asked, Sharing vnode) {
    if (vnode == Sharing::force_exclhost) return Sole::host;
    if (vnode == Sharing::ignore_excl || (asked == AskedSharing::shared && vnode != Sharing::force_excl))
        return Sole::nothing;
    if (asked == AskedSharing::exclhost) return Sole::host;
    if (asked == AskedSharing::unsaid && vnode == Sharing::default_exclhost) return Sole::host;
    return asked == AskedSharing::unsaid && vnode == Sharing::default_shared ? Sole::nothing : Sole::vnode;
}

// The number of a vnode that every job may use: it is empty, or ignores requests for exclusive use.
constexpr std::int64_t kEmpty = 2;
// emptiness() returns a number for a vnode. A job can be on the vnode if this number is at least the number
// that emptiness_for() returns for the job's request. A vnode that a job has exclusively takes no jobs in any
// case, so the number only distinguishes empty vnodes from those that jobs share.
constexpr std::int64_t emptiness(Sharing vnode, bool has_jobs) {
    if (!has_jobs || vnode == Sharing::ignore_excl) return kEmpty;
    return vnode == Sharing::default_excl || vnode == Sharing::default_exclhost ? 0 : 1;
}
constexpr std::int64_t emptiness_for(AskedSharing asked) {
    return asked == AskedSharing::shared ? 0 : asked == AskedSharing::unsaid ? 1 : kEmpty;
}

}  // namespace pbs::sched
