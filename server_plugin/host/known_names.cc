#include "server_plugin/host/known_names.h"

#include <algorithm>
#include <array>

#include "server_plugin/host/values.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

using namespace std::string_view_literals;

// Two lists as one.
template <std::size_t A, std::size_t B>
constexpr std::array<std::string_view, A + B> joined(const std::array<std::string_view, A>& a,
                                                     const std::array<std::string_view, B>& b) {
    std::array<std::string_view, A + B> all{};
    std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), all.begin()));
    return all;
}

// Of the server and of queues.
constexpr std::array shared_names = {"max_queued"sv,
                                     "max_queued_res"sv,
                                     "require_cred_enable"sv,
                                     "require_cred"sv,
                                     "max_run"sv,
                                     "max_run_res"sv,
                                     "max_run_soft"sv,
                                     "max_run_res_soft"sv,
                                     "max_user_res"sv,
                                     "max_group_res"sv,
                                     "max_user_run_soft"sv,
                                     "max_group_run_soft"sv,
                                     "max_user_res_soft"sv,
                                     "max_group_res_soft"sv,
                                     "node_group_key"sv,
                                     "queued_jobs_threshold"sv,
                                     "queued_jobs_threshold_res"sv};

constexpr std::array only_server_names = {"license_count"sv,
                                          "pnames"sv,
                                          "acl_host_moms_enable"sv,
                                          "acl_resv_host_enable"sv,
                                          "acl_resv_hosts"sv,
                                          "acl_resv_group_enable"sv,
                                          "acl_resv_groups"sv,
                                          "acl_resv_user_enable"sv,
                                          "acl_resv_users"sv,
                                          "resources_cost"sv,
                                          "system_cost"sv,
                                          "default_node"sv,
                                          "node_pack"sv,
                                          "resv_enable"sv,
                                          "node_fail_requeue"sv,
                                          "node_group_enable"sv,
                                          "rpp_retry"sv,
                                          "rpp_highwater"sv,
                                          "pbs_license_info"sv,
                                          "pbs_license_min"sv,
                                          "pbs_license_max"sv,
                                          "pbs_license_linger_time"sv,
                                          "reserve_retry_time"sv,
                                          "reserve_retry_init"sv,
                                          "max_concurrent_provision"sv,
                                          "resv_post_processing_time"sv,
                                          "job_requeue_timeout"sv,
                                          "python_restart_max_hooks"sv,
                                          "python_restart_max_objects"sv,
                                          "python_restart_min_interval"sv,
                                          "power_provisioning"sv,
                                          "show_hidden_attribs"sv,
                                          "sync_mom_hookfiles_timeout"sv,
                                          "rpp_max_pkt_check"sv,
                                          "has_runjob_hook"sv,
                                          "acl_krb_realm_enable"sv,
                                          "acl_krb_realms"sv,
                                          "acl_krb_submit_realms"sv,
                                          "cred_renew_enable"sv,
                                          "cred_renew_tool"sv,
                                          "cred_renew_period"sv,
                                          "cred_renew_cache_period"sv,
                                          "clear_topjob_estimates_enable"sv,
                                          "provision_enable"sv,
                                          "provision_timeout"sv,
                                          "resend_term_delay"sv,
                                          "restrict_res_to_release_on_suspend"sv};
constexpr auto server_names = joined(shared_names, only_server_names);

constexpr std::array only_queue_names = {"checkpoint_min"sv, "rendezvous_retry"sv, "reserved_expedite"sv,
                                         "reserved_sync"sv, "alt_router"sv};
constexpr auto queue_names = joined(shared_names, only_queue_names);

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
                                          "exec_host2",
                                          "schedselect_orig",
                                          "hashname",
                                          "sched_hint",
                                          "security",
                                          "cookie",
                                          "alt_id",
                                          "alt_id2",
                                          "reserve_ID",
                                          "last_context_refresh",
                                          "gridname",
                                          "cred",
                                          "accounting_id",
                                          "sample_starttime",
                                          "job_kill_delay",
                                          "Stageout_status",
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
                                          "create_resv_from_job"};

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
