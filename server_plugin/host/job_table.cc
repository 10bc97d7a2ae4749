#include <array>

#include "server_plugin/host/attributes.h"

namespace pbs::host {
namespace {

// In the order in which qstat -f shows them.
constexpr std::array rows = {
    AttributeDef{"Job_Name", Type::text, read_write | alter_running},
    AttributeDef{"Job_Owner", Type::text, read_only},
    AttributeDef{"resources_used", Type::resources, read_only},
    AttributeDef{"job_state", Type::text, read_only | computed},
    AttributeDef{"queue", Type::text, read_only | computed},
    AttributeDef{"server", Type::text, read_only | computed},
    AttributeDef{"Account_Name", Type::text, read_write},
    AttributeDef{"Checkpoint", Type::text, read_write | alter_running},
    AttributeDef{"ctime", Type::integer, read_only | computed},
    AttributeDef{"depend", Type::text, read_write | computed},
    AttributeDef{"Error_Path", Type::text, read_write | alter_running},
    AttributeDef{"exec_host", Type::text, read_only | computed},
    AttributeDef{"exec_vnode", Type::text, read_only | computed},
    AttributeDef{"Execution_Time", Type::integer, read_write | alter_running},
    AttributeDef{"group_list", Type::list, read_write},
    AttributeDef{"Hold_Types", Type::hold, read_write | alter_running},
    AttributeDef{"interactive", Type::integer, read_only | at_creation},
    AttributeDef{"Join_Path", Type::text, read_write},
    AttributeDef{"Keep_Files", Type::text, read_write},
    AttributeDef{"Mail_Points", Type::text, read_write | alter_running},
    AttributeDef{"Mail_Users", Type::list, read_write | alter_running},
    AttributeDef{"mtime", Type::integer, read_only | computed},
    AttributeDef{"no_stdio_sockets", Type::boolean, read_write},
    AttributeDef{"Output_Path", Type::text, read_write | alter_running},
    AttributeDef{"Priority", Type::integer, read_write | alter_running},
    AttributeDef{"qtime", Type::integer, read_only | computed},
    AttributeDef{"Rerunable", Type::boolean, read_write | alter_running},
    AttributeDef{"Remove_Files", Type::text, read_write},
    AttributeDef{"Resource_List", Type::resources, read_write | alter_running},
    AttributeDef{"schedselect", Type::text, managers_read},
    AttributeDef{"stime", Type::integer, read_only | computed},
    AttributeDef{"obittime", Type::integer, read_only | computed},
    AttributeDef{"session_id", Type::integer, read_only},
    AttributeDef{"Shell_Path_List", Type::list, read_write | alter_running},
    AttributeDef{"jobdir", Type::text, read_only},
    AttributeDef{"substate", Type::integer, read_only | computed},
    AttributeDef{"User_List", Type::list, read_write},
    AttributeDef{"Variable_List", Type::environment, read_write},
    AttributeDef{"euser", Type::text, managers_read},
    AttributeDef{"egroup", Type::text, managers_read},
    AttributeDef{"hop_count", Type::integer, managers_read},
    AttributeDef{"queue_rank", Type::integer, managers_read | computed},
    AttributeDef{"queue_type", Type::text, managers_read | computed},
    AttributeDef{"comment", Type::text, no_user_set | alter_running},
    AttributeDef{"etime", Type::integer, read_only | computed},
    AttributeDef{"block", Type::integer, read_only | at_creation},
    AttributeDef{"umask", Type::integer, read_write},
    AttributeDef{"sandbox", Type::text, read_write},
    AttributeDef{"stagein", Type::list, read_write},
    AttributeDef{"stageout", Type::list, read_write},
    AttributeDef{"run_count", Type::integer, read_only},
    AttributeDef{"eligible_time", Type::duration, read_only | computed},
    AttributeDef{"accrue_type", Type::integer, managers_read | computed},
    AttributeDef{"Exit_status", Type::integer, read_only},
    AttributeDef{"Submit_arguments", Type::text, read_write},
    AttributeDef{"executable", Type::text, read_write},
    AttributeDef{"argument_list", Type::text, read_write},
    AttributeDef{"array", Type::boolean, read_only | computed},
    AttributeDef{"array_id", Type::text, read_only},
    AttributeDef{"array_index", Type::integer, read_only},
    AttributeDef{"array_state_count", Type::text, read_only | computed},
    AttributeDef{"array_indices_submitted", Type::text, read_only | at_creation},
    AttributeDef{"array_indices_remaining", Type::text, read_only},
    AttributeDef{"array_runs", Type::integer, 0},  // the largest run_count of subjobs that are gone
    AttributeDef{"history_timestamp", Type::integer, read_only},
    AttributeDef{"estimated", Type::resources, read_only | computed},
    AttributeDef{"project", Type::text, read_write},
    AttributeDef{"Submit_Host", Type::text, read_only | at_creation},
    AttributeDef{"max_run_subjobs", Type::integer, read_write | alter_running},
};

}  // namespace

const AttributeTable& job_table() {
    static const AttributeTable table{rows};
    return table;
}

}  // namespace pbs::host
