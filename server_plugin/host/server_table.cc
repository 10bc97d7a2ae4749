#include <array>

#include "server_plugin/host/attributes.h"

namespace pbs::host {
namespace {

constexpr std::array rows = {
    AttributeDef{"server_state", Type::text, read_only | computed},
    AttributeDef{"server_host", Type::text, read_only | computed},
    AttributeDef{"scheduling", Type::boolean, no_user_set},
    AttributeDef{"max_running", Type::integer, no_user_set},
    AttributeDef{"max_array_size", Type::integer, no_user_set},
    AttributeDef{"max_user_run", Type::integer, no_user_set},
    AttributeDef{"max_group_run", Type::integer, no_user_set},
    AttributeDef{"total_jobs", Type::integer, read_only | computed},
    AttributeDef{"state_count", Type::text, read_only | computed},
    AttributeDef{"acl_host_enable", Type::boolean, manager_only_set},
    AttributeDef{"acl_hosts", Type::acl, manager_only_set},
    AttributeDef{"acl_user_enable", Type::boolean, manager_only_set},
    AttributeDef{"acl_users", Type::acl, manager_only_set},
    AttributeDef{"acl_roots", Type::acl, manager_only_set},
    AttributeDef{"managers", Type::acl, manager_only_set},
    AttributeDef{"operators", Type::acl, manager_only_set},
    AttributeDef{"default_queue", Type::text, no_user_set},
    AttributeDef{"log_events", Type::integer, no_user_set},
    AttributeDef{"mailer", Type::text, manager_only_set},
    AttributeDef{"mail_from", Type::text, manager_only_set},
    AttributeDef{"query_other_jobs", Type::boolean, manager_only_set},
    AttributeDef{"resources_available", Type::resources, no_user_set},
    AttributeDef{"resources_default", Type::resources, no_user_set},
    AttributeDef{"default_chunk", Type::resources, no_user_set},
    AttributeDef{"resources_max", Type::resources, no_user_set},
    AttributeDef{"resources_assigned", Type::resources, read_only | computed},
    AttributeDef{"scheduler_iteration", Type::integer, no_user_set},
    AttributeDef{"comment", Type::text, no_user_set},
    AttributeDef{"flatuid", Type::boolean, manager_only_set},
    AttributeDef{"default_qdel_arguments", Type::text, no_user_set},
    AttributeDef{"default_qsub_arguments", Type::text, no_user_set},
    AttributeDef{"pbs_version", Type::text, read_only | computed},
    AttributeDef{"job_sort_formula", Type::text, manager_only_set},
    AttributeDef{"eligible_time_enable", Type::boolean, manager_only_set},
    AttributeDef{"job_history_enable", Type::boolean, manager_only_set},
    AttributeDef{"job_history_duration", Type::duration, manager_only_set},
    AttributeDef{"backfill_depth", Type::integer, no_user_set},
    AttributeDef{"jobscript_max_size", Type::size, manager_only_set},
    AttributeDef{"max_job_sequence_id", Type::integer, manager_only_set},
};

}  // namespace

const AttributeTable& server_table() {
    static const AttributeTable table{rows};
    return table;
}

}  // namespace pbs::host
