/*
 * The batch interface library (IFL): how a C program talks to a PBS server.
 *
 * Compatible in source with the IFL that PBS clients are written for (POSIX 1003.2d Batch Environment
 * Services and its PBS extensions): the same structures, constants and function names. Link with
 * -lpbspolicy; `pkg-config --cflags --libs pbspolicy` gives the options.
 *
 * Rules that hold for every function:
 *  - A connection is the number that pbs_connect() returned. One connection may be used by several threads;
 *    its requests are then made one after the other.
 *  - An int function returns 0 or a PBS error number (pbs_error.h), which is also in pbs_errno; its text is
 *    pbs_geterrmsg(connection). A pointer function returns NULL on failure. An empty list is NULL too, but
 *    pbs_errno is then 0.
 *  - The library's own errors are PBSE_IVALREQ (there is no such connection, or a name that is needed is NULL
 *    or ""), PBSE_BADATLST (an attribute has no name), PBSE_PROTOCOL (the connection is broken: close it) and
 *    PBSE_SYSTEM (there is no memory).
 *  - pbs_errno, pbs_server and the text of pbs_geterrmsg() belong to the calling thread.
 *  - The caller frees results: status lists with pbs_statfree(), lists of delete results with
 *    pbs_delstatfree(), others with free(). (The texts of pbs_default() and pbs_geterrmsg() stay the
 *    library's.) Objects may be moved within a status list, and out of it; an object's attributes and texts
 *    are freed with it. Arguments stay the caller's.
 *  - The last argument, `extend`, is passed to the server as it is; NULL for none.
 */
#ifndef PBSPOLICY_PBS_IFL_H
#define PBSPOLICY_PBS_IFL_H

#include <stdio.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Job attributes that a qsub option sets, by the letter of the option. */
#define ATTR_A "Account_Name"
#define ATTR_a "Execution_Time"
#define ATTR_c "Checkpoint"
#define ATTR_e "Error_Path"
#define ATTR_g "group_list"
#define ATTR_h "Hold_Types"
#define ATTR_J "array_indices_submitted"
#define ATTR_j "Join_Path"
#define ATTR_k "Keep_Files"
#define ATTR_l "Resource_List"
#define ATTR_M "Mail_Users"
#define ATTR_m "Mail_Points"
#define ATTR_N "Job_Name"
#define ATTR_o "Output_Path"
#define ATTR_p "Priority"
#define ATTR_q "destination"
#define ATTR_R "Remove_Files"
#define ATTR_r "Rerunable"
#define ATTR_S "Shell_Path_List"
#define ATTR_u "User_List"
#define ATTR_v "Variable_List"

/* Attributes of jobs, queues, the server, schedulers and resources. */
#define ATTR_accrue_type "accrue_type"
#define ATTR_acct_id "accounting_id"
#define ATTR_acl_krb_realm_enable "acl_krb_realm_enable"
#define ATTR_acl_krb_realms "acl_krb_realms"
#define ATTR_acl_krb_submit_realms "acl_krb_submit_realms"
#define ATTR_aclgren "acl_group_enable"
#define ATTR_aclgroup "acl_groups"
#define ATTR_aclhost "acl_hosts"
#define ATTR_aclhostmomsen "acl_host_moms_enable"
#define ATTR_aclhten "acl_host_enable"
#define ATTR_aclroot "acl_roots"
#define ATTR_acluren "acl_user_enable"
#define ATTR_acluser "acl_users"
#define ATTR_altid "alt_id"
#define ATTR_altid2 "alt_id2"
#define ATTR_altrouter "alt_router"
#define ATTR_Arglist "argument_list"
#define ATTR_array "array"
#define ATTR_array_id "array_id"
#define ATTR_array_index "array_index"
#define ATTR_array_indices_remaining "array_indices_remaining"
#define ATTR_array_indices_submitted ATTR_J
#define ATTR_array_state_count "array_state_count"
#define ATTR_attr_update_period "attr_update_period"
#define ATTR_auth_g "Authorized_Groups"
#define ATTR_auth_h "Authorized_Hosts"
#define ATTR_auth_u "Authorized_Users"
#define ATTR_backfill_depth "backfill_depth"
#define ATTR_block "block"
#define ATTR_chkptmin "checkpoint_min"
#define ATTR_comment "comment"
#define ATTR_convert "qmove"
#define ATTR_cookie "cookie"
#define ATTR_count "state_count"
#define ATTR_create_resv_from_job "create_resv_from_job"
#define ATTR_cred "cred"
#define ATTR_cred_id "credential_id"
#define ATTR_cred_renew_cache_period "cred_renew_cache_period"
#define ATTR_cred_renew_enable "cred_renew_enable"
#define ATTR_cred_renew_period "cred_renew_period"
#define ATTR_cred_renew_tool "cred_renew_tool"
#define ATTR_cred_validity "credential_validity"
#define ATTR_ctime "ctime"
#define ATTR_DefaultChunk "default_chunk"
#define ATTR_defnode "default_node"
#define ATTR_del_idle_time "delete_idle_time"
#define ATTR_depend "depend"
#define ATTR_dfltqdelargs "default_qdel_arguments"
#define ATTR_dfltqsubargs "default_qsub_arguments"
#define ATTR_dfltque "default_queue"
#define ATTR_do_not_span_psets "do_not_span_psets"
#define ATTR_egroup "egroup"
#define ATTR_eligible_time "eligible_time"
#define ATTR_EligibleTimeEnable "eligible_time_enable"
#define ATTR_enable "enabled"
#define ATTR_estimated "estimated"
#define ATTR_etime "etime"
#define ATTR_euser "euser"
#define ATTR_exechost "exec_host"
#define ATTR_exechost2 "exec_host2"
#define ATTR_exechost_acct "exec_host_acct"
#define ATTR_exechost_orig "exec_host_orig"
#define ATTR_executable "executable"
#define ATTR_execvnode "exec_vnode"
#define ATTR_execvnode_acct "exec_vnode_acct"
#define ATTR_execvnode_deallocated "exec_vnode_deallocated"
#define ATTR_execvnode_orig "exec_vnode_orig"
#define ATTR_exit_status "Exit_status"
#define ATTR_FlatUID "flatuid"
#define ATTR_fromroute "from_route_only"
#define ATTR_gridname "gridname"
#define ATTR_GUI "gui"
#define ATTR_has_runjob_hook "has_runjob_hook"
#define ATTR_hashname "hashname"
#define ATTR_HasNodes "hasnodes"
#define ATTR_history_timestamp "history_timestamp"
#define ATTR_hopcount "hop_count"
#define ATTR_inter "interactive"
#define ATTR_job_kill_delay "job_kill_delay"
#define ATTR_job_requeue_timeout "job_requeue_timeout"
#define ATTR_job_run_wait "job_run_wait"
#define ATTR_job_sort_formula "job_sort_formula"
#define ATTR_job_sort_formula_threshold "job_sort_formula_threshold"
#define ATTR_jobdir "jobdir"
#define ATTR_JobHistoryDuration "job_history_duration"
#define ATTR_JobHistoryEnable "job_history_enable"
#define ATTR_jobscript_max_size "jobscript_max_size"
#define ATTR_killdelay "kill_delay"
#define ATTR_l_acct "Resource_List_acct"
#define ATTR_l_orig "Resource_List_orig"
#define ATTR_license_count "license_count"
#define ATTR_license_linger "pbs_license_linger_time"
#define ATTR_license_max "pbs_license_max"
#define ATTR_license_min "pbs_license_min"
#define ATTR_locsvrs "location_servers"
#define ATTR_logevents "log_events"
#define ATTR_logfile "log_file"
#define ATTR_mailer "mailer"
#define ATTR_mailfrom "mail_from"
#define ATTR_managers "managers"
#define ATTR_max_concurrent_prov "max_concurrent_provision"
#define ATTR_max_job_sequence_id "max_job_sequence_id"
#define ATTR_max_queued "max_queued"
#define ATTR_max_queued_res "max_queued_res"
#define ATTR_max_run "max_run"
#define ATTR_max_run_res "max_run_res"
#define ATTR_max_run_res_soft "max_run_res_soft"
#define ATTR_max_run_soft "max_run_soft"
#define ATTR_max_run_subjobs "max_run_subjobs"
#define ATTR_maxarraysize "max_array_size"
#define ATTR_maxgroupres "max_group_res"
#define ATTR_maxgroupressoft "max_group_res_soft"
#define ATTR_maxgrprun "max_group_run"
#define ATTR_maxgrprunsoft "max_group_run_soft"
#define ATTR_maxque "max_queuable"
#define ATTR_maxrun "max_running"
#define ATTR_maxuserres "max_user_res"
#define ATTR_maxuserressoft "max_user_res_soft"
#define ATTR_maxuserrun "max_user_run"
#define ATTR_maxuserrunsoft "max_user_run_soft"
#define ATTR_mtime "mtime"
#define ATTR_name "Job_Name"
#define ATTR_nodefailrq "node_fail_requeue"
#define ATTR_NodeGroupEnable "node_group_enable"
#define ATTR_NodeGroupKey "node_group_key"
#define ATTR_nodemux "no_stdio_sockets"
#define ATTR_nodepack "node_pack"
#define ATTR_number "number_jobs"
#define ATTR_obittime "obittime"
#define ATTR_only_explicit_psets "only_explicit_psets"
#define ATTR_operators "operators"
#define ATTR_opt_backfill_fuzzy "opt_backfill_fuzzy"
#define ATTR_owner "Job_Owner"
#define ATTR_partition "partition"
#define ATTR_pbs_license_info "pbs_license_info"
#define ATTR_PNames "pnames"
#define ATTR_power_provisioning "power_provisioning"
#define ATTR_preempt_targets_enable "preempt_targets_enable"
#define ATTR_project "project"
#define ATTR_python_restart_max_hooks "python_restart_max_hooks"
#define ATTR_python_restart_max_objects "python_restart_max_objects"
#define ATTR_python_restart_min_interval "python_restart_min_interval"
#define ATTR_qrank "queue_rank"
#define ATTR_qtime "qtime"
#define ATTR_qtype "queue_type"
#define ATTR_queryother "query_other_jobs"
#define ATTR_queue "queue"
#define ATTR_queued_jobs_threshold "queued_jobs_threshold"
#define ATTR_queued_jobs_threshold_res "queued_jobs_threshold_res"
#define ATTR_refresh "last_context_refresh"
#define ATTR_rel_list "resource_released_list"
#define ATTR_released "resources_released"
#define ATTR_relnodes_on_stageout "release_nodes_on_stageout"
#define ATTR_ReqCred "require_cred"
#define ATTR_ReqCredEnable "require_cred_enable"
#define ATTR_RESC_FLAG "flag"
#define ATTR_RESC_TYPE "type"
#define ATTR_rescassn "resources_assigned"
#define ATTR_rescavail "resources_available"
#define ATTR_resccost "resources_cost"
#define ATTR_rescdflt "resources_default"
#define ATTR_rescmax "resources_max"
#define ATTR_rescmin "resources_min"
#define ATTR_rndzretry "rendezvous_retry"
#define ATTR_routedest "route_destinations"
#define ATTR_routeheld "route_held_jobs"
#define ATTR_routelife "route_lifetime"
#define ATTR_routeretry "route_retry_time"
#define ATTR_routewait "route_waiting_jobs"
#define ATTR_rpp_highwater "rpp_highwater"
#define ATTR_rpp_max_pkt_check "rpp_max_pkt_check"
#define ATTR_rpp_retry "rpp_retry"
#define ATTR_rsvexpdt "reserved_expedite"
#define ATTR_rsvsync "reserved_sync"
#define ATTR_run_version "run_version"
#define ATTR_runcount "run_count"
#define ATTR_sample_starttime "sample_starttime"
#define ATTR_sandbox "sandbox"
#define ATTR_sched_cycle_len "sched_cycle_length"
#define ATTR_sched_hint "sched_hint"
#define ATTR_sched_log "sched_log"
#define ATTR_sched_preempt_enforce_resumption "sched_preempt_enforce_resumption"
#define ATTR_sched_preempt_order "preempt_order"
#define ATTR_sched_preempt_prio "preempt_prio"
#define ATTR_sched_preempt_queue_prio "preempt_queue_prio"
#define ATTR_sched_preempt_sort "preempt_sort"
#define ATTR_sched_priv "sched_priv"
#define ATTR_sched_server_dyn_res_alarm "server_dyn_res_alarm"
#define ATTR_sched_state "state"
#define ATTR_sched_user "sched_user"
#define ATTR_SchedHost "sched_host"
#define ATTR_schediteration "scheduler_iteration"
#define ATTR_SchedSelect "schedselect"
#define ATTR_SchedSelect_orig "schedselect_orig"
#define ATTR_scheduling "scheduling"
#define ATTR_security "security"
#define ATTR_server "server"
#define ATTR_session "session_id"
#define ATTR_show_hidden_attribs "show_hidden_attribs"
#define ATTR_stagein "stagein"
#define ATTR_stageout "stageout"
#define ATTR_stageout_status "Stageout_status"
#define ATTR_start "started"
#define ATTR_state "job_state"
#define ATTR_status "server_state"
#define ATTR_stime "stime"
#define ATTR_submit_arguments "Submit_arguments"
#define ATTR_submit_host "Submit_Host"
#define ATTR_substate "substate"
#define ATTR_SvrHost "server_host"
#define ATTR_sync_mom_hookfiles_timeout "sync_mom_hookfiles_timeout"
#define ATTR_syscost "system_cost"
#define ATTR_throughput_mode "throughput_mode"
#define ATTR_tolerate_node_failures "tolerate_node_failures"
#define ATTR_topjob_ineligible "topjob_ineligible"
#define ATTR_total "total_jobs"
#define ATTR_umask "umask"
#define ATTR_used "resources_used"
#define ATTR_used_acct "resources_used_acct"
#define ATTR_used_update "resources_used_update"
#define ATTR_version "pbs_version"
#define ATTR_X11_cookie "forward_x11_cookie"
#define ATTR_X11_port "forward_x11_port"

/* Attributes of vnodes. */
#define ATTR_NODE_current_aoe "current_aoe"
#define ATTR_NODE_current_eoe "current_eoe"
#define ATTR_NODE_Host "Host"
#define ATTR_NODE_in_multivnode_host "in_multivnode_host"
#define ATTR_NODE_jobs "jobs"
#define ATTR_NODE_last_state_change_time "last_state_change_time"
#define ATTR_NODE_last_used_time "last_used_time"
#define ATTR_NODE_License "license"
#define ATTR_NODE_LicenseInfo "license_info"
#define ATTR_NODE_MaintJobs "maintenance_jobs"
#define ATTR_NODE_Mom "Mom"
#define ATTR_NODE_No_Tasks "no_tasks"
#define ATTR_NODE_NoMultiNode "no_multinode_jobs"
#define ATTR_NODE_np "np"
#define ATTR_NODE_ntype "ntype"
#define ATTR_NODE_pcpus "pcpus"
#define ATTR_NODE_Port "Port"
#define ATTR_NODE_power_provisioning "power_provisioning"
#define ATTR_NODE_poweroff_eligible "poweroff_eligible"
#define ATTR_NODE_properties "properties"
#define ATTR_NODE_ProvisionEnable "provision_enable"
#define ATTR_NODE_resv_enable "resv_enable"
#define ATTR_NODE_resvs "resv"
#define ATTR_NODE_Sharing "sharing"
#define ATTR_NODE_state "state"
#define ATTR_NODE_TopologyInfo "topology_info"
#define ATTR_NODE_VnodePool "vnode_pool"

/* Attributes of reservations. */
#define ATTR_aclResvgren "acl_resv_group_enable"
#define ATTR_aclResvgroup "acl_resv_groups"
#define ATTR_aclResvhost "acl_resv_hosts"
#define ATTR_aclResvhten "acl_resv_host_enable"
#define ATTR_aclResvuren "acl_resv_user_enable"
#define ATTR_aclResvuser "acl_resv_users"
#define ATTR_resv "resv"
#define ATTR_resv_count "reserve_count"
#define ATTR_resv_duration "reserve_duration"
#define ATTR_resv_end "reserve_end"
#define ATTR_resv_execvnodes "reserve_execvnodes"
#define ATTR_resv_ID "reserve_ID"
#define ATTR_resv_idx "reserve_index"
#define ATTR_resv_job "reserve_job"
#define ATTR_resv_name "Reserve_Name"
#define ATTR_resv_nodes "resv_nodes"
#define ATTR_resv_owner "Reserve_Owner"
#define ATTR_resv_post_processing "resv_post_processing_time"
#define ATTR_resv_retry "reserve_retry"
#define ATTR_resv_retry_init "reserve_retry_init"
#define ATTR_resv_retry_time "reserve_retry_time"
#define ATTR_resv_rrule "reserve_rrule"
#define ATTR_resv_standing "reserve_standing"
#define ATTR_resv_start "reserve_start"
#define ATTR_resv_state "reserve_state"
#define ATTR_resv_substate "reserve_substate"
#define ATTR_resv_Tag "reservation_Tag"
#define ATTR_resv_timezone "reserve_timezone"
#define ATTR_ResvEnable "resv_enable"
#define ATTR_resvTag "reserve_Tag"

/* Attributes of the server, of queues and of schedulers for scheduling policies. */
#define ATTR_non_work_days "non_work_days"
#define ATTR_time_window "time_window"
#define ATTR_policy "policy"

/* Values of attributes. */
#define CHECKPOINT_UNSPECIFIED "u"
#define NO_HOLD "n"
#define NO_JOIN "n"
#define NO_KEEP "n"
#define MAIL_AT_ABORT "a"
#define USER_HOLD "u"
#define OTHER_HOLD "o"
#define SYSTEM_HOLD "s"
#define BAD_PASSWORD_HOLD "p"

/* Files of a job to which pbs_msgjob() writes; MSG_OUT + MSG_ERR for both. */
#define MSG_OUT 1
#define MSG_ERR 2

/* How pbs_terminate() stops the server. */
#define SHUT_IMMEDIATE 0
#define SHUT_DELAY 1
#define SHUT_QUICK 2
/* Added to one of the three SHUT_ values above: the daemons that stop too. */
#define SHUT_WHO_SCHED 0x10
#define SHUT_WHO_MOM 0x20
#define SHUT_WHO_SECDRY 0x40
#define SHUT_WHO_IDLESECDRY 0x80
#define SHUT_WHO_SECDONLY 0x100

/* Parts of `extend` for pbs_deljob() and pbs_deljoblist(), one after another. */
#define FORCE "force"
#define NOMAIL "nomail"
#define SUPPRESS_EMAIL "suppress_email"
#define DELETEHISTORY "deletehist"

/* Longest names, in characters. */
#ifndef MAXPATHLEN
#define MAXPATHLEN 1024
#endif
#ifndef MAXNAMLEN
#define MAXNAMLEN 255
#endif
#define PBS_MAXHOSTNAME 255
#define PBS_MAXSCHEDNAME 15
#define PBS_MAXUSER 256
#define PBS_MAXGRPN 256
#define PBS_MAXQUEUENAME 15
#define PBS_MAXJOBNAME 230
#define PBS_MAXPOLICYNAME 64 /* policies, time_windows, fs_groups and quotas */
#define PBS_MAXSERVERNAME PBS_MAXHOSTNAME
#define PBS_MAXSEQNUM 12
#define PBS_DFLT_MAX_JOB_SEQUENCE_ID 9999999
#define PBS_MAXPORTNUM 5
#define PBS_MAXSVRJOBID (PBS_MAXSEQNUM + PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 3)
#define PBS_MAXCLTJOBID (PBS_MAXSVRJOBID + PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 2)
#define PBS_MAXDEST 256
#define PBS_MAXROUTEDEST (PBS_MAXQUEUENAME + PBS_MAXSERVERNAME + PBS_MAXPORTNUM + 2)

/* Commands and object types of pbs_manager(). */
enum mgr_cmd {
    MGR_CMD_NONE = -1,
    MGR_CMD_CREATE = 0,
    MGR_CMD_DELETE = 1,
    MGR_CMD_SET = 2,
    MGR_CMD_UNSET = 3,
    MGR_CMD_LIST = 4,
    MGR_CMD_PRINT = 5,
    MGR_CMD_ACTIVE = 6,
    MGR_CMD_IMPORT = 7,
    MGR_CMD_EXPORT = 8,
    MGR_CMD_LAST = 9
};

enum mgr_obj {
    MGR_OBJ_NONE = -1,
    MGR_OBJ_SERVER = 0,
    MGR_OBJ_QUEUE = 1,
    MGR_OBJ_JOB = 2,
    MGR_OBJ_NODE = 3,
    MGR_OBJ_RESV = 4,
    MGR_OBJ_RSC = 5,
    MGR_OBJ_SCHED = 6,
    MGR_OBJ_HOST = 7,
    MGR_OBJ_HOOK = 8,
    MGR_OBJ_PBS_HOOK = 9,
    MGR_OBJ_JOBARRAY_PARENT = 10,
    MGR_OBJ_SUBJOB = 11,
    MGR_OBJ_LAST = 12,
    /* Scheduling policy objects. Their numbers leave room for further types of PBS. */
    MGR_OBJ_POLICY = 64,
    MGR_OBJ_TIME_WINDOW = 65,
    MGR_OBJ_FS_GROUP = 66,
    MGR_OBJ_CONFIGURATION = 67, /* all policy objects together, see pbs_statconfiguration() */
    MGR_OBJ_HISTORY = 68,
    MGR_OBJ_FAIRSHARE = 73, /* the usage of shares, see pbs_statfairshare() */
    MGR_OBJ_QUOTA = 74
};

/* An operation on an attribute, or a comparison in a selection. */
enum batch_op { SET = 0, UNSET, INCR, DECR, EQ, NE, GE, GT, LE, LT, DFLT, INTERNAL };

/* An attribute of an object, in a status request, its answer or an alteration. The same layout as attropl. */
struct attrl {
    struct attrl* next;
    char* name;
    char* resource; /* NULL unless the attribute is a list of resources */
    char* value;
    enum batch_op op; /* not used */
};

/* An attribute and an operation on it. */
struct attropl {
    struct attropl* next;
    char* name;
    char* resource;
    char* value;
    enum batch_op op;
};

/* One object's status. */
struct batch_status {
    struct batch_status* next;
    char* name;
    struct attrl* attribs;
    char* text; /* always NULL */
};

/* An element of the array for pbs_runtasks(): so many CPUs on a host. */
struct pbs_task_map {
    int procs;
    const char* host;
};

/* A job that pbs_deljoblist() could not delete, with the PBS error number. */
struct batch_deljob_status {
    struct batch_deljob_status* next;
    char* name;
    int code;
};

/* Error number of the calling thread's last call. */
/* Clients know these names. NOLINTBEGIN(bugprone-reserved-identifier) */
#ifndef __PBS_ERRNO
#define __PBS_ERRNO
extern int* __pbs_errno_location(void);
#define pbs_errno (*__pbs_errno_location())
#endif

/* Name of the server that the calling thread last connected to, or tried to; for messages. */
#ifndef __PBS_SERVER
#define __PBS_SERVER
extern char* __pbs_server_location(void);
#define pbs_server (__pbs_server_location())
#endif
/* NOLINTEND(bugprone-reserved-identifier) */

/*
 * Connections.
 *
 * pbs_connect(): `server` is NULL or "" for the default server, a host name, or host:port. With PBS_HOME in
 * the environment and a server's socket in $PBS_HOME/server_priv/pbs.sock, the default server is reached
 * through that socket. Otherwise its name is PBS_DEFAULT or PBS_SERVER of the environment, or PBS_SERVER of
 * pbs.conf (PBS_CONF_FILE, else /etc/pbs.conf), and its port PBS_BATCH_SERVICE_PORT of either, or 15001.
 * Where neither PBS_HOME nor a name is set, the socket in /var/spool/pbspolicy is used. If the default server
 * can't be reached, PBS_SECONDARY of pbs.conf is tried. Returns a connection (0 or more), or -1 with
 * pbs_errno set; pbs_geterrmsg(-1) is then the reason.
 *
 * pbs_disconnect() returns 0, or -1 with PBSE_IVALREQ if there is no such connection.
 */
extern int pbs_connect(const char* server);
extern int pbs_connect_extend(const char* server, const char* extend);
extern int pbs_disconnect(int connect);
/* Name of the default server; NULL: there is none (PBSE_NOSERVER). Valid until the thread's next call. */
extern char* pbs_default(void);
/* The text of the calling thread's last request on this connection, NULL for none: the server's or the
 * library's reason for an error, or a warning after success. Valid until the thread's next request there. */
extern char* pbs_geterrmsg(int connect);

/*
 * Jobs.
 */
/* Submits a job: `script` is a file's path or NULL, `destination` a queue or NULL. Returns the job's
 * identifier. PBSE_BADSCRIPT: the script can't be read. */
extern char* pbs_submit(int connect, struct attropl* attributes, const char* script, const char* destination,
                        const char* extend);
/* Sets attributes of a job. pbs_asyalterjob() waits for no answer: 0 means that the request was sent. */
extern int pbs_alterjob(int connect, const char* job, struct attrl* attributes, const char* extend);
extern int pbs_asyalterjob(int connect, const char* job, struct attrl* attributes, const char* extend);
extern int pbs_deljob(int connect, const char* job, const char* extend);
/* Deletes `count` jobs, or those before a NULL. Returns the jobs that could not be deleted; NULL with
 * pbs_errno 0: all were. */
extern struct batch_deljob_status* pbs_deljoblist(int connect, char** jobs, int count, const char* extend);
/* Set or release holds: `hold_types` is letters of USER_HOLD and the like, NULL or "" for USER_HOLD. */
extern int pbs_holdjob(int connect, const char* job, const char* hold_types, const char* extend);
extern int pbs_rlsjob(int connect, const char* job, const char* hold_types, const char* extend);
/* Run a job at `location` (vnodes, NULL for the server's choice). pbs_runjob() waits until the job is
 * started, pbs_asyrunjob_ack() until the server has accepted the request, pbs_asyrunjob() for no answer.
 * `extend`: NULL or, for this project's server or plugin, "check=True" or "check=False", as described at
 * pbs_schedregister(). This project's server answers any other text with PBSE_IVALREQ. */
extern int pbs_runjob(int connect, const char* job, const char* location, const char* extend);
extern int pbs_asyrunjob(int connect, const char* job, const char* location, const char* extend);
extern int pbs_asyrunjob_ack(int connect, const char* job, const char* location, const char* extend);
/* pbs_runtasks() is pbs_asyrunjob_ack() with a location made of hosts: so many CPUs (`procs`) on each, up to
 * an element whose `procs` is 0. It first asks the server for all vnodes; a program that knows the vnodes
 * calls pbs_asyrunjob_ack() instead. PBSE_UNKNODE: there is no such host; PBSE_IVALREQ: a host has several
 * vnodes, or `procs` is below 0. */
extern int pbs_runtasks(int connect, const char* job, const struct pbs_task_map* tasks, const char* extend);
/* Moves a job to `destination`: queue, @server, queue@server, or NULL for the default queue. */
extern int pbs_movejob(int connect, const char* job, const char* destination, const char* extend);
/* Exchanges the places of two jobs in the order of jobs. */
extern int pbs_orderjob(int connect, const char* job1, const char* job2, const char* extend);
/* Ends a running job and puts it back into its queue. */
extern int pbs_rerunjob(int connect, const char* job, const char* extend);
/* Sends a running job a signal, by name (with or without SIG) or number; or "suspend", "resume". */
extern int pbs_sigjob(int connect, const char* job, const char* signal, const char* extend);
/* Writes a message into files of a running job: MSG_OUT, MSG_ERR or their sum; 0 for the server's choice. */
extern int pbs_msgjob(int connect, const char* job, int file, const char* message, const char* extend);
/* Reads the end of a job from the socket `fd`, a connection that the server made to the port in the job's
 * attribute `block`: the job's id, and either its exit status or, if it never had one, a message that says
 * why ("" otherwise). Waits for up to 30 s. Returns 0; the caller frees both texts. Returns PBSE_PROTOCOL if
 * something else or nothing was sent; neither sets pbs_errno. */
extern int pbs_jobend(int fd, char** job, char** message, int* exit_status);
/* Name of the server that has the job. */
extern char* pbs_locjob(int connect, const char* job, const char* extend);
/* Identifiers of the jobs that satisfy every criterion: an array ended by NULL, freed with one free(). In
 * `extend`, "x" includes finished jobs, and "T" gives subjobs in place of their arrays. */
extern char** pbs_selectjob(int connect, struct attropl* criteria, const char* extend);
/* Status of the jobs that satisfy every criterion; `extend` as for pbs_selectjob(), "t" for subjobs. */
extern struct batch_status* pbs_selstat(int connect, struct attropl* criteria, struct attrl* wanted,
                                        const char* extend);

/*
 * Reservations. pbs_submit_resv() makes a reservation with these attributes (ATTR_resv_start, ATTR_resv_end
 * or ATTR_resv_duration, ATTR_l and so on). It returns a text to be freed: the reservation's identifier and
 * state, such as "R12.server UNCONFIRMED" or, where ATTR_inter says for how many seconds to wait for the
 * scheduler's answer, "R12.server CONFIRMED" or "R12.server DENIED". `extend` "m" reserves whole hosts for
 * their maintenance.
 */
extern char* pbs_submit_resv(int connect, struct attropl* attributes, const char* extend);
/* Deletes a reservation with its queue and the jobs there. */
extern int pbs_delresv(int connect, const char* reservation, const char* extend);
/*
 * Confirms a reservation of whole hosts ("m" of pbs_submit_resv()) with these vnodes,
 * "(n1:ncpus=4)+(n2:ncpus=4)". `start` is 0, or the reservation's start, in seconds since the Epoch. `extend`
 * is "PBS_RESV_CONFIRM_SUCCESS". For operators.
 */
extern int pbs_confirmresv(int connect, const char* reservation, const char* vnodes, unsigned long start,
                           const char* extend);
/* Changes attributes of a reservation. Returns a text like pbs_submit_resv()'s. */
extern char* pbs_modify_resv(int connect, const char* reservation, struct attropl* attributes,
                             const char* extend);

/*
 * Status of the named object, or of all objects with NULL or "" as the name. `wanted` limits the answer to
 * these attributes; NULL for all. pbs_statjob() also takes a queue, or several identifiers with commas
 * between them; in its `extend`, "x" includes finished jobs, and "t" adds the subjobs of arrays.
 */
extern struct batch_status* pbs_statjob(int connect, const char* job, struct attrl* wanted,
                                        const char* extend);
extern struct batch_status* pbs_statque(int connect, const char* queue, struct attrl* wanted,
                                        const char* extend);
extern struct batch_status* pbs_statserver(int connect, struct attrl* wanted, const char* extend);
extern struct batch_status* pbs_statsched(int connect, struct attrl* wanted, const char* extend);
extern struct batch_status* pbs_statvnode(int connect, const char* vnode, struct attrl* wanted,
                                          const char* extend);
/* Status of hosts: the vnodes of a host as one object, with the sums of their consumable resources. Both
 * functions do the same. PBSE_UNKNODE: there is no such host. */
extern struct batch_status* pbs_stathost(int connect, const char* host, struct attrl* wanted,
                                         const char* extend);
extern struct batch_status* pbs_statnode(int connect, const char* host, struct attrl* wanted,
                                         const char* extend);
/* Status of resources. With `extend` "p", types and flags are numbers, and an object "|unknown|" precedes the
 * site's resources. */
extern struct batch_status* pbs_statrsc(int connect, const char* resource, struct attrl* wanted,
                                        const char* extend);
extern struct batch_status* pbs_statresv(int connect, const char* reservation, struct attrl* wanted,
                                         const char* extend);
extern struct batch_status* pbs_stathook(int connect, const char* hook, struct attrl* wanted,
                                         const char* extend);
/*
 * Status of the scheduling policy objects (PP-748, interfaces 10, 11 and 12). For a name that the server does
 * not know: NULL and pbs_errno 15212 (PBSE_POLICY_NOT_FOUND, PBSE_TIME_WINDOW_NOT_FOUND,
 * PBSE_FS_GROUP_NOT_FOUND). For a server without such objects: NULL and PBSE_NOSUP (OpenPBS's servers have
 * them only with the plugin).
 */
extern struct batch_status* pbs_statpolicy(int connect, const char* policy, struct attrl* wanted,
                                           const char* extend);
extern struct batch_status* pbs_stattimewindow(int connect, const char* time_window, struct attrl* wanted,
                                               const char* extend);
extern struct batch_status* pbs_statfsgroup(int connect, const char* fs_group, struct attrl* wanted,
                                            const char* extend);
/* Status of quotas, in the same way. Each rule is an attribute "rule" whose resource is the rule's name. */
extern struct batch_status* pbs_statquota(int connect, const char* quota, struct attrl* wanted,
                                          const char* extend);
/*
 * The use of the quotas of a scheduler's policy in force ("": the scheduler default) by running jobs. There
 * is an object for each counter and resource, named after the quota, with the attributes "rule"; "of", the
 * value that the counter is for, whose resource is the filter, such as "users"; "used" and "limit", whose
 * resource is the limited resource; "enabled" and "in_force". Users who are neither managers nor operators
 * see the counters of their own user. No counters: NULL and pbs_errno 0. `extend` is NULL or "jobs". With
 * "jobs" an object also has an attribute "job" for each job that counts: its resource is the job's id, its
 * value the job's amount. These are the running jobs and, for quotas whose rules don't name vnodes, the jobs
 * that the policy has suspended or that have an expected start. An object has at most 1,000 jobs. The further
 * jobs of the counter and resource are in the objects that follow it, which have, besides "job", only the
 * attribute "continues" with the value "True".
 */
extern struct batch_status* pbs_statquotause(int connect, const char* sched, const char* extend);
/*
 * Status of scheduling policy objects, for long lists: calls `each` with one object after another as they
 * arrive, and with `context`. The object is valid until `each` returns, and `each` must not free it or make a
 * request on this connection. The type is MGR_OBJ_POLICY, MGR_OBJ_TIME_WINDOW, MGR_OBJ_FS_GROUP or
 * MGR_OBJ_QUOTA, else PBSE_IVALREQ. After an error `each` may have got some objects.
 */
typedef void (*pbs_each)(struct batch_status* object, void* context);
extern int pbs_stateach(int connect, int object_type, const char* name, struct attrl* wanted,
                        const char* extend, pbs_each each, void* context);
/*
 * The configuration of the policy objects as a whole, for managers and operators; others get PBSE_PERM.
 *
 * pbs_statconfiguration(): one object, named after its revision, with the attribute "json", the configuration
 * as a document (pbs_config(8) describes it). `extend` is NULL for the present configuration, or
 * "revision=N"; ";part=policies" after that leaves out what the server keeps itself.
 *
 * pbs_stathistory(): the latest changes, oldest first. Each is an object, named after its revision, with the
 * attributes time (seconds since the Epoch), user, host, command, change (the revision of the first of the
 * changes that were made together), type and object, and before and after (the attributes set, as JSON, or
 * null). `extend` chooses: "type=policy;name=p1;from=SECONDS;until=SECONDS;limit=N;before_revision=N", each
 * of them optional (name only beside type); `from` is included, `until` is not; `limit` is from 1 to 10000.
 * With from or until, order and before_revision go by time, otherwise by revision. One reply has at most 1000
 * changes, whatever the limit, and at most 1 MiB of commands, before and after (one change may be larger).
 * For more, ask again with before_revision = the first revision of the reply, until the reply is empty.
 *
 * pbs_manager() with MGR_CMD_SET and MGR_OBJ_CONFIGURATION changes the configuration, for managers. The
 * attribute "revision" = "N" restores a revision: `object` is "" for the whole configuration, or an object's,
 * such as "policy p1" or "server". "import" or "replace" has a document as its value; "replace" also deletes
 * and unsets what the document doesn't name. Queues, nodes, resources, schedulers and the server's own
 * attributes change with it where the server keeps a history of them ("host" in the document). "dry_run" =
 * "True" checks only. pbs_geterrmsg() then lists what has changed, or would change, in lines; warnings begin
 * with "Warning: ". "backup" = "True" alone changes nothing: the server copies its databases to a folder in
 * its home, which pbs_geterrmsg() then names.
 *
 * The attribute "migrate" reads files of an older scheduler, as pbs_migrate(8) does. There is an attropl for
 * each file: its resource is the kind of file, one of config, sched_config, holidays, dedicated_time,
 * resource_group, qmgr_print, usage, decay_usage, allocations and current; its value is the file's name for
 * messages, a newline, and the file's text. For a file with NULs use "migrate_hex", with two hexadecimal
 * digits for each byte after the newline. Further attributes may be "infer" = "True", to make rules of
 * holidays that need no yearly update; "dry_run" = "True", to change nothing; and "format", the form of
 * pbs_geterrmsg() afterwards: "text" (the report, by default), "json", "commands" (of qmgr) or "diff". A
 * mistake in a file leaves everything unchanged: the error is PBSE_BADATVAL, and pbs_geterrmsg() has a line
 * "FILE:LINE:COLUMN: OPTION: what was expected" for each mistake.
 */
extern struct batch_status* pbs_statconfiguration(int connect, const char* extend);
extern struct batch_status* pbs_stathistory(int connect, const char* extend);
/*
 * Explains why a job starts or waits: what a scheduling cycle at this moment would do with it, and why. For
 * users who may see the job; others get PBSE_PERM. The first object is named after the job and has the
 * attributes
 *
 * - outcome: starts, waits, rejected, or "not considered" (the job isn't queued, for example);
 * - reason, as in the job's comment, unless it starts;
 * - queue: where the job starts, or the queue that the reason is about;
 * - sched, policy, sched_algorithm; test_only: "True" if cycles only log their decisions, or not there;
 * - expected_start: the start of the job that the scheduler expects, if any, in seconds since the Epoch;
 * - preempts: the resource is a job that this one preempts, the value the methods as in preempt_order; or
 *   preempts_none: the reason why it preempts none;
 * - missed: the resource is a preference of a job that runs, that would start, or that has an earliest start,
 *   the value the vnodes of this place that miss it;
 * - class, place, jobs, class_place, class_jobs: the job's place (from 1) in the order and within its class,
 *   and the numbers of jobs;
 * - order: the resource is a key of the order, the value the job's value of it; for the same resource,
 *   order_largest_first is "True" if large values go first, and order_attributes names the attributes that
 *   ask for the key;
 * - if the order goes by weighted_priority, priority_term: the resource is a term (Priority, urgency,
 *   tickets), the value "value,least,greatest,normalised,weight,product": the term's value, the range of the
 *   values of all jobs, the value brought from this range to 0..1, its weight, and the product of the two,
 *   which is added up; job_before: the job just before this one in its class, and term_before: that job's
 *   terms, for operators, managers and that job's owner;
 * - past_usage of the job's owner, if the order goes by past usage;
 * - if the order goes by shares, share_group, share_entity, share_usage, share_target and share_actual (as
 *   those of pbs_statfairshare()), and share_place, the entity's place by shares among the share_entities
 *   that have jobs;
 * - gate: the resource is the name of a test of the job by itself, the value the reason why the job fails it,
 *   empty if it passes; for the same resource, gate_attributes names the attributes that switch the test on,
 *   and decides is "True" if the reason comes from it; and if the reason is a quota, gate_fact has values
 *   such as "limit,4" for quota, rule, of ("of,users=bob" for each of the rule's filters in braces),
 *   resource, asked, used and limit.
 *
 * The other objects are the queues that the job may start in, in the order in which they are tried, named
 * queue or queue@host. They have the attributes
 *
 * - gate, gate_attributes, decides and gate_fact, as for the job, in the order of the tests;
 * - if only running jobs and the time keep the job from starting: earliest_start, the earliest start known
 *   from the resource schedule, and awaited for each event to wait for until then: the resource is the event,
 *   in words that follow "when" ("running jobs have ended"), the value its time;
 * - if the job can't start in the queue: layer for each resource that the job asks for and each place that
 *   limits it. The resource is "vnodes", "quota NAME" or a gate; the value, such as "ncpus,8,2,16,short", is
 *   the job's resource, what the job asks for, what is free, what there is, and "enough" or "short", followed
 *   by ",narrowest" where least of the resource is free;
 * - for a job with a range of chunks: chunks (the range), chunks_now (the number with which it would start
 *   now; 0 if it wouldn't start), chunks_most (the greatest number that it can have) and chunks_most_start
 *   (the earliest start with so many);
 * - drained_until: until when the queue is drained for this job.
 *
 * All times are seconds since the Epoch. `extend` is NULL.
 */
extern struct batch_status* pbs_statexplanation(int connect, const char* job, const char* extend);
/*
 * The record of a scheduling cycle for pbs_replay(8): all that the scheduler ("": the scheduler default)
 * knows and decides. The server runs a cycle at this moment whose decisions are not carried out; the answer
 * takes at least as long as a cycle. For managers and operators, since the record has the requests and owners
 * of all users' jobs; others get PBSE_PERM. The record comes in parts, in the attribute "text" of one object
 * after another, each named after the scheduler. `extend` is NULL. PBSE_SYSTEM: the server's disk has no room
 * for the record. PBSE_UNKSCHED: there is no such scheduler.
 *
 * The record of the next cycle that the server runs takes several calls. With `extend` "next" the answer is
 * an object with the attribute "cycles", the number of cycles begun so far. Then repeat with "after=NUMBER":
 * the answer is such an object until a later cycle has ended, and then its record, given to one of the
 * callers. The server records the cycle only while somebody asks: ask at least every 20 seconds.
 */
extern struct batch_status* pbs_statrecord(int connect, const char* sched, const char* extend);
/*
 * For programs of managers that schedule jobs themselves, where the scheduler's policy has the algorithm
 * external: the plugin then starts nothing. An OpenPBS server has these functions where the plugin is its
 * scheduler, and the policy also has external_program = ifl; else they give PBSE_NOSUP. pbs_statchanges(3B)
 * says what is different there. A `sched` of NULL or "" is the scheduler default.
 *
 * pbs_schedregister() makes the caller the program that schedules for `sched`, until the connection ends or
 * the scheduler is deleted; `list sched` shows it as scheduled_by. PBSE_SCHEDCONNECTED: another one is
 * registered, and pbs_geterrmsg() says who. Registering twice on one connection changes nothing.
 *
 * pbs_statchanges() gives the objects that have changed since a version: a number that is in the first line
 * of pbs_statrecord()'s text ({"pbspolicy_record":1,"time_zone":"UTC","version":1796000000000123}), or in the
 * last line of the answer before. If nothing has changed since, the server waits for the first change, for
 * `timeout` seconds, an hour at most. The answer is one object with the attribute "text", lines of JSON: for
 * each changed object its line as in the record, or {"gone":{"job":17}} if it is gone, with the handle by
 * which records refer to it (scheds by name: {"gone":{"sched":"s2"}}; of policy objects:
 * {"gone":{"object":{"type":"policy","name":"p1"}}}); and at last
 * {"version":1796000000000200,"now":1796000000}, with the server's time. An answer has 2,000 objects at most:
 * ask again with its version, at once, until only the last line comes.
 *
 * An object is shown as it is when the server answers. This may be newer than the answer's version; the
 * object then comes once more. An object that came and went between two answers may be reported as gone
 * without having been shown. Some lines are only in records: usage, allocations, outages, sched_config files,
 * programs' answers, and resources that are gone.
 *
 * Versions grow, also over restarts of the server: the first is the time of its start, in microseconds.
 * PBSE_HISTORY: the version is more than 100000 changes old, or older than the last start of the server: take
 * a record. PBSE_IVALREQ: a version or timeout below 0. `extend` is NULL.
 *
 * Jobs are started by pbs_asyrunjob_ack(), which takes care that none is started twice. With an `extend` of
 * "check=True", pbs_runjob(), pbs_asyrunjob_ack() and pbs_runtasks() start the job only if the plugin's
 * filters let it start there and now: limits, quotas, time windows, and free amounts and values of the
 * vnodes. PBSE_RESCUNAV: they don't, and pbs_geterrmsg() has the reason, in the words of a job's comment.
 * PBSE_IVALREQ: the location has more than 20000 places, or more than 4 MiB. PBSE_NOSUP: the policy in
 * force has the algorithm origin, which tests no starts; pbs_geterrmsg() names the policy. pbs_asks() has
 * these errors, too.
 *
 * pbs_asks() asks what the filters say to such a start, without doing it. The answer is as that of
 * pbs_statexplanation(): the outcome is "starts", "waits" (a filter refuses the start now), "rejected" or
 * "not considered", the only queue is the job's own, and all filters give their answers for `location`; the
 * filter "hosts" is about the vnodes. The job has the attribute location, as asked. An explanation's
 * attributes about the order, and about other places and times, are missing. `location`: as that of
 * pbs_runjob(); NULL: where the policy would place the job. For managers. `extend` is NULL.
 */
extern struct batch_status* pbs_asks(int connect, const char* job, const char* location, const char* extend);
extern int pbs_schedregister(int connect, const char* sched, const char* extend);
extern struct batch_status* pbs_statchanges(int connect, const char* sched, long long version, int timeout,
                                            const char* extend);
/*
 * The shares and the usage of a scheduler ("": the scheduler default), for each fs_group that one of its
 * policies uses. Managers see a whole tree, others only their own entities, those of their jobs, and the
 * groups above them. `extend` is NULL or "fs_group=NAME". First comes an object named after the fs_group with
 * the attributes
 *
 * - sched, entity, usage_formula, unknown_shares, enforce_no_shares ("True" or not there), counts_usage
 *   ("False" while no policy goes by the tree, or not there), decay_factor, decay_time in seconds, and
 *   half_life in seconds if decay_time and decay_factor follow from it;
 * - now, the instant of the usage shown, last_decay and next_decay: seconds since the Epoch;
 *
 * then comes an object for each element of the tree, a group before its members:
 *
 * - kind: group or entity; parent, except for the root; shares;
 * - target: its part of the machine by the shares, and actual: its part of all usage; fractions of 1;
 * - usage, in units of the usage_formula, at least 1, and decayed: the usage that a decay now would leave;
 * - long_usage: the usage of its jobs in all, without decays;
 * - tree_usage and factor: fairshare_tree_usage and fairshare_factor of formulas;
 * - place, from 1, of an entity: the entity that has had the least of its share is the first;
 * - for tickets_share, by the present jobs: level, short_target and overall_short_target (the parts of the
 *   shares of the siblings with jobs, of the tickets of these siblings, and of all tickets; fractions of 1),
 *   and jobs and running, the numbers of the entity's own jobs and of those that run.
 *
 * With the `extend` "tickets=True" come the tickets of jobs instead, by the scheduler's policy in force:
 * first an object named after the policy, with sched and now; then an object for each job that waits or runs
 * and isn't suspended, the one with the most tickets first, named after the job, with owner, queue, runs
 * ("True" or "False"), override, functional and share (the job's tickets of these kinds), tickets (their
 * sum), and normalised: the sum brought from the range of 0 to the greatest sum to 0..1. Managers see all
 * jobs, others their own. PBSE_IVALREQ: the policy gives no tickets, or its order of
 * jobs doesn't go by them.
 *
 * PBSE_FS_GROUP_NOT_FOUND: no policy of the scheduler uses shares, or none uses this fs_group.
 *
 * pbs_manager() with MGR_CMD_SET, MGR_OBJ_FAIRSHARE and a scheduler's name changes usage, for managers. The
 * attribute "usage", which may be given several times, sets the usage of the entity that is its resource;
 * or "decay" = "True" decays all usage now; or "trim" = "True" resets the usage of entities that are in no
 * group. "fs_group" names the group, if the scheduler keeps the usage of several. The change is on the disk
 * when the function returns.
 */
extern struct batch_status* pbs_statfairshare(int connect, const char* sched, const char* extend);
/*
 * Accounting records. For managers and operators, since they tell of all users' jobs; others get PBSE_PERM.
 * With `day` NULL or "": one object for each day that has records, named YYYYMMDD, oldest first, with the
 * attribute "size", in bytes. With a day: its object with "size" and "text", the records from the offset in
 * `extend` ("offset=BYTES", 0 with NULL) on, whole lines, at most 1 MiB. The next offset is the sum of the
 * offset and the text's length; an empty text means that there are no more records. PBSE_IVALREQ: a day
 * without records. PBSE_NOSUP: the server isn't this project's.
 */
extern struct batch_status* pbs_stataccounting(int connect, const char* day, const char* extend);
/*
 * The server's statistics since its start; only this project's server has them, others answer PBSE_NOSUP.
 * `part` is one of
 *
 * - "counters", for every user: one object with the attributes version, started and now (seconds since the
 *   Epoch), jobs_considered, decisions_dropped, cycles_failed, jobs_ended, log_lines_lost; with a resource
 *   (in parentheses): decisions (kind), requests_refused (type of request), queue (its name; the value is
 *   like state_count), vnodes (state); and histograms, whose value is "COUNT SUM N N N": the number of
 *   values, their sum in seconds, and the numbers of values within each bound: cycles (trigger), requests
 *   (type) and commits to the database, with the bounds in duration_bounds, and waits of jobs that started,
 *   with the bounds in wait_bounds (seconds);
 * - "cycles", an object for each of the last 100: sched, trigger, began, deciding_us, carrying_out_us,
 *   considered, decisions (kind), dropped, and failed;
 * - "requests", one for each of the last 100 that took 50 ms or more: type, who, object, at, took_us;
 * - "users", one for each of the 20 users whose requests took longest in all: who, requests, took_us;
 * - "peers", one for each server of peer queues: server, queues, answered, trouble, jobs, pulled;
 * - "health": file (a database's file; its size), disk (size, free, inodes, free_inodes), home, pid,
 *   clock_offset, memory (resident), descriptors, log_lines_lost, and an error for each value that can't be
 *   determined.
 *
 * All parts but the counters are for managers and operators; others get PBSE_PERM. `extend` is NULL.
 */
extern struct batch_status* pbs_statdiagnosis(int connect, const char* part, const char* extend);
extern void pbs_statfree(struct batch_status* list);
extern void pbs_delstatfree(struct batch_deljob_status* list);

/*
 * Changes an object: `command` is an enum mgr_cmd (create, delete, set, unset), `object_type` an enum
 * mgr_obj. All attributes are changed, or none.
 */
extern int pbs_manager(int connect, int command, int object_type, const char* object,
                       struct attropl* attributes, const char* extend);
/*
 * pbs_manager() in two steps, so that many requests can be under way at once: pbs_manager_send() makes the
 * request; pbs_manager_reply() waits for the answer to the earliest unanswered one, with the result and text
 * of pbs_manager(). In between, no other call may be made on the connection (PBSE_IVALREQ). Only this library
 * has these functions. They speed up requests for policy objects: the server makes many of them durable at
 * once.
 */
extern int pbs_manager_send(int connect, int command, int object_type, const char* object,
                            struct attropl* attributes, const char* extend);
extern int pbs_manager_reply(int connect);
/* Stops the server: `manner` is SHUT_*. */
extern int pbs_terminate(int connect, int manner, const char* extend);

#ifdef __cplusplus
}
#endif
#endif
