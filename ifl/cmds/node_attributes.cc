// The attributes of vnodes.

#include "ifl/cmds/host_attribute_tables.h"

namespace pbs::cmds {

namespace {

using enum HostType;
using enum Setter;
using enum Where;

constexpr std::string_view kState[] = {"free", "offline"};

constexpr HostAttribute kTable[] = {
    {"comment", text, operators, here, "", "A remark, for people"},
    {"current_aoe", text, managers, openpbs, "", "The environment that the vnode is provisioned with"},
    {"current_eoe", text, managers, openpbs, "", "The energy profile that is in force on the vnode"},
    {"Host", text, nobody, openpbs, "", "The host that the vnode is a part of"},
    {"in_multivnode_host", integer, managers, openpbs, "", "Whether the host has more vnodes than this one"},
    {"jobs", text, nobody, here, "", "The jobs that run on the vnode"},
    {"last_state_change_time", integer, nobody, here, "",
     "When the vnode's state changed, in seconds since 1970"},
    {"last_used_time", integer, nobody, here, "",
     "When a job last ended on the vnode, in seconds since 1970"},
    {"license", text, nobody, openpbs, "", "What licence the vnode has"},
    {"license_info", integer, managers, openpbs, "", "How many licences the vnode needs"},
    {"maintenance_jobs", list, nobody, openpbs, "", "The jobs that were suspended for maintenance"},
    {"max_group_run", integer, operators, openpbs, "",
     "How many jobs of a group may run at once on the vnode"},
    {"max_running", integer, operators, openpbs, "", "How many jobs may run at once on the vnode"},
    {"max_user_run", integer, operators, openpbs, "", "How many jobs of a user may run at once on the vnode"},
    {"Mom", text, managers, here, "",
     "The host whose MoM runs the vnode's jobs; given when the vnode is made"},
    {"no_multinode_jobs", boolean, managers, openpbs, "", "Whether jobs of several hosts keep off the vnode"},
    {"no_tasks", boolean, operators, openpbs, "", "Not used by PBS"},
    {"ntype", text, nobody, here, "", "The kind of vnode: PBS"},
    {"partition", text, operators, here, "",
     "The scheduler with this partition schedules the vnode; not set: the default scheduler"},
    {"pbs_version", text, nobody, here, "", "The version of the software that runs the vnode's jobs"},
    {"pcpus", integer, nobody, here, "", "How many processors the host has"},
    {"pnames", list, managers, openpbs, "", "The resources that placement sets are made by"},
    {"Port", integer, operators, openpbs, "", "The port of the vnode's MoM; given when the vnode is made"},
    {"power_provisioning", boolean, managers, openpbs, "", "Whether the vnode may be powered up and down"},
    {"poweroff_eligible", boolean, managers, openpbs, "", "Whether the vnode may be switched off"},
    {"Priority", integer, operators, here, "",
     "The vnode's place among the others when sorted by sort_priority, -1024 to 1023"},
    {"provision_enable", boolean, managers, openpbs, "", "Whether the vnode may be provisioned"},
    {"queue", text, managers, here, "", "The queue whose jobs alone run on the vnode"},
    {"resources_assigned", resources, nobody, here, "", "What the running jobs use of the vnode"},
    {"resources_available", resources, operators, here, "",
     "What the vnode has of a resource; a new one has what its host has"},
    {"resv", text, nobody, openpbs, "", "The reservations that hold the vnode"},
    {"resv_enable", boolean, managers, openpbs, "", "Whether reservations may use the vnode"},
    {"sharing", text, nobody, here, "", "Whether several jobs may run on the vnode at once"},
    {"state", text, operators, here, "", "What the vnode does; only offline and free can be set", kState},
    {"topology_info", text, nobody, openpbs, "", "What the host's hardware looks like"},
    {"vnode_pool", integer, managers, openpbs, "", "The pool of hosts that tell of the vnode together"},
};

}  // namespace

std::span<const HostAttribute> node_attributes() {
    return kTable;
}

}  // namespace pbs::cmds
