#include "ifl/cmds/host_attributes.h"

#include <algorithm>
#include <array>

#include "ifl/cmds/text.h"
#include "objects/schema.h"

namespace pbs::cmds {

namespace {

using enum ValueKind;

constexpr auto kServer = std::to_array<HostAttribute>({
    {"ATTR_acl_krb_realm_enable", plain, true},
    {"ATTR_acl_krb_realms", list, true},
    {"ATTR_acl_krb_submit_realms", list, true},
    {"ATTR_aclhost", list, true},
    {"ATTR_aclhostmomsen", plain, true},
    {"ATTR_aclhten", plain, true},
    {"ATTR_aclResvgren", plain, true},
    {"ATTR_aclResvgroup", list, true},
    {"ATTR_aclResvhost", list, true},
    {"ATTR_aclResvhten", plain, true},
    {"ATTR_aclResvuren", plain, true},
    {"ATTR_aclResvuser", list, true},
    {"ATTR_aclroot", list, true},
    {"ATTR_acluren", plain, true},
    {"ATTR_acluser", list, true},
    {"ATTR_backfill_depth", plain, true},
    {"ATTR_comment", text, true},
    {"ATTR_count", text, false},
    {"ATTR_cred_renew_cache_period", plain, true},
    {"ATTR_cred_renew_enable", plain, true},
    {"ATTR_cred_renew_period", plain, true},
    {"ATTR_cred_renew_tool", text, true},
    {"ATTR_DefaultChunk", plain, true},
    {"ATTR_defnode", text, true},
    {"ATTR_dfltqdelargs", text, true},
    {"ATTR_dfltqsubargs", text, true},
    {"ATTR_dfltque", text, true},
    {"ATTR_EligibleTimeEnable", plain, true},
    {"ATTR_FlatUID", plain, true},
    {"ATTR_has_runjob_hook", plain, false},
    {"ATTR_job_requeue_timeout", plain, true},
    {"ATTR_job_sort_formula", text, true},
    {"ATTR_JobHistoryDuration", plain, true},
    {"ATTR_JobHistoryEnable", plain, true},
    {"ATTR_jobscript_max_size", plain, true},
    {"ATTR_license_count", text, false},
    {"ATTR_license_linger", plain, true},
    {"ATTR_license_max", plain, true},
    {"ATTR_license_min", plain, true},
    {"ATTR_logevents", plain, true},
    {"ATTR_mailer", text, true},
    {"ATTR_mailfrom", text, true},
    {"ATTR_managers", list, true},
    {"ATTR_max_concurrent_prov", plain, true},
    {"ATTR_max_job_sequence_id", plain, true},
    {"ATTR_max_queued", list, true},
    {"ATTR_max_queued_res", list, true},
    {"ATTR_max_run", list, true},
    {"ATTR_max_run_res", list, true},
    {"ATTR_max_run_res_soft", list, true},
    {"ATTR_max_run_soft", list, true},
    {"ATTR_maxarraysize", plain, true},
    {"ATTR_maxgroupres", plain, true},
    {"ATTR_maxgroupressoft", plain, true},
    {"ATTR_maxgrprun", plain, true},
    {"ATTR_maxgrprunsoft", plain, true},
    {"ATTR_maxrun", plain, true},
    {"ATTR_maxuserres", plain, true},
    {"ATTR_maxuserressoft", plain, true},
    {"ATTR_maxuserrun", plain, true},
    {"ATTR_maxuserrunsoft", plain, true},
    {"ATTR_nodefailrq", plain, true},
    {"ATTR_NodeGroupEnable", plain, true},
    {"ATTR_NodeGroupKey", list, true},
    {"ATTR_nodepack", plain, true},
    {"ATTR_operators", list, true},
    {"ATTR_pbs_license_info", text, true},
    {"ATTR_PNames", list, true},
    {"ATTR_power_provisioning", plain, false},
    {"ATTR_python_restart_max_hooks", plain, true},
    {"ATTR_python_restart_max_objects", plain, true},
    {"ATTR_python_restart_min_interval", plain, true},
    {"ATTR_queryother", plain, true},
    {"ATTR_queued_jobs_threshold", list, true},
    {"ATTR_queued_jobs_threshold_res", list, true},
    {"ATTR_ReqCred", text, true},
    {"ATTR_ReqCredEnable", plain, true},
    {"ATTR_rescassn", plain, false},
    {"ATTR_rescavail", plain, true},
    {"ATTR_resccost", plain, true},
    {"ATTR_rescdflt", plain, true},
    {"ATTR_rescmax", plain, true},
    {"ATTR_resv_post_processing", plain, true},
    {"ATTR_resv_retry_init", plain, true},
    {"ATTR_resv_retry_time", plain, true},
    {"ATTR_ResvEnable", plain, true},
    {"ATTR_rpp_highwater", plain, true},
    {"ATTR_rpp_max_pkt_check", plain, true},
    {"ATTR_rpp_retry", plain, true},
    {"ATTR_schediteration", plain, true},
    {"ATTR_scheduling", plain, true},
    {"ATTR_show_hidden_attribs", plain, true},
    {"ATTR_status", plain, false},
    {"ATTR_SvrHost", text, false},
    {"ATTR_sync_mom_hookfiles_timeout", plain, true},
    {"ATTR_syscost", plain, true},
    {"ATTR_total", plain, false},
    {"pbs_version", text, false},
    {"provision_enable", plain, false},
    {"provision_timeout", plain, false},
    {"restrict_res_to_release_on_suspend", list, true},
});

constexpr auto kQueue = std::to_array<HostAttribute>({
    {"ATTR_aclgren", plain, true},
    {"ATTR_aclgroup", list, true},
    {"ATTR_aclhost", list, true},
    {"ATTR_aclhten", plain, true},
    {"ATTR_acluren", plain, true},
    {"ATTR_acluser", list, true},
    {"ATTR_altrouter", plain, true},
    {"ATTR_backfill_depth", plain, true},
    {"ATTR_chkptmin", plain, true},
    {"ATTR_comment", text, true},
    {"ATTR_count", text, false},
    {"ATTR_DefaultChunk", plain, true},
    {"ATTR_enable", plain, true},
    {"ATTR_fromroute", plain, true},
    {"ATTR_HasNodes", plain, false},
    {"ATTR_killdelay", plain, true},
    {"ATTR_max_queued", list, true},
    {"ATTR_max_queued_res", list, true},
    {"ATTR_max_run", list, true},
    {"ATTR_max_run_res", list, true},
    {"ATTR_max_run_res_soft", list, true},
    {"ATTR_max_run_soft", list, true},
    {"ATTR_maxarraysize", plain, true},
    {"ATTR_maxgroupres", plain, true},
    {"ATTR_maxgroupressoft", plain, true},
    {"ATTR_maxgrprun", plain, true},
    {"ATTR_maxgrprunsoft", plain, true},
    {"ATTR_maxque", plain, true},
    {"ATTR_maxrun", plain, true},
    {"ATTR_maxuserres", plain, true},
    {"ATTR_maxuserressoft", plain, true},
    {"ATTR_maxuserrun", plain, true},
    {"ATTR_maxuserrunsoft", plain, true},
    {"ATTR_NodeGroupKey", list, true},
    {"ATTR_p", plain, true},
    {"ATTR_partition", text, true},
    {"ATTR_qtype", text, true},
    {"ATTR_queued_jobs_threshold", list, true},
    {"ATTR_queued_jobs_threshold_res", list, true},
    {"ATTR_ReqCred", text, true},
    {"ATTR_ReqCredEnable", plain, true},
    {"ATTR_rescassn", plain, false},
    {"ATTR_rescdflt", plain, true},
    {"ATTR_rescmax", plain, true},
    {"ATTR_rescmin", plain, true},
    {"ATTR_routedest", list, true},
    {"ATTR_routeheld", plain, true},
    {"ATTR_routelife", plain, true},
    {"ATTR_routeretry", plain, true},
    {"ATTR_routewait", plain, true},
    {"ATTR_start", plain, true},
    {"ATTR_total", plain, false},
    {"rendezvous_retry", plain, true},
    {"reserved_expedite", plain, true},
    {"reserved_sync", plain, true},
    {"resources_available", plain, true},
});

constexpr auto kNode = std::to_array<HostAttribute>({
    {"ATTR_comment", text, true},
    {"ATTR_maxgrprun", plain, true},
    {"ATTR_maxrun", plain, true},
    {"ATTR_maxuserrun", plain, true},
    {"ATTR_NODE_current_aoe", text, true},
    {"ATTR_NODE_current_eoe", text, true},
    {"ATTR_NODE_in_multivnode_host", plain, true},
    {"ATTR_NODE_jobs", plain, false},
    {"ATTR_NODE_last_state_change_time", plain, false},
    {"ATTR_NODE_last_used_time", plain, false},
    {"ATTR_NODE_MaintJobs", list, false},
    {"ATTR_NODE_Mom", list, true},
    {"ATTR_NODE_No_Tasks", plain, true},
    {"ATTR_NODE_NoMultiNode", plain, true},
    {"ATTR_NODE_ntype", plain, false},
    {"ATTR_NODE_pcpus", plain, false},
    {"ATTR_NODE_Port", plain, true},
    {"ATTR_NODE_power_provisioning", plain, true},
    {"ATTR_NODE_poweroff_eligible", plain, true},
    {"ATTR_NODE_ProvisionEnable", plain, true},
    {"ATTR_NODE_resv_enable", plain, true},
    {"ATTR_NODE_resvs", plain, false},
    {"ATTR_NODE_Sharing", plain, false},
    {"ATTR_NODE_state", plain, true},
    {"ATTR_NODE_VnodePool", plain, true},
    {"ATTR_p", plain, true},
    {"ATTR_partition", text, true},
    {"ATTR_PNames", list, true},
    {"ATTR_queue", text, true},
    {"ATTR_rescassn", plain, false},
    {"ATTR_rescavail", plain, true},
    {"ATTR_version", text, false},
    {"Host", text, true},
    {"license", plain, false},
    {"np", plain, true},
    {"properties", list, true},
});

constexpr auto kSched = std::to_array<HostAttribute>({
    {"ATTR_attr_update_period", plain, true},
    {"ATTR_comment", text, true},
    {"ATTR_do_not_span_psets", plain, true},
    {"ATTR_job_run_wait", text, true},
    {"ATTR_job_sort_formula", text, true},
    {"ATTR_job_sort_formula_threshold", plain, true},
    {"ATTR_logevents", plain, true},
    {"ATTR_only_explicit_psets", plain, true},
    {"ATTR_opt_backfill_fuzzy", text, true},
    {"ATTR_partition", text, true},
    {"ATTR_preempt_targets_enable", plain, true},
    {"ATTR_sched_cycle_len", plain, true},
    {"ATTR_sched_log", text, true},
    {"ATTR_sched_preempt_enforce_resumption", plain, true},
    {"ATTR_sched_preempt_order", text, true},
    {"ATTR_sched_preempt_prio", text, true},
    {"ATTR_sched_preempt_queue_prio", plain, true},
    {"ATTR_sched_preempt_sort", text, true},
    {"ATTR_sched_priv", text, true},
    {"ATTR_sched_server_dyn_res_alarm", plain, true},
    {"ATTR_sched_state", text, false},
    {"ATTR_sched_user", text, true},
    {"ATTR_SchedHost", text, true},
    {"ATTR_schediteration", plain, true},
    {"ATTR_scheduling", plain, true},
    {"ATTR_throughput_mode", plain, true},
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
