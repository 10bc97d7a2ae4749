// The attributes of vnodes.
#include <array>

#include "ifl/attributes/attribute_table.h"

namespace pbs::ifl {
namespace {

using enum AttributeType;

constexpr std::string_view kStateWords[] = {"free", "offline"};

constexpr auto kNodeRows = std::to_array<AttributeDef>({
    {"Mom", text, kManagerOnlySet, "",
     "The host whose MoM runs the vnode's jobs; given when the vnode is made"},
    {"pbs_version", text, read_operator | read_manager | computed, "",
     "The version of the software that runs the vnode's jobs"},
    {"ntype", text, kReadOnly | computed, "", "The kind of vnode: PBS"},
    {"state", text, kNoUserSet, "", "What the vnode does; only offline and free can be set", kStateWords},
    {"pcpus", integer, kReadOnly | computed, "", "How many processors the host has"},
    {"Priority", integer, kNoUserSet, "",
     "The vnode's place among the others when sorted by sort_priority, -1024 to 1023"},
    {"jobs", text, kReadOnly | computed, "", "The jobs that run on the vnode"},
    {"resources_available", resources, kNoUserSet, "",
     "What the vnode has of a resource; a new one has what its host has"},
    {"resources_assigned", resources, kReadOnly | computed, "",
     "What running jobs use of the vnode, and what reservations have of it while they run"},
    {"queue", text, kManagerOnlySet, "", "The queue whose jobs alone run on the vnode"},
    {"comment", text, kNoUserSet, "", "A remark, for people"},
    {"sharing", text, kReadOnly | computed, "", "Whether several jobs may run on the vnode at once"},
    {"partition", text, read_operator | read_manager | write_operator | write_manager, "",
     "The scheduler with this partition schedules the vnode; not set: the default scheduler"},
    {"resv", text, kReadOnly | computed, "", "The reservations that have something of the vnode"},
    {"last_state_change_time", integer, kReadOnly | computed, "",
     "When the vnode's state changed, in seconds since 1970"},
    {"last_used_time", integer, kReadOnly | computed, "",
     "When a job last ended on the vnode, in seconds since 1970"},
    // only in OpenPBS's server
    {"current_aoe", text, kManagerOnlySet | openpbs_only, "",
     "The environment that the vnode is provisioned with"},
    {"current_eoe", text, kManagerOnlySet | openpbs_only, "",
     "The energy profile that is in force on the vnode"},
    {"Host", text, kReadOnly | openpbs_only, "", "The host that the vnode is a part of"},
    {"in_multivnode_host", integer, kManagerOnlySet | openpbs_only, "",
     "Whether the host has more vnodes than this one"},
    {"license", text, kReadOnly | openpbs_only, "", "What licence the vnode has"},
    {"license_info", integer, kManagerOnlySet | openpbs_only, "", "How many licences the vnode needs"},
    {"maintenance_jobs", list, kReadOnly | openpbs_only, "", "The jobs that were suspended for maintenance"},
    {"max_group_run", integer, kNoUserSet | openpbs_only, "",
     "How many jobs of a group may run at once on the vnode"},
    {"max_running", integer, kNoUserSet | openpbs_only, "", "How many jobs may run at once on the vnode"},
    {"max_user_run", integer, kNoUserSet | openpbs_only, "",
     "How many jobs of a user may run at once on the vnode"},
    {"no_multinode_jobs", boolean, kManagerOnlySet | openpbs_only, "",
     "Whether jobs of several hosts keep off the vnode"},
    {"no_tasks", boolean, kNoUserSet | openpbs_only, "", "Not used by PBS"},
    {"pnames", list, kManagerOnlySet | openpbs_only, "", "The resources whose values make placement sets"},
    {"Port", integer, kNoUserSet | openpbs_only, "",
     "The port of the vnode's MoM; given when the vnode is made"},
    {"power_provisioning", boolean, kManagerOnlySet | openpbs_only, "",
     "Whether the vnode may be powered up and down"},
    {"poweroff_eligible", boolean, kManagerOnlySet | openpbs_only, "",
     "Whether the vnode may be switched off"},
    {"provision_enable", boolean, kManagerOnlySet | openpbs_only, "", "Whether the vnode may be provisioned"},
    {"resv_enable", boolean, kManagerOnlySet | openpbs_only, "", "Whether reservations may use the vnode"},
    {"topology_info", text, kReadOnly | openpbs_only, "", "What the host's hardware looks like"},
    {"vnode_pool", integer, kManagerOnlySet | openpbs_only, "",
     "The pool of hosts that tell of the vnode together"},
});

}  // namespace

const AttributeTable& node_table() {
    static constexpr AttributeTable kTable{kNodeRows};
    return kTable;
}

}  // namespace pbs::ifl
