// The attributes of jobs.
#include <array>

#include "ifl/attributes/attribute_table.h"

namespace pbs::ifl {
namespace {

using enum AttributeType;

// The rows, in the order in which qstat -f shows them.
constexpr auto kJobRows = std::to_array<AttributeDef>({
    {"Job_Name", text, kReadWrite | alter_running},
    {"Job_Owner", text, kReadOnly},
    {"resources_used", resources, kReadOnly},
    {"job_state", text, kReadOnly | computed},
    {"queue", text, kReadOnly | computed},
    {"server", text, kReadOnly | computed},
    {"Account_Name", text, kReadWrite},
    {"Checkpoint", text, kReadWrite | alter_running},
    {"ctime", integer, kReadOnly | computed},
    {"depend", text, kReadWrite | computed},
    {"Error_Path", text, kReadWrite | alter_running},
    {"exec_host", text, kReadOnly | computed},
    {"exec_vnode", text, kReadOnly | computed},
    {"Execution_Time", integer, kReadWrite | alter_running},
    {"group_list", list, kReadWrite},
    {"Hold_Types", hold, kReadWrite | alter_running},
    {"interactive", integer, kReadOnly | at_creation},
    {"Join_Path", text, kReadWrite},
    {"Keep_Files", text, kReadWrite},
    {"Mail_Points", text, kReadWrite | alter_running},
    {"Mail_Users", list, kReadWrite | alter_running},
    {"mtime", integer, kReadOnly | computed},
    {"no_stdio_sockets", boolean, kReadWrite},
    {"Output_Path", text, kReadWrite | alter_running},
    {"Priority", integer, kReadWrite | alter_running},
    {"qtime", integer, kReadOnly | computed},
    {"Rerunable", boolean, kReadWrite | alter_running},
    {"Remove_Files", text, kReadWrite},
    {"Resource_List", resources, kReadWrite | alter_running},
    {"schedselect", text, kManagersRead},
    {"stime", integer, kReadOnly | computed},
    {"obittime", integer, kReadOnly | computed},
    {"session_id", integer, kReadOnly},
    {"sched_preempted", integer, kReadOnly},
    {"Shell_Path_List", list, kReadWrite | alter_running},
    {"jobdir", text, kReadOnly},
    {"substate", integer, kReadOnly | computed},
    {"User_List", list, kReadWrite},
    {"Variable_List", environment, kReadWrite},
    {"euser", text, kManagersRead},
    {"egroup", text, kManagersRead},
    {"hop_count", integer, kManagersRead},
    {"queue_rank", integer, kManagersRead | computed},
    {"queue_type", text, kManagersRead | computed},
    {"comment", text, kNoUserSet | alter_running},
    {"etime", integer, kReadOnly | computed},
    {"reserve_ID", text, kReadOnly | computed},
    {"block", integer, kReadOnly | at_creation},
    {"umask", integer, kReadWrite},
    {"sandbox", text, kReadWrite},
    {"create_resv_from_job", boolean, kReadWrite},
    {"stagein", list, kReadWrite},
    {"stageout", list, kReadWrite},
    {"run_count", integer, kReadOnly},
    {"eligible_time", duration, kNoUserSet | alter_running | computed},
    {"accrue_type", integer, kManagersRead | computed},
    {"Exit_status", integer, kReadOnly},
    {"Submit_arguments", text, kReadWrite},
    {"executable", text, kReadWrite},
    {"argument_list", text, kReadWrite},
    {"array", boolean, kReadOnly | computed},
    {"array_id", text, kReadOnly},
    {"array_index", integer, kReadOnly},
    {"array_state_count", text, kReadOnly | computed},
    {"array_indices_submitted", text, kReadOnly | at_creation},
    {"array_indices_remaining", text, kReadOnly},
    {"array_runs", integer, 0},  // the largest run_count of subjobs that are gone
    // stored for the eligible time (server_plugin/host/state/accrual.h)
    {"accrues_as", integer, 0},
    {"accrues_since", integer, 0},
    {"eligible_before", integer, 0},
    // stored for jobs moved from or to other servers (server_plugin/host/peers/arrival.h, deliveries.h)
    {"foreign_id", text, 0},
    {"leaves_for", text, 0},
    // stored for preemption (server_plugin/host/life/preempt.h)
    {"preempting", text, 0},
    {"awaits", text, 0},
    {"not_preemptable", boolean, 0},
    {"suspended_at", integer, 0},
    {"suspended_for", integer, kReadOnly},
    {"released", text, 0},
    {"history_timestamp", integer, kReadOnly},
    {"estimated", resources, kReadOnly | computed},
    {"project", text, kReadWrite},
    {"Submit_Host", text, kReadOnly | at_creation},
    {"max_run_subjobs", integer, kReadWrite | alter_running},
    {"topjob_ineligible", boolean, kManagersRead | write_manager | alter_running},
    // only in OpenPBS's server
    {"resv", text, kReadOnly | openpbs_only},
    {"exec_host2", text, kReadOnly | openpbs_only},
    {"schedselect_orig", text, kReadOnly | openpbs_only},
    {"hashname", text, kReadOnly | openpbs_only},
    {"sched_hint", text, kReadOnly | openpbs_only},
    {"security", text, kReadOnly | openpbs_only},
    {"cookie", text, kReadOnly | openpbs_only},
    {"alt_id", text, kReadOnly | openpbs_only},
    {"alt_id2", text, kReadOnly | openpbs_only},
    {"last_context_refresh", text, kReadOnly | openpbs_only},
    {"gridname", text, kReadOnly | openpbs_only},
    {"cred", text, kReadOnly | openpbs_only},
    {"accounting_id", text, kReadOnly | openpbs_only},
    {"sample_starttime", text, kReadOnly | openpbs_only},
    {"job_kill_delay", text, kReadOnly | openpbs_only},
    {"Stageout_status", text, kReadOnly | openpbs_only},
    {"forward_x11_cookie", text, kReadOnly | openpbs_only},
    {"forward_x11_port", text, kReadOnly | openpbs_only},
    {"run_version", text, kReadOnly | openpbs_only},
    {"gui", text, kReadOnly | openpbs_only},
    {"topjob", text, kReadOnly | openpbs_only},
    {"node_set", text, kReadOnly | openpbs_only},
    {"ptime", text, kReadOnly | openpbs_only},
    {"resources_released", text, kReadOnly | openpbs_only},
    {"resource_released_list", text, kReadOnly | openpbs_only},
    {"release_nodes_on_stageout", text, kReadOnly | openpbs_only},
    {"tolerate_node_failures", text, kReadOnly | openpbs_only},
    {"credential_id", text, kReadOnly | openpbs_only},
    {"credential_validity", text, kReadOnly | openpbs_only},
});

}  // namespace

const AttributeTable& job_table() {
    static constexpr AttributeTable kTable{kJobRows};
    return kTable;
}

}  // namespace pbs::ifl
