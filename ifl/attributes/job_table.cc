// The attributes of jobs.
#include <array>

#include "ifl/attributes/attribute_table.h"

namespace pbs::ifl {
namespace {

using enum AttributeType;

// In the order in which qstat -f shows them.
constexpr auto rows = std::to_array<AttributeDef>({
    {"Job_Name", text, read_write | alter_running},
    {"Job_Owner", text, read_only},
    {"resources_used", resources, read_only},
    {"job_state", text, read_only | computed},
    {"queue", text, read_only | computed},
    {"server", text, read_only | computed},
    {"Account_Name", text, read_write},
    {"Checkpoint", text, read_write | alter_running},
    {"ctime", integer, read_only | computed},
    {"depend", text, read_write | computed},
    {"Error_Path", text, read_write | alter_running},
    {"exec_host", text, read_only | computed},
    {"exec_vnode", text, read_only | computed},
    {"Execution_Time", integer, read_write | alter_running},
    {"group_list", list, read_write},
    {"Hold_Types", hold, read_write | alter_running},
    {"interactive", integer, read_only | at_creation},
    {"Join_Path", text, read_write},
    {"Keep_Files", text, read_write},
    {"Mail_Points", text, read_write | alter_running},
    {"Mail_Users", list, read_write | alter_running},
    {"mtime", integer, read_only | computed},
    {"no_stdio_sockets", boolean, read_write},
    {"Output_Path", text, read_write | alter_running},
    {"Priority", integer, read_write | alter_running},
    {"qtime", integer, read_only | computed},
    {"Rerunable", boolean, read_write | alter_running},
    {"Remove_Files", text, read_write},
    {"Resource_List", resources, read_write | alter_running},
    {"schedselect", text, managers_read},
    {"stime", integer, read_only | computed},
    {"obittime", integer, read_only | computed},
    {"session_id", integer, read_only},
    {"Shell_Path_List", list, read_write | alter_running},
    {"jobdir", text, read_only},
    {"substate", integer, read_only | computed},
    {"User_List", list, read_write},
    {"Variable_List", environment, read_write},
    {"euser", text, managers_read},
    {"egroup", text, managers_read},
    {"hop_count", integer, managers_read},
    {"queue_rank", integer, managers_read | computed},
    {"queue_type", text, managers_read | computed},
    {"comment", text, no_user_set | alter_running},
    {"etime", integer, read_only | computed},
    {"block", integer, read_only | at_creation},
    {"umask", integer, read_write},
    {"sandbox", text, read_write},
    {"stagein", list, read_write},
    {"stageout", list, read_write},
    {"run_count", integer, read_only},
    {"eligible_time", duration, read_only | computed},
    {"accrue_type", integer, managers_read | computed},
    {"Exit_status", integer, read_only},
    {"Submit_arguments", text, read_write},
    {"executable", text, read_write},
    {"argument_list", text, read_write},
    {"array", boolean, read_only | computed},
    {"array_id", text, read_only},
    {"array_index", integer, read_only},
    {"array_state_count", text, read_only | computed},
    {"array_indices_submitted", text, read_only | at_creation},
    {"array_indices_remaining", text, read_only},
    {"array_runs", integer, 0},  // the largest run_count of subjobs that are gone
    {"history_timestamp", integer, read_only},
    {"estimated", resources, read_only | computed},
    {"project", text, read_write},
    {"Submit_Host", text, read_only | at_creation},
    {"max_run_subjobs", integer, read_write | alter_running},
    // Of OpenPBS's server only.
    {"resv", text, read_only | openpbs_only},
    {"exec_host2", text, read_only | openpbs_only},
    {"schedselect_orig", text, read_only | openpbs_only},
    {"hashname", text, read_only | openpbs_only},
    {"sched_hint", text, read_only | openpbs_only},
    {"security", text, read_only | openpbs_only},
    {"cookie", text, read_only | openpbs_only},
    {"alt_id", text, read_only | openpbs_only},
    {"alt_id2", text, read_only | openpbs_only},
    {"reserve_ID", text, read_only | openpbs_only},
    {"last_context_refresh", text, read_only | openpbs_only},
    {"gridname", text, read_only | openpbs_only},
    {"cred", text, read_only | openpbs_only},
    {"accounting_id", text, read_only | openpbs_only},
    {"sample_starttime", text, read_only | openpbs_only},
    {"job_kill_delay", text, read_only | openpbs_only},
    {"Stageout_status", text, read_only | openpbs_only},
    {"forward_x11_cookie", text, read_only | openpbs_only},
    {"forward_x11_port", text, read_only | openpbs_only},
    {"run_version", text, read_only | openpbs_only},
    {"gui", text, read_only | openpbs_only},
    {"topjob_ineligible", text, read_only | openpbs_only},
    {"resources_released", text, read_only | openpbs_only},
    {"resource_released_list", text, read_only | openpbs_only},
    {"release_nodes_on_stageout", text, read_only | openpbs_only},
    {"tolerate_node_failures", text, read_only | openpbs_only},
    {"credential_id", text, read_only | openpbs_only},
    {"credential_validity", text, read_only | openpbs_only},
    {"create_resv_from_job", text, read_only | openpbs_only},
});

}  // namespace

const AttributeTable& job_table() {
    static constexpr AttributeTable table{rows};
    return table;
}

}  // namespace pbs::ifl
