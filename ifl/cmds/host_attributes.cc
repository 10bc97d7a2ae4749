#include "ifl/cmds/host_attributes.h"

#include <algorithm>
#include <array>

#include "ifl/cmds/text.h"
#include "objects/schema.h"

namespace pbs::cmds {

namespace {

using enum ValueKind;

constexpr auto kServer = std::to_array<HostAttribute>({
    {"acl_host_enable", plain, true},
    {"acl_host_moms_enable", plain, true},
    {"acl_hosts", list, true},
    {"acl_krb_realm_enable", plain, true},
    {"acl_krb_realms", list, true},
    {"acl_krb_submit_realms", list, true},
    {"acl_resv_group_enable", plain, true},
    {"acl_resv_groups", list, true},
    {"acl_resv_host_enable", plain, true},
    {"acl_resv_hosts", list, true},
    {"acl_resv_user_enable", plain, true},
    {"acl_resv_users", list, true},
    {"acl_roots", list, true},
    {"acl_user_enable", plain, true},
    {"acl_users", list, true},
    {"backfill_depth", plain, true},
    {"comment", text, true},
    {"cred_renew_cache_period", plain, true},
    {"cred_renew_enable", plain, true},
    {"cred_renew_period", plain, true},
    {"cred_renew_tool", text, true},
    {"default_chunk", plain, true},
    {"default_node", text, true},
    {"default_qdel_arguments", text, true},
    {"default_qsub_arguments", text, true},
    {"default_queue", text, true},
    {"eligible_time_enable", plain, true},
    {"flatuid", plain, true},
    {"has_runjob_hook", plain, false},
    {"job_history_duration", plain, true},
    {"job_history_enable", plain, true},
    {"job_requeue_timeout", plain, true},
    {"job_sort_formula", text, true},
    {"jobscript_max_size", plain, true},
    {"license_count", text, false},
    {"log_events", plain, true},
    {"mail_from", text, true},
    {"mailer", text, true},
    {"managers", list, true},
    {"max_array_size", plain, true},
    {"max_concurrent_provision", plain, true},
    {"max_group_res", plain, true},
    {"max_group_res_soft", plain, true},
    {"max_group_run", plain, true},
    {"max_group_run_soft", plain, true},
    {"max_job_sequence_id", plain, true},
    {"max_queued", list, true},
    {"max_queued_res", list, true},
    {"max_run", list, true},
    {"max_run_res", list, true},
    {"max_run_res_soft", list, true},
    {"max_run_soft", list, true},
    {"max_running", plain, true},
    {"max_user_res", plain, true},
    {"max_user_res_soft", plain, true},
    {"max_user_run", plain, true},
    {"max_user_run_soft", plain, true},
    {"node_fail_requeue", plain, true},
    {"node_group_enable", plain, true},
    {"node_group_key", list, true},
    {"node_pack", plain, true},
    {"operators", list, true},
    {"pbs_license_info", text, true},
    {"pbs_license_linger_time", plain, true},
    {"pbs_license_max", plain, true},
    {"pbs_license_min", plain, true},
    {"pbs_version", text, false},
    {"pnames", list, true},
    {"power_provisioning", plain, false},
    {"provision_enable", plain, false},
    {"provision_timeout", plain, false},
    {"python_restart_max_hooks", plain, true},
    {"python_restart_max_objects", plain, true},
    {"python_restart_min_interval", plain, true},
    {"query_other_jobs", plain, true},
    {"queued_jobs_threshold", list, true},
    {"queued_jobs_threshold_res", list, true},
    {"require_cred", text, true},
    {"require_cred_enable", plain, true},
    {"reserve_retry_init", plain, true},
    {"reserve_retry_time", plain, true},
    {"resources_assigned", plain, false},
    {"resources_available", plain, true},
    {"resources_cost", plain, true},
    {"resources_default", plain, true},
    {"resources_max", plain, true},
    {"restrict_res_to_release_on_suspend", list, true},
    {"resv_enable", plain, true},
    {"resv_post_processing_time", plain, true},
    {"rpp_highwater", plain, true},
    {"rpp_max_pkt_check", plain, true},
    {"rpp_retry", plain, true},
    {"scheduler_iteration", plain, true},
    {"scheduling", plain, true},
    {"server_host", text, false},
    {"server_state", plain, false},
    {"show_hidden_attribs", plain, true},
    {"state_count", text, false},
    {"sync_mom_hookfiles_timeout", plain, true},
    {"system_cost", plain, true},
    {"total_jobs", plain, false},
});

constexpr auto kQueue = std::to_array<HostAttribute>({
    {"acl_group_enable", plain, true},
    {"acl_groups", list, true},
    {"acl_host_enable", plain, true},
    {"acl_hosts", list, true},
    {"acl_user_enable", plain, true},
    {"acl_users", list, true},
    {"alt_router", plain, true},
    {"backfill_depth", plain, true},
    {"checkpoint_min", plain, true},
    {"comment", text, true},
    {"default_chunk", plain, true},
    {"enabled", plain, true},
    {"from_route_only", plain, true},
    {"hasnodes", plain, false},
    {"kill_delay", plain, true},
    {"max_array_size", plain, true},
    {"max_group_res", plain, true},
    {"max_group_res_soft", plain, true},
    {"max_group_run", plain, true},
    {"max_group_run_soft", plain, true},
    {"max_queuable", plain, true},
    {"max_queued", list, true},
    {"max_queued_res", list, true},
    {"max_run", list, true},
    {"max_run_res", list, true},
    {"max_run_res_soft", list, true},
    {"max_run_soft", list, true},
    {"max_running", plain, true},
    {"max_user_res", plain, true},
    {"max_user_res_soft", plain, true},
    {"max_user_run", plain, true},
    {"max_user_run_soft", plain, true},
    {"node_group_key", list, true},
    {"partition", text, true},
    {"Priority", plain, true},
    {"queue_type", text, true},
    {"queued_jobs_threshold", list, true},
    {"queued_jobs_threshold_res", list, true},
    {"rendezvous_retry", plain, true},
    {"require_cred", text, true},
    {"require_cred_enable", plain, true},
    {"reserved_expedite", plain, true},
    {"reserved_sync", plain, true},
    {"resources_assigned", plain, false},
    {"resources_available", plain, true},
    {"resources_default", plain, true},
    {"resources_max", plain, true},
    {"resources_min", plain, true},
    {"route_destinations", list, true},
    {"route_held_jobs", plain, true},
    {"route_lifetime", plain, true},
    {"route_retry_time", plain, true},
    {"route_waiting_jobs", plain, true},
    {"started", plain, true},
    {"state_count", text, false},
    {"total_jobs", plain, false},
});

constexpr auto kNode = std::to_array<HostAttribute>({
    {"comment", text, true},
    {"current_aoe", text, true},
    {"current_eoe", text, true},
    {"Host", text, true},
    {"in_multivnode_host", plain, true},
    {"jobs", plain, false},
    {"last_state_change_time", plain, false},
    {"last_used_time", plain, false},
    {"license", plain, false},
    {"maintenance_jobs", list, false},
    {"max_group_run", plain, true},
    {"max_running", plain, true},
    {"max_user_run", plain, true},
    {"Mom", list, true},
    {"no_multinode_jobs", plain, true},
    {"no_tasks", plain, true},
    {"np", plain, true},
    {"ntype", plain, false},
    {"partition", text, true},
    {"pbs_version", text, false},
    {"pcpus", plain, false},
    {"pnames", list, true},
    {"Port", plain, true},
    {"power_provisioning", plain, true},
    {"poweroff_eligible", plain, true},
    {"Priority", plain, true},
    {"properties", list, true},
    {"provision_enable", plain, true},
    {"queue", text, true},
    {"resources_assigned", plain, false},
    {"resources_available", plain, true},
    {"resv", plain, false},
    {"resv_enable", plain, true},
    {"sharing", plain, false},
    {"state", plain, true},
    {"vnode_pool", plain, true},
});

constexpr auto kSched = std::to_array<HostAttribute>({
    {"active_policy", text, false},
    {"attr_update_period", plain, true},
    {"comment", text, true},
    {"dedicated_time", text, false},
    {"do_not_span_psets", plain, true},
    {"job_run_wait", text, true},
    {"job_sort_formula", text, true},
    {"job_sort_formula_threshold", plain, true},
    {"log_events", plain, true},
    {"next_policy_change", text, false},
    {"only_explicit_psets", plain, true},
    {"opt_backfill_fuzzy", text, true},
    {"partition", text, true},
    {"preempt_order", text, true},
    {"preempt_prio", text, true},
    {"preempt_queue_prio", plain, true},
    {"preempt_sort", text, true},
    {"preempt_targets_enable", plain, true},
    {"prime_time", text, false},
    {"sched_cycle_length", plain, true},
    {"sched_host", text, false},
    {"sched_log", text, true},
    {"sched_preempt_enforce_resumption", plain, true},
    {"sched_priv", text, true},
    {"sched_user", text, true},
    {"scheduler_iteration", plain, true},
    {"scheduling", plain, true},
    {"server_dyn_res_alarm", plain, true},
    {"state", text, false},
    {"throughput_mode", plain, true},
    {"unsupported_settings", text, false},
});

constexpr auto kResource = std::to_array<HostAttribute>({
    {"flag", text, true},
    {"type", text, true},
});

// The types that the tables of objects/ describe whole; those of the server, queues and schedulers are added
// to what is listed here.
objects::ObjectType own_type(ObjectType type) {
    return static_cast<objects::ObjectType>(type);
}

const HostAttribute* find_host_attribute(ObjectType type, std::string_view name) {
    const auto rows = host_attributes(type);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const HostAttribute& attribute) {
        return equal_ignoring_case(attribute.name, name);
    });
    return row == rows.end() ? nullptr : &*row;
}

}  // namespace

std::span<const HostAttribute> host_attributes(ObjectType type) {
    switch (type) {
        case ObjectType::server:
            return kServer;
        case ObjectType::queue:
            return kQueue;
        case ObjectType::node:
            return kNode;
        case ObjectType::sched:
            return kSched;
        case ObjectType::resource:
            return kResource;
        default:
            return {};
    }
}

bool is_attribute(ObjectType type, std::string_view name) {
    return objects::find_attribute(own_type(type), name) != nullptr ||
           find_host_attribute(type, name) != nullptr;
}

bool is_writable(ObjectType type, std::string_view name) {
    if (const auto* own = objects::find_attribute(own_type(type), name)) {
        return (own->flags & objects::read_only) == 0;
    }
    const HostAttribute* host = find_host_attribute(type, name);
    return host == nullptr || host->writable;
}

ValueKind value_kind(ObjectType type, std::string_view name) {
    // A list of ours is given back as one value: its elements may hold commas of their own.
    if (objects::find_attribute(own_type(type), name) != nullptr) {
        return text;
    }
    const HostAttribute* host = find_host_attribute(type, name);
    return host == nullptr ? text : host->kind;
}

std::vector<std::string> attribute_names(ObjectType type) {
    std::vector<std::string> names;
    for (const objects::Attribute& attribute : objects::attributes(own_type(type))) {
        names.emplace_back(attribute.name);
    }
    for (const HostAttribute& attribute : host_attributes(type)) {
        if (std::find(names.begin(), names.end(), attribute.name) == names.end()) {
            names.emplace_back(attribute.name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace pbs::cmds
