#include "cluster/vnode.h"

#include <array>
#include <utility>

#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::cluster {
namespace {

// The states in which pbs_sched starts no jobs on a vnode. "job-busy" isn't one of them: it only means that
// all CPUs are in use.
constexpr std::array<std::string_view, 8> kDown{"down",         "stale", "state-unknown",     "unresolvable",
                                                "provisioning", "sleep", "wait-provisioning", "maintenance"};
constexpr std::array<std::string_view, 3> kOffline{"offline", "offline_by_mom", "busy"};

constexpr std::pair<std::string_view, pbs_vnode_sharing> kSharing[] = {
    {"default_excl", PBS_VNODE_DEFAULT_EXCL}, {"default_exclhost", PBS_VNODE_DEFAULT_EXCLHOST},
    {"ignore_excl", PBS_VNODE_IGNORE_EXCL},   {"force_shared", PBS_VNODE_IGNORE_EXCL},
    {"force_excl", PBS_VNODE_FORCE_EXCL},     {"force_exclhost", PBS_VNODE_FORCE_EXCLHOST}};

void read_sharing(Vnode& vnode, const ifl::AttributeView& attribute) {
    const auto* const known =
        std::ranges::find(kSharing, attribute.value, [](const auto& row) { return row.first; });
    vnode.sharing = known != std::end(kSharing) ? known->second : PBS_VNODE_DEFAULT_SHARED;
}

void read_state(Vnode& vnode, const ifl::AttributeView& attribute) {
    vnode.state = vnode_state(attribute.value);
}

void read_environment(Vnode& vnode, const ifl::AttributeView& attribute) {
    constexpr std::string_view kPrefix = "current_";
    vnode.available.insert_or_assign(std::string(attribute.name.substr(kPrefix.size())),
                                     std::string(attribute.value));
}

constexpr Field<Vnode> kVnodeFields[] = {
    {"Mom", read_text<&Vnode::host>},
    {"Priority", read_number<&Vnode::priority>},
    {"current_aoe", read_environment},
    {"current_eoe", read_environment},
    {"partition", read_text<&Vnode::partition>},
    {"queue", read_text<&Vnode::queue>},
    {"resources_available", read_list<&Vnode::available>},
    {"sharing", read_sharing},
    {"state", read_state},
};
static_assert(std::ranges::is_sorted(kVnodeFields, {}, &Field<Vnode>::name));

}  // namespace

// Reads states. Ignores "job-exclusive", which lasts as long as the job that has the vnode exclusively: it
// follows from the place of that job and the vnode's attribute `sharing`.
std::uint32_t vnode_state(std::string_view text) {
    std::uint32_t state = PBS_VNODE_FREE;
    for (const std::string_view word : values::split_trimmed(text, ',')) {
        const auto is_word = [word](std::string_view known) { return values::same_word(known, word); };
        if (std::ranges::any_of(kDown, is_word)) state |= PBS_VNODE_DOWN;
        if (std::ranges::any_of(kOffline, is_word)) state |= PBS_VNODE_OFFLINE;
    }
    return state;
}

Vnode vnode_of(AttributeViews attributes) {
    Vnode vnode;
    read_fields<Vnode>(vnode, attributes, kVnodeFields);
    if (const auto host = vnode.available.find("host"); host != vnode.available.end())
        vnode.host = host->second;
    return vnode;
}

ifl::Attributes vnode_attributes() {
    return names_of<Vnode>(kVnodeFields);
}

}  // namespace pbs::cluster
