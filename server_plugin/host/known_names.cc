#include "server_plugin/host/known_names.h"

#include <algorithm>
#include <array>

#include "server_plugin/host/values.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr std::string_view server_names[] = {"license_count",
                                             "max_queued",
                                             "max_queued_res",
                                             "max_run",
                                             "max_run_res",
                                             "max_run_soft",
                                             "max_run_res_soft",
                                             "max_user_res",
                                             "max_group_res",
                                             "max_user_run_soft",
                                             "max_group_run_soft",
                                             "max_user_res_soft",
                                             "max_group_res_soft",
                                             "pnames",
                                             "acl_host_moms_enable",
                                             "acl_resv_host_enable",
                                             "acl_resv_hosts",
                                             "acl_resv_group_enable",
                                             "acl_resv_groups",
                                             "acl_resv_user_enable",
                                             "acl_resv_users",
                                             "resources_cost",
                                             "system_cost",
                                             "default_node",
                                             "node_pack",
                                             "resv_enable",
                                             "node_fail_requeue",
                                             "max_array_size",
                                             "require_cred_enable",
                                             "require_cred",
                                             "node_group_enable",
                                             "node_group_key",
                                             "rpp_retry",
                                             "rpp_highwater",
                                             "pbs_license_info",
                                             "pbs_license_min",
                                             "pbs_license_max",
                                             "pbs_license_linger_time",
                                             "reserve_retry_time",
                                             "reserve_retry_init",
                                             "max_concurrent_provision",
                                             "resv_post_processing_time",
                                             "job_requeue_timeout",
                                             "python_restart_max_hooks",
                                             "python_restart_max_objects",
                                             "python_restart_min_interval",
                                             "queued_jobs_threshold",
                                             "queued_jobs_threshold_res",
                                             "power_provisioning",
                                             "show_hidden_attribs",
                                             "sync_mom_hookfiles_timeout",
                                             "rpp_max_pkt_check",
                                             "has_runjob_hook",
                                             "acl_krb_realm_enable",
                                             "acl_krb_realms",
                                             "acl_krb_submit_realms",
                                             "cred_renew_enable",
                                             "cred_renew_tool",
                                             "cred_renew_period",
                                             "cred_renew_cache_period",
                                             "clear_topjob_estimates_enable",
                                             "provision_enable",
                                             "provision_timeout",
                                             "resend_term_delay",
                                             "restrict_res_to_release_on_suspend"};

constexpr std::string_view queue_names[] = {"max_queued",
                                            "max_queued_res",
                                            "require_cred_enable",
                                            "require_cred",
                                            "max_array_size",
                                            "checkpoint_min",
                                            "rendezvous_retry",
                                            "reserved_expedite",
                                            "reserved_sync",
                                            "max_run",
                                            "max_run_res",
                                            "max_run_soft",
                                            "max_run_res_soft",
                                            "max_user_res",
                                            "max_group_res",
                                            "max_user_run_soft",
                                            "max_group_run_soft",
                                            "max_user_res_soft",
                                            "max_group_res_soft",
                                            "node_group_key",
                                            "alt_router",
                                            "queued_jobs_threshold",
                                            "queued_jobs_threshold_res"};

constexpr std::string_view node_names[] = {"Host",
                                           "license",
                                           "Port",
                                           "max_running",
                                           "max_user_run",
                                           "max_group_run",
                                           "no_tasks",
                                           "pnames",
                                           "resv",
                                           "resv_enable",
                                           "no_multinode_jobs",
                                           "provision_enable",
                                           "current_aoe",
                                           "in_multivnode_host",
                                           "maintenance_jobs",
                                           "license_info",
                                           "topology_info",
                                           "vnode_pool",
                                           "power_provisioning",
                                           "current_eoe",
                                           "poweroff_eligible"};

constexpr std::string_view sched_names[] = {"sched_cycle_length",
                                            "do_not_span_psets",
                                            "only_explicit_psets",
                                            "sched_preempt_enforce_resumption",
                                            "preempt_targets_enable",
                                            "job_sort_formula_threshold",
                                            "throughput_mode",
                                            "job_run_wait",
                                            "opt_backfill_fuzzy",
                                            "sched_user",
                                            "preempt_queue_prio",
                                            "preempt_prio",
                                            "preempt_order",
                                            "preempt_sort",
                                            "log_events",
                                            "job_sort_formula",
                                            "server_dyn_res_alarm",
                                            "attr_update_period"};

constexpr std::string_view job_names[] = {"resv",
                                          "depend",
                                          "exec_host2",
                                          "interactive",
                                          "Remove_Files",
                                          "schedselect_orig",
                                          "sandbox",
                                          "stagein",
                                          "stageout",
                                          "hashname",
                                          "sched_hint",
                                          "security",
                                          "cookie",
                                          "alt_id",
                                          "alt_id2",
                                          "reserve_ID",
                                          "last_context_refresh",
                                          "gridname",
                                          "block",
                                          "cred",
                                          "accounting_id",
                                          "sample_starttime",
                                          "job_kill_delay",
                                          "Stageout_status",
                                          "array",
                                          "array_id",
                                          "array_index",
                                          "array_state_count",
                                          "array_indices_submitted",
                                          "array_indices_remaining",
                                          "estimated",
                                          "forward_x11_cookie",
                                          "forward_x11_port",
                                          "run_version",
                                          "gui",
                                          "topjob_ineligible",
                                          "resources_released",
                                          "resource_released_list",
                                          "release_nodes_on_stageout",
                                          "tolerate_node_failures",
                                          "credential_id",
                                          "credential_validity",
                                          "create_resv_from_job",
                                          "max_run_subjobs"};

}  // namespace

std::span<const std::string_view> known_names(int object_type) {
    switch (object_type) {
        case PBS_OBJ_SERVER:
            return server_names;
        case PBS_OBJ_QUEUE:
            return queue_names;
        case PBS_OBJ_NODE:
            return node_names;
        case PBS_OBJ_SCHED:
            return sched_names;
        case PBS_OBJ_JOB:
            return job_names;
        default:
            return {};
    }
}

bool known_but_not_here(int object_type, std::string_view name) {
    const auto names = known_names(object_type);
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view known) { return same_name(known, name); });
}

}  // namespace pbs::host
