/*
 * The interface between a PBS server (the host) and pbs_policy.so (the plugin).
 *
 * Plain C, so that a host in any language and of any compiler can load it. The host dlopen()s the shared
 * object and calls its only exported function, pbs_policy_plugin_init(). From then on host and plugin call
 * each other through two tables of function pointers.
 *
 * Rules that hold for every call:
 *  - Requests, records, results, decisions and the two tables begin with `size`, set by the struct's maker to
 *    its sizeof. If the callee fills in a struct of the caller (pbs_plugin, pbs_cycle_result), the caller
 *    sets `size`. Host and plugin are of the same version of this file: a struct of another size is refused
 *    as a whole, with a message.
 *  - Strings are pointer and length, UTF-8 or plain bytes, not NUL-terminated; an absent string has length 0.
 *  - Memory belongs to its maker: data that a caller passes are valid until the call returns, unless a
 *    comment says otherwise. The callee copies the data that it keeps.
 *  - No exception crosses the interface. No call is re-entrant: the host calls the plugin from one thread,
 *    never from inside one of the plugin's calls back into the host. The plugin calls the host only from
 *    inside the host's calls, except for cycle_finished() and work_finished(), which come from another
 *    thread.
 *  - Instants are seconds since the Epoch (UTC), by the host's clock, which may be shifted. The plugin never
 *    reads a clock: `now` is an argument. Durations are seconds.
 *  - Results are 0 or a PBS error number (15001 and up, see ifl/pbs_error.h).
 */
#ifndef PBSPOLICY_PBS_PLUGIN_H
#define PBSPOLICY_PBS_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PBS_PLUGIN_ABI_VERSION 1
#define PBS_PLUGIN_ENTRY "pbs_policy_plugin_init"

typedef struct pbs_str {
    const char* ptr;
    size_t len;
} pbs_str;

/* Object types: those of the batch protocol, with its numbers (enum mgr_obj), and this project's own. */
enum pbs_object_type {
    PBS_OBJ_SERVER = 0,
    PBS_OBJ_QUEUE = 1,
    PBS_OBJ_JOB = 2,
    PBS_OBJ_NODE = 3,
    PBS_OBJ_RESV = 4, /* reservations; only the host answers for them */
    PBS_OBJ_RESOURCE = 5,
    PBS_OBJ_SCHED = 6,
    PBS_OBJ_ARRAY = 10,  /* in status replies with subjobs: a job array, whose subjobs follow */
    PBS_OBJ_SUBJOB = 11, /* in status replies with subjobs: a subjob */
    PBS_OBJ_POLICY = 64,
    PBS_OBJ_TIME_WINDOW = 65,
    PBS_OBJ_FS_GROUP = 66,
    PBS_OBJ_CONFIGURATION = 67, /* all objects of the plugin: set and status */
    PBS_OBJ_HISTORY = 68,       /* the history of changes: status only */
    PBS_OBJ_EXPLANATION = 69,   /* why a job starts or waits; the name is the job's id: status only */
    PBS_OBJ_RECORD = 70,     /* the record of a scheduling cycle; the name is the scheduler's: status only */
    PBS_OBJ_ACCOUNTING = 71, /* accounting records of a day; only the host answers for them */
    PBS_OBJ_DIAGNOSIS = 72,  /* the host's counters of its own work; only the host answers */
    PBS_OBJ_FAIRSHARE = 73,  /* the usage of a scheduler's shares, by its name: set and status */
    PBS_OBJ_QUOTA = 74,
    PBS_OBJ_QUOTA_USE = 75, /* the use of a scheduler's quotas, by its name: status only */
    PBS_OBJ_CHANGES = 76    /* the objects that have changed, for programs that schedule: status only */
};

/* Manager commands and attribute operations, as the batch protocol numbers them. */
enum pbs_manager_command { PBS_CMD_CREATE = 0, PBS_CMD_DELETE = 1, PBS_CMD_SET = 2, PBS_CMD_UNSET = 3 };
enum pbs_attr_op { PBS_OP_SET = 0, PBS_OP_UNSET = 1, PBS_OP_INCR = 2, PBS_OP_DECR = 3 };

/* An attribute in a request or a reply. `resource` is empty unless the attribute is a resource list. */
typedef struct pbs_attr {
    pbs_str name;
    pbs_str resource;
    pbs_str value;
    int32_t op; /* enum pbs_attr_op; PBS_OP_SET in replies */
    int32_t reserved;
} pbs_attr;

/* The identity of a client. The host establishes it by the connection's credentials, never by a name in the
 * request. */
enum pbs_privilege { PBS_PRIV_NONE = 0, PBS_PRIV_OPERATOR = 1, PBS_PRIV_MANAGER = 2, PBS_PRIV_ROOT = 4 };
typedef struct pbs_identity {
    pbs_str user;
    pbs_str host;
    uint32_t privilege; /* bits of enum pbs_privilege; a manager has the operator bit too */
    uint32_t authenticated;
} pbs_identity;

/* For the history: a change that the host itself makes to one of its objects on a Manager request. The states
 * before and after are the attributes that a manager can set, as a JSON object of strings
 * ({"Priority":"5","resources_max.ncpus":"4"}); or "null" if the object doesn't exist. The plugin stores
 * these texts unchanged. */
typedef struct pbs_host_change {
    int32_t object_type; /* enum pbs_object_type */
    int32_t reserved;
    pbs_str name; /* empty for the server object */
    pbs_str before;
    pbs_str after;
} pbs_host_change;

/* A Manager request, or the plugin's part of one. */
typedef struct pbs_manager_request {
    size_t size;
    int64_t now;
    int32_t command;     /* enum pbs_manager_command */
    int32_t object_type; /* enum pbs_object_type */
    pbs_str object_name; /* empty for the server object */
    const pbs_attr* attrs;
    size_t attr_count;
    pbs_identity who;
    pbs_str extend;
    pbs_str text; /* the whole request as one would type it in qmgr; empty: the attributes are all of it */
    const pbs_host_change* host_changes;
    size_t host_change_count;
    /* 0, or a number that no other request of this host process has. With a number, manager() may answer
     * 15208 (try again): nothing has changed so far, because a thread of the plugin works on the request, or
     * because it waits for another such request. The host goes on with its other work and makes the same call
     * again some milliseconds later, until the answer isn't 15208; or it gives the request up by abandon(). A
     * repeated call has the same request and ticket; `now` may differ. */
    uint64_t ticket;
    /* 1: change nothing, but reply as if the request was executed. Only for requests about the plugin's own
     * object types, or the plugin's attributes of the host's objects. Hosts that can't make their own change
     * and the plugin's in one transaction check first, then make their change, then make the request. */
    uint32_t check_only;
    uint32_t reserved;
} pbs_manager_request;

/* A status request for one of the plugin's own object types. An empty name means all objects; no attributes
 * mean all attributes. */
typedef struct pbs_status_request {
    size_t size;
    int64_t now;
    int32_t object_type;
    int32_t reserved;
    pbs_str object_name;
    const pbs_str* wanted;
    size_t wanted_count;
    pbs_identity who;
    pbs_str extend;
    /* 0, or a number that no other request of this host process has, like the ticket of a
     * pbs_manager_request. With a number, status() may answer 15208 (try again), because a thread of the
     * plugin works on the answer; or it may answer with a part. In both cases the host repeats its call, as
     * described at pbs_manager_request. */
    uint64_t ticket;
} pbs_status_request;

/* The reply under construction: the host's own type, filled through the host's reply_* functions. */
typedef struct pbs_reply pbs_reply;

/* ---- Records: the scheduler's knowledge of the host. An object that changes is sent completely. ---- */

enum pbs_resource_kind {
    PBS_RES_LONG = 1,
    PBS_RES_FLOAT = 2,    /* amounts are in millionths */
    PBS_RES_SIZE = 3,     /* amounts are in bytes */
    PBS_RES_DURATION = 4, /* amounts are in seconds */
    PBS_RES_BOOLEAN = 5,
    PBS_RES_STRING = 6,
    PBS_RES_STRING_ARRAY = 7
};

/* A resource definition. The ids are 0, 1, 2 and so on, without gaps. A host process never reuses one. */
typedef struct pbs_resource_record {
    size_t size;
    uint32_t id;
    int32_t kind; /* enum pbs_resource_kind */
    pbs_str name;
    uint32_t consumable; /* an amount of a vnode, queue or server that running jobs use up */
    /* 1: only vnodes can have the resource, so a vnode without a value has none of it. 0: while no vnode has
     * a value, vnodes don't limit the resource. The plugin treats built-in resources as 0. */
    uint32_t host_level;
    /* 1: if the definition is deleted, the host has the resource again, as a built-in one. So policies may
     * name it when it is deleted. */
    uint32_t stays;
    uint32_t reserved;
} pbs_resource_record;

/* An amount of a resource; `text` is used by the string kinds, `number` by the others. */
typedef struct pbs_amount {
    uint32_t resource;
    uint32_t reserved;
    int64_t number;
    pbs_str text;
} pbs_amount;

/* A share of a vnode that a job holds or is to get. */
typedef struct pbs_place {
    uint64_t vnode;
    const pbs_amount* amounts;
    size_t amount_count;
} pbs_place;

enum pbs_job_flag {
    PBS_JOB_INTERACTIVE = 1,
    PBS_JOB_RERUNNABLE = 2,
    PBS_JOB_HAS_COMMENT = 4,
    PBS_JOB_CHECKPOINTABLE = 8, /* the host can checkpoint the job, and later go on from there */
    /* A decision has suspended the job (PBS_DECIDE_PREEMPT). Its state is 'S'. `places` are the places that
     * it has given back and on which it will go on; a decision to run the job resumes it. A job that somebody
     * else has suspended doesn't have this flag: no decision concerns it, and it keeps its places. */
    PBS_JOB_PREEMPTED = 16,
    /* The job can't be preempted: all methods have failed since its start, or it is about to end. */
    PBS_JOB_NOT_PREEMPTABLE = 32,
    /* The job waits on another server, in a queue from which jobs are pulled into `queue` (peer_queues()).
     * The only decision that the host takes about the job is to run it: the host then pulls the job, and
     * reports it as running on its places until it has arrived or the pull has failed. */
    PBS_JOB_ELSEWHERE = 64,
    /* The job has run for longer than its soft walltime, which has been extended. */
    PBS_JOB_EXTENDED = 128,
    /* The job is never one of the first waiting jobs, for which places are reserved (topjob_ineligible). */
    PBS_JOB_TOPJOB_INELIGIBLE = 256
};

/* A job. Its handle, `job`, is the host's, unique over one host process, like those of other objects. */
typedef struct pbs_job_record {
    size_t size;
    uint64_t job;
    uint64_t sequence; /* the last tie-break: the number in the job id, or a rank that grows like it */
    pbs_str id;        /* "12.server" */
    pbs_str owner;     /* user name, without host */
    pbs_str group;
    pbs_str account;
    pbs_str project;
    pbs_str origin_queue; /* PBS_O_QUEUE: where it was submitted */
    pbs_str run_host;     /* the host that the job asks to run on; empty: none */
    uint64_t queue;
    /* 'Q', 'H', 'W', 'T', 'R', 'E', 'S', 'B' as in job_state; 'A': a decision to run the job couldn't be
     * carried out, and the job is set aside until the host reports it as 'Q' again. */
    int32_t state;
    int32_t priority;
    uint32_t flags; /* bits of enum pbs_job_flag */
    /* For an array none of whose subjobs has run: how many of them may run at once by the array's own limit.
     * If the job asks for start_within, so many start in one cycle, or none (pbs_decision.together). 0: the
     * job isn't such an array, or its subjobs start one by one. */
    uint32_t together;
    int64_t ctime;
    int64_t qtime;
    int64_t etime; /* 0: not eligible, or unknown */
    /* 0: not started. For a job that was suspended, the start is moved by the length of the suspension,
     * during which its walltime stood still. */
    int64_t stime;
    int64_t mtime;
    int64_t walltime; /* requested seconds; -1: none requested */
    const pbs_amount* requested;
    size_t requested_count;
    const pbs_place* places; /* held by a running job */
    size_t place_count;
    /* A running job's use of resources so far, without walltime, as far as the host knows. Usage of fair
     * shares is counted from it. A host that knows the use only at a job's end reports the job once more as
     * running, with its use, before it reports the end. */
    const pbs_amount* used;
    size_t used_count;
    /* For a job in state 'S': the seconds for which it has run. The rest of its walltime is left. */
    int64_t elapsed;
    /* The instant at which a decision preempted the job, by any method; 0: never, or the job has run since.
     * Such a job goes before other jobs of its preemption level. */
    int64_t preempted_at;
    const pbs_place* kept; /* with PBS_JOB_PREEMPTED: what the job still holds on its vnodes */
    size_t kept_count;
    /* On servers with counts_eligible_time: the job had eligible_time seconds at the instant accrues_since,
     * and since then its time counts as accrue_type. On other servers all time since etime is eligible. */
    int32_t accrue_type; /* enum pbs_accrue_type; any value for a running job */
    uint32_t reserved3;
    int64_t eligible_time;
    int64_t accrues_since;
    /* The seconds for which the job is expected to run: its soft walltime, extended if the job has run
     * longer. 0: as long as its walltime, after which the job is ended. Plans use the soft walltime; advance
     * reservations are kept free by the walltime. */
    int64_t soft_walltime;
} pbs_job_record;

/* The kinds of time of a job that hasn't started, with the numbers of the attribute accrue_type. */
enum pbs_accrue_type {
    PBS_ACCRUE_INITIAL = 0, /* not known yet */
    PBS_ACCRUE_INELIGIBLE = 1,
    PBS_ACCRUE_ELIGIBLE = 2
};

enum pbs_queue_flag {
    PBS_QUEUE_EXECUTION = 1, /* else a route queue */
    PBS_QUEUE_STARTED = 2,
    PBS_QUEUE_ENABLED = 4,
    PBS_QUEUE_USER_ACL = 8 /* acl_user_enable */
};

/* Limits on the resources of the server or of a queue that all jobs, or an entity's jobs, use together. */
enum pbs_entity_kind {
    PBS_ENTITY_ALL = 0,
    PBS_ENTITY_USER = 1,
    PBS_ENTITY_GROUP = 2,
    PBS_ENTITY_PROJECT = 3
};
#define PBS_LIMIT_ON_JOBS UINT32_MAX
typedef struct pbs_entity_limit {
    int32_t entity;    /* enum pbs_entity_kind: whose jobs are counted together */
    uint32_t resource; /* PBS_LIMIT_ON_JOBS: the limit is on the number of running jobs */
    pbs_str name;      /* empty: each entity without a limit of its own; always so for PBS_ENTITY_ALL */
    int64_t most;
    uint32_t soft; /* 1: jobs above the limit may start, and may be preempted */
    uint32_t reserved;
} pbs_entity_limit;

/* The times at which jobs of an execution queue start: the queue attribute execution_type. */
enum pbs_execution_type {
    PBS_EXECUTION_ANY = 0,
    PBS_EXECUTION_PRIME = 1,     /* in prime time only */
    PBS_EXECUTION_NON_PRIME = 2, /* outside prime time only */
    PBS_EXECUTION_DEDICATED = 3  /* in dedicated time only */
};

/* A queue. A limit of -1 isn't set. */
typedef struct pbs_queue_record {
    size_t size;
    uint64_t queue;
    pbs_str name;
    uint32_t flags; /* bits of enum pbs_queue_flag */
    int32_t priority;
    int64_t max_running;
    int64_t max_user_run;
    int64_t max_group_run;
    const pbs_amount* resources_max;
    size_t resources_max_count;
    const pbs_amount* resources_min;
    size_t resources_min_count;
    const pbs_amount* resources_available;
    size_t resources_available_count;
    const pbs_str* acl_users; /* ACL entries in order, as set: "+user@host", "-user", "@host" */
    size_t acl_user_count;
    pbs_str partition;
    int64_t backfill_depth; /* -1: not set */
    int32_t execution_type; /* enum pbs_execution_type */
    uint32_t reserved2;
    const pbs_entity_limit* limits;
    size_t limit_count;
    pbs_str node_group_key; /* names of resources, with commas; empty: the server's is in force */
} pbs_queue_record;

/* The states of a vnode. PBS_VNODE_BUSY: the load of the host has reached its maximum ($max_load) and hasn't
 * fallen below its ideal load ($ideal_load) since. Policies with load_balancing start no jobs on such a
 * vnode, other policies do. */
enum pbs_vnode_state {
    PBS_VNODE_FREE = 0,
    PBS_VNODE_OFFLINE = 1,
    PBS_VNODE_DOWN = 2,
    PBS_VNODE_STALE = 4,
    PBS_VNODE_BUSY = 8
};

/* The ways in which jobs share a vnode or get it alone: the vnode attribute `sharing`. */
enum pbs_vnode_sharing {
    PBS_VNODE_DEFAULT_SHARED = 0,
    PBS_VNODE_DEFAULT_EXCL = 1,
    PBS_VNODE_DEFAULT_EXCLHOST = 2,
    PBS_VNODE_IGNORE_EXCL = 3,
    PBS_VNODE_FORCE_EXCL = 4,
    PBS_VNODE_FORCE_EXCLHOST = 5
};

typedef struct pbs_vnode_record {
    size_t size;
    uint64_t vnode;
    pbs_str name;
    pbs_str host;
    uint32_t state; /* bits of enum pbs_vnode_state; 0: jobs may start there */
    int32_t priority;
    uint64_t queue; /* the only queue that the vnode serves; 0: any */
    pbs_str partition;
    const pbs_amount* resources_available;
    size_t resources_available_count;
    int64_t load_thousandths; /* load average; -1: unknown */
    int64_t
        system_time_thousandths; /* share of its CPU time that the host spends in the system; -1: unknown */
    int64_t load_at; /* when the load average was measured; 0: unknown. Policies with load_balancing
                        add the CPUs of jobs that started since */
    int64_t
        max_load_thousandths; /* no jobs start there at this load average or above; 0 or less: no maximum. */
    uint32_t sharing;         /* one of enum pbs_vnode_sharing; other values count as the first */
} pbs_vnode_record;

typedef struct pbs_server_record {
    size_t size;
    pbs_str name;      /* server name, as in job ids */
    pbs_str host_name; /* the server's host */
    int64_t max_running;
    int64_t max_user_run;
    int64_t max_group_run;
    const pbs_amount* resources_max;
    size_t resources_max_count;
    const pbs_amount* resources_available;
    size_t resources_available_count;
    int64_t backfill_depth;   /* the deprecated server attribute; -1: not set */
    pbs_str job_sort_formula; /* the deprecated server attribute */
    /* The resources that a job gives back when a decision suspends it: names, with commas; empty: all
     * resources. */
    pbs_str suspend_releases;
    const pbs_entity_limit* limits;
    size_t limit_count;
    /* 1: since `eligible_since`, whether a waiting job's time is eligible depends on the reason why the job
     * waits (eligible_time_enable). */
    uint32_t counts_eligible_time;
    uint32_t reserved;
    int64_t eligible_since;
    /* Resources whose values group vnodes into placement sets, one for each value: names, with commas. */
    pbs_str node_group_key;
    uint32_t node_group_enable; /* 0: no node_group_key is in force, nor those of queues */
    uint32_t reserved2;
} pbs_server_record;

typedef struct pbs_sched_record {
    size_t size;
    pbs_str name; /* "default" always exists */
    uint32_t scheduling;
    uint32_t reserved;
    pbs_str partition;
    pbs_str sched_priv; /* absolute path */
    uint32_t own; /* on hosts with pbs_sched: 0, pbs_sched schedules its jobs; 1, the plugin or a program of
                     the site does */
    uint32_t reserved2;
    /* On hosts with pbs_sched: the settings of the scheduler object that policies have, too, as directives of
     * qmgr, one a line ("set sched default preempt_order = \"SCR\""). The first start migrates them. */
    pbs_str directives;
} pbs_sched_record;

/* The state of a reservation, as the scheduler sees it. */
enum pbs_reservation_state {
    PBS_RESERVATION_ASKED = 0,    /* to be decided: PBS_DECIDE_CONFIRM or PBS_DECIDE_DENY */
    PBS_RESERVATION_CONFIRMED = 1 /* from `start` to before `end` its places are for its jobs only */
};

/* A further occurrence of a standing reservation. */
typedef struct pbs_reservation_occurrence {
    int64_t start;
    int64_t end;
    const pbs_place* places; /* the places that the occurrence holds */
    size_t place_count;
    uint32_t asked; /* 1: to be decided, together with all other occurrences that have 1 */
    uint32_t reserved;
} pbs_reservation_occurrence;

/* An advance reservation: places that only jobs of its queue can use, from `start` to before `end`. The host
 * starts and stops the queue, ends the queue's jobs at the end, and then reports that the reservation is
 * gone. A confirmed reservation may be requested again, for other times or places: it keeps its places until
 * it is confirmed with others. Handles are the host's, unique over one host process. */
typedef struct pbs_reservation_record {
    size_t size;
    uint64_t reservation;
    pbs_str id;     /* "R12.server" */
    uint64_t queue; /* where its jobs are */
    int32_t state;  /* enum pbs_reservation_state */
    int32_t reserved;
    int64_t start;
    int64_t end;
    const pbs_amount* requested; /* like a job's: select and place describe the request */
    size_t requested_count;
    const pbs_place* places; /* the places that the reservation holds */
    size_t place_count;
    /* For a reservation that is requested again: the time for which it holds its present places. */
    int64_t held_start;
    int64_t held_end;
    /* The later occurrences of a standing reservation, in order and without overlaps. All requested
     * occurrences get places, or the reservation is denied. */
    const pbs_reservation_occurrence* later;
    size_t later_count;
    /* 1: the first occurrence of a reservation that is requested again keeps its places; only later ones are
     * requested. */
    uint32_t keeps_first;
    /* 1: a requested reservation is to begin at the first instant at which there are places for it. `end` -
     * `start` is then its length. */
    uint32_t soonest;
    /* The request of the later occurrences, if it differs because only the first occurrence was altered; no
     * list: it is `requested`. */
    const pbs_amount* later_requested;
    size_t later_requested_count;
} pbs_reservation_record;

/* ---- A cycle and what it decides. ---- */

/* The reason for a cycle: the SCH_* codes of pbs_sched, and one for a switch of policies. */
enum pbs_cycle_trigger {
    PBS_SCH_SCHEDULE_NEW = 1,
    PBS_SCH_SCHEDULE_TERM = 2,
    PBS_SCH_SCHEDULE_TIME = 3,
    PBS_SCH_SCHEDULE_RECYC = 4,
    PBS_SCH_SCHEDULE_CMD = 5,
    PBS_SCH_CONFIGURE = 7,
    PBS_SCH_SCHEDULE_FIRST = 10,
    PBS_SCH_POLICY_SWITCH = 64
};

enum pbs_decision_kind {
    PBS_DECIDE_RUN = 1,     /* move to `queue` from another queue, set `set_resources`, start on `places` */
    PBS_DECIDE_COMMENT = 2, /* set the job's comment to `text` */
    PBS_DECIDE_REJECT = 3,  /* delete the job and send `text` to its owner */
    PBS_DECIDE_MOVE = 4,    /* move the job to `queue` and leave it there */
    /* The job is expected to start at `start`, on `places`; 0: no start is expected any more. The host shows
     * the estimate while the job is queued, and forgets it when the job leaves the state 'Q' (when it starts
     * or is held, for example). Once the job is queued again, it gets a new estimate. For hosts with
     * PBS_TAKES_ESTIMATES. */
    PBS_DECIDE_ESTIMATE = 5,
    /* The running job is preempted for the job `for_job`, by the first of `methods` that succeeds. for_job 0:
     * the hours of its queue have ended, and `text` becomes its comment. The host reports the outcome like
     * any change: the job is suspended (PBS_JOB_PREEMPTED), queued again or gone. While the job ends, and if
     * no method has succeeded, the host reports it as running with PBS_JOB_NOT_PREEMPTABLE. For hosts with
     * PBS_TAKES_PREEMPTIONS. */
    PBS_DECIDE_PREEMPT = 6,
    /* From this decision on the job's time counts as `accrue_type`, until the host reports another one. Only
     * for servers with counts_eligible_time. */
    PBS_DECIDE_ACCRUE = 7,
    /* The reservation `job` gets `places`, written as for RUN, from its start to its end. `start`:
     * the beginning, if the reservation was to begin as soon as possible. For hosts with
     * PBS_TAKES_RESERVATIONS, like the next decision. */
    PBS_DECIDE_CONFIRM = 8,
    PBS_DECIDE_DENY = 9, /* the reservation `job` is denied, for the reason `text` */
    /* From now on the processes of the running job have `weight`, until it ends or gets another one. A job
     * starts with 100. For hosts with `weighs`. */
    PBS_DECIDE_WEIGH = 10
};

/* The methods of preemption. */
enum pbs_preempt_method {
    PBS_PREEMPT_SUSPEND = 'S',    /* the job stops, gives its places back, and goes on there later */
    PBS_PREEMPT_CHECKPOINT = 'C', /* the job is checkpointed, ends and is queued again */
    PBS_PREEMPT_REQUEUE = 'R',    /* the job ends and is queued again */
    PBS_PREEMPT_DELETE = 'D'
};

typedef struct pbs_decision {
    size_t size;
    int32_t kind;
    /* RUN: the number of decisions, from this one on, that start subjobs of the array `job`, all of them or
     * none. So the first of n has n, and the last has 1. 0: the job starts alone. */
    uint32_t together;
    uint64_t job;
    uint64_t queue;
    pbs_str text; /* also for RUN, and PREEMPT without for_job: the job's comment, such as "Started on ..." */
    const pbs_amount* set_resources;
    size_t set_resource_count;
    const pbs_place* places; /* one for each chunk that the job requests, in that order; see `joined` */
    size_t place_count;
    int64_t start; /* for ESTIMATE and CONFIRM; CONFIRM with 0: the reservation begins at its own start */
    /* For each place: 0, a chunk begins; 1, the place belongs to the chunk of the place before it, but on
     * another vnode of the same host. Null: each place is a chunk. Only hosts with PBS_TAKES_PIECES get
     * chunks on several vnodes. In CONFIRM, 2: the first chunk of the next requested occurrence of a standing
     * reservation begins. */
    const uint8_t* joined;
    uint64_t for_job;   /* PREEMPT: the job that gets the room; 0: none */
    uint8_t methods[4]; /* PREEMPT: of enum pbs_preempt_method, in the order in which they are tried; 0: no
                           more */
    /* RUN, 1: decisions before this one preempt jobs, and this job may use their places. It starts once all
     * of these jobs have given their places back, and not at all if one of them couldn't be preempted. Until
     * then the host reports the job as running on its places, so that no other job gets them. */
    uint32_t after_preemptions;
    int32_t accrue_type; /* ACCRUE: PBS_ACCRUE_INELIGIBLE or PBS_ACCRUE_ELIGIBLE */
    /* WEIGH: from 1 to 10000. When jobs compete for CPUs, each gets a part in proportion to its weight, as by
     * cpu.weight of Linux's control groups. */
    int32_t weight;
    int32_t reserved2;
} pbs_decision;

/* The kinds of decisions that a host can carry out. It gets no others. */
enum pbs_takes {
    PBS_TAKES_ESTIMATES = 1,    /* PBS_DECIDE_ESTIMATE */
    PBS_TAKES_PIECES = 2,       /* chunks on several vnodes of one host (pbs_decision.joined) */
    PBS_TAKES_PREEMPTIONS = 4,  /* PBS_DECIDE_PREEMPT, and decisions to run a suspended job */
    PBS_TAKES_RESERVATIONS = 8, /* PBS_DECIDE_CONFIRM and PBS_DECIDE_DENY */
    PBS_TAKES_ROOM_MADE =
        16 /* in place_job(): decisions to preempt other jobs, before the decision to run the job */
};

typedef struct pbs_cycle_request {
    size_t size;
    int64_t now;
    pbs_str sched;
    int32_t trigger; /* enum pbs_cycle_trigger */
    int32_t reserved;
    uint64_t takes; /* bits of enum pbs_takes */
} pbs_cycle_request;

/* The request of place_job(): to find a place for a job. */
typedef struct pbs_place_request {
    size_t size;
    int64_t now;
    uint64_t job;
    uint64_t takes; /* bits of enum pbs_takes */
} pbs_place_request;

/* The request for a test of a start: test_start(). */
typedef struct pbs_start_request {
    size_t size;
    int64_t now;
    uint64_t job;
    uint64_t takes;          /* bits of enum pbs_takes */
    const pbs_place* places; /* where the job is to start */
    size_t place_count;      /* 0: where the policy chooses */
    const uint8_t* joined;   /* as in pbs_decision: 0 or 1 for each place. Null: each place is a chunk */
    uint64_t explains;       /* 1: the reply gets an explanation; 0: it gets none */
    /* As in pbs_status_request: 0, or a number with which the answer may be 15208 (try again), because a
     * thread of the plugin searches a place, explains, or counts running jobs. */
    uint64_t ticket;
    pbs_str user; /* who asks: the requests of different users with tickets take turns */
} pbs_start_request;

/* The decisions of a cycle. They stay valid until the next call of start_cycle(), forget_decisions() or
 * stop(). The host carries them out in order, and reports the outcome of each by job_changed and job_removed.
 * If a job has changed since start_cycle(), the host drops the decision about it. */
typedef struct pbs_cycle_result {
    size_t size;
    const pbs_decision* decisions; /* an array */
    size_t decision_count;
    int64_t jobs_considered;
    /* The classes of events that the scheduler logs, by the policy in force: bits as in the server's
     * log_events. -1: as after the previous cycle, because this one decided nothing. */
    int64_t log_event;
} pbs_cycle_result;

/* ---- The two tables. ---- */

enum pbs_log_level { PBS_LOG_ERROR = 1, PBS_LOG_WARNING = 2, PBS_LOG_INFO = 3, PBS_LOG_DEBUG = 4 };

/* The host's functions. Each call gets `context`, which is the host's own. */
typedef struct pbs_host {
    size_t size;
    uint32_t abi_version;
    uint32_t reserved;
    void* context;
    pbs_str home;        /* PBS_HOME, absolute */
    pbs_str server_name; /* as in job ids */
    pbs_str time_zone;   /* the server's zone, an IANA name; empty: the system's local time */
    int64_t now;         /* the host's clock at the time of the call of init */
    /* The number before that of the first change (PBS_OBJ_CHANGES). It has to be larger than any number that
     * an earlier process has reached: for example the microseconds since the Epoch. */
    int64_t first_change;

    /* Writes a line to the server's log. `object` names the line's subject, such as a policy or a job id. */
    void (*log)(void* context, int32_t level, pbs_str object, pbs_str message);

    /* Fill a reply. reply_error ends it; `code` is a PBSE_ number. reply_warning leaves the request
     * successful; the client gets its text. reply_object may be called any number of times. In
     * status_attrs(), reply_attr adds an attribute to the object that the host is describing. */
    void (*reply_error)(pbs_reply* reply, int32_t code, pbs_str text);
    void (*reply_warning)(pbs_reply* reply, pbs_str text);
    void (*reply_object)(pbs_reply* reply, int32_t object_type, pbs_str name, const pbs_attr* attrs,
                         size_t attr_count);
    void (*reply_attr)(pbs_reply* reply, const pbs_attr* attr);

    /* Like reply_object, for an object that is already encoded as in status replies of the batch protocol
     * (DIS): type, name, number of attributes, and for each attribute the length of its texts, its name,
     * resource, value and operation. The plugin keeps such encodings. Null: the host gets these objects by
     * reply_object. */
    void (*reply_encoded)(pbs_reply* reply, pbs_str object);

    /* Tells the host that a cycle that start_cycle() has left running is over: it has to call finish_cycle().
     * The plugin calls this from one of its threads, once for each such cycle, perhaps before start_cycle()
     * has returned, or during stop(). So the host should only wake its own thread. Null: the host gets no
     * such call. */
    void (*cycle_finished)(void* context);

    /* Tells the host that a thread of the plugin has finished its work on a status request. The host then
     * repeats next_deadline(), all calls with tickets, and a start_cycle() that was answered with 15208.
     * Called from a thread, like cycle_finished(). Null: no thread works on the host's status requests. */
    void (*work_finished)(void* context);

    /* 1: the host has OpenPBS's pbs_sched, which schedules by the files in each scheduler's sched_priv. The
     * plugin makes these files from policies with algorithm = external, and makes pbs_sched read them. For
     * schedulers that aren't `own` (pbs_sched_record), the plugin asks for no cycles, and reports no settings
     * that its own scheduler doesn't act on. */
    uint32_t has_pbs_sched;
    /* 1: the host provisions vnodes. On other hosts the plugin refuses a provision_policy other than the
     * default, except in policies with algorithm = external. */
    uint32_t provisions;
    /* 1: the host pulls jobs from other servers (PBS_JOB_ELSEWHERE). On other hosts a client that sets
     * peer_queue gets the warning that it has no effect. */
    uint32_t pulls;
    /* 1: the host weighs the processes of running jobs (PBS_DECIDE_WEIGH). On other hosts a client that sets
     * reprioritize gets the warning that it has no effect. */
    uint32_t weighs;
} pbs_host;

/* Bits that tick() returns. */
enum pbs_wanted {
    PBS_WANT_NOTHING = 0,
    PBS_WANT_CYCLE = 1,
    PBS_WANT_POLICY_SWITCH = 2 /* with PBS_WANT_CYCLE: the cycle's trigger is PBS_SCH_POLICY_SWITCH */
};

/* Who schedules the jobs of a scheduler. */
enum pbs_scheduled_by {
    PBS_BY_OTHERS = 0,  /* pbs_sched; or nobody, since the plugin has no store */
    PBS_BY_PLUGIN = 1,  /* the plugin's cycles */
    PBS_BY_PROGRAM = 2, /* a program of the site, which registers with the host: cycles decide nothing */
};

/* The plugin's functions. pbs_policy_plugin_init() sets all of them. Each call gets `self`. The order of
 * calls: pbs_policy_plugin_init(); the *_changed events for all existing objects, beginning with
 * resource_defined, server_changed and sched_changed; start(); then any calls; stop(). */
typedef struct pbs_plugin {
    size_t size;
    uint32_t abi_version;
    uint32_t reserved;
    void* self;
    pbs_str name;
    pbs_str version;

    /* Opens the store, and migrates legacy files if the store is new. Afterwards the plugin is ready for
     * requests. On an error `error` (a buffer of error_size bytes) gets one line, and the host refuses to
     * start. Error 15010: the store, a database under the host's home, can't be used. */
    int32_t (*start)(void* self, int64_t now, char* error, size_t error_size);
    /* Saves the data that are only in memory, and frees everything. No call may follow. */
    void (*stop)(void* self, int64_t now);

    /* Returns 1 if this attribute of a host's object (server, queue, sched) belongs to the plugin, else 0.
     * The host takes such attributes out of a Manager request and passes them to manager(). */
    int32_t (*owns_attribute)(void* self, int32_t object_type, pbs_str attribute);

    /* Executes a Manager request, or the plugin's part of one, in one transaction. The host calls this
     * after it has checked its own part, and before it commits that part:
     *
     * - for requests about the plugin's own object types;
     * - for the plugin's attributes of server, queue and sched objects;
     * - when a queue or sched is created, with the plugin's attributes in the request, or is deleted;
     * - when a resource is deleted. The deletion of a queue or resource that an object names is refused
     *   (15027);
     * - when the server's own job_sort_formula is set. The plugin only checks it.
     *
     * If attributes of policies are set or unset on a sched object, they are changed in all policies in
     * its slots, whether the plugin owns them or not.
     *
     * host_changes: the changes that the host itself makes, if the history is to have them, so that they
     * can be undone. They are written in the same transaction, for objects of any type; such a request may
     * have no attributes of the plugin. A change of the configuration (PBS_OBJ_CONFIGURATION) that undoes
     * or imports changes of host objects has these in host_changes, too. The host sends its events about
     * these objects after a request with a ticket, and before one without.
     *
     * The reply has errors and warnings; the result is the error's number or 0. Without a ticket (see
     * pbs_manager_request) the host waits without limit; and while a request with a ticket is under way
     * (busy()), a request without one that would change something is refused (15027). When this returns, a
     * change of the plugin's own object types may be written but not yet durable: the host acknowledges it
     * to no client before commit() has returned 0. */
    int32_t (*manager)(void* self, const pbs_manager_request* request, pbs_reply* reply);
    /* Describes objects of the plugin's own types. An unknown name is error 15212.
     *
     * With an empty name, `extend` may ask for a page of the objects of a type: "after=NAME" means the
     * objects that follow NAME in the order of names, as many as take some milliseconds. NAME is empty for
     * the first page. If there are more objects, reply_attr adds an attribute `after` with the NAME for
     * the next page.
     *
     * If a request for a record has a ticket, the record comes in parts: if more of it follows, reply_attr
     * adds an attribute `offset`, and the same ticket with the extend string "offset=VALUE" asks for the
     * next part. An explanation or a record may take as long as a cycle; without a ticket the host waits
     * for it. An explanation has no extend string (PBSE_NOSUP): test_start() explains starts at a place.
     *
     * For the configuration and the history, `extend` selects a part: "revision=12", "part=policies". With
     * "part=host" the reply has an object for each of the host's objects that has changed since the
     * revision, with an attribute `attributes` as in pbs_host_change. This reply comes in pages, too, by
     * "after=" and the attribute `after`; if an object comes more than once, the first one counts. With
     * "part=recorded" the reply has an object for each of the host's objects with a recorded change: with
     * `before`, `after` and `change` of its last change. */
    int32_t (*status)(void* self, const pbs_status_request* request, pbs_reply* reply);
    /* Adds the plugin's attributes of one host object, by reply_attr. */
    void (*status_attrs)(void* self, int64_t now, int32_t object_type, pbs_str name, pbs_reply* reply);

    /* Events. A record replaces the object that was known by its handle or name. */
    void (*resource_defined)(void* self, const pbs_resource_record* record);
    void (*server_changed)(void* self, const pbs_server_record* record);
    void (*sched_changed)(void* self, const pbs_sched_record* record);
    void (*sched_removed)(void* self, pbs_str name);
    void (*queue_changed)(void* self, const pbs_queue_record* record);
    void (*queue_removed)(void* self, uint64_t queue);
    void (*vnode_changed)(void* self, const pbs_vnode_record* record);
    void (*vnode_removed)(void* self, uint64_t vnode);
    void (*job_changed)(void* self, int64_t now, const pbs_job_record* record);
    void (*job_removed)(void* self, int64_t now, uint64_t job);

    /* Returns the next instant at which tick() has work; INT64_MAX: none. Any call may change it. */
    int64_t (*next_deadline)(void* self, int64_t now);
    /* Does the work that is due (switch of policies, decay, saving). Returns bits of enum pbs_wanted. An
     * early call does no harm. */
    uint32_t (*tick)(void* self, int64_t now);
    /* The bits of enum pbs_wanted that the last tick() found for one scheduler. */
    uint32_t (*wanted)(void* self, pbs_str sched);

    /* Event: a resource definition was deleted. */
    void (*resource_removed)(void* self, pbs_str name);

    /* Makes all that manager() has written since the last commit() durable. On an error all of it is undone,
     * and `error` (a buffer of error_size bytes) gets one line. If another call has committed it before, this
     * returns the outcome of that commit. */
    int32_t (*commit)(void* self, int64_t now, char* error, size_t error_size);

    /* Begins a cycle of one scheduler, with the plugin's present knowledge. A short cycle is over when
     * this returns (`running` is 0). A long one (`running` is 1) goes on in a thread of the plugin, which
     * calls cycle_finished() if the host has it. In both cases finish_cycle() has to follow before another
     * cycle begins. After an error it must not follow.
     *
     * While a cycle runs, the host makes its other calls as usual. Changes by events and requests count
     * for the next cycle. tick() has no work, so next_deadline() has to be called again after
     * finish_cycle(). These calls need the scheduler and wait for the thread: finish_cycle(), stop(), and
     * status() of an explanation or a record without a ticket.
     *
     * Error 15208 (try again): the thread works on a status request with a ticket. It begins no other
     * status request before this cycle. The host calls again after work_finished(), and until then makes
     * no calls with tickets of status requests. finish_cycle() lets the next status request begin, so
     * cycles and status requests take turns. */
    int32_t (*start_cycle)(void* self, const pbs_cycle_request* request, int32_t* running);
    /* Returns the cycle's decisions. Waits for a cycle that still runs. */
    int32_t (*finish_cycle)(void* self, int64_t now, pbs_cycle_result* result);
    /* Frees the decisions that finish_cycle() has returned: the host doesn't read them any more. They may
     * take much memory. Must not be called between start_cycle() and finish_cycle(). */
    void (*forget_decisions)(void* self);

    /* Gives the request with this ticket up: the host won't repeat its call. The plugin undoes or drops the
     * work for it, and no call waits for that. A ticket that isn't under way is ignored. */
    void (*abandon)(void* self, uint64_t ticket);

    /* Finds a place for one job that isn't running, because an operator wants it started (qrun). The
     * resources of vnodes, of the job's queue and of the server are observed, and so is the job's request.
     * Holds, the order of jobs, limits and times aren't, nor whether scheduling is on. `result` gets one
     * decision: RUN, in the job's present queue; or COMMENT, with the reason why there is no place now. For
     * hosts with PBS_TAKES_ROOM_MADE, PREEMPT may come before RUN. The decisions are valid until the next
     * call of place_job() or stop(). A cycle's decisions stay valid; the host has to see to it that both
     * together don't use a resource twice. Error 15208 (try again): a cycle runs in a thread, and
     * finish_cycle() has to come first. Error 15001: there is no such job. */
    int32_t (*place_job)(void* self, const pbs_place_request* request, pbs_cycle_result* result);

    /* Adds a warning (reply_warning) for each of these attributes that the policy in force at `now` doesn't
     * act on. The attributes have just been set on a queue of the host, which is in `partition`. */
    void (*not_acted_on)(void* self, int64_t now, int32_t object_type, pbs_str name, pbs_str partition,
                         const pbs_attr* attrs, size_t attr_count, pbs_reply* reply);

    /* Returns 1 if a request with a ticket is under way, so that a change without a ticket would be refused;
     * else 0. */
    int32_t (*busy)(void* self);

    /* Returns who schedules this scheduler's jobs (enum pbs_scheduled_by), provided that the scheduler is the
     * plugin's own. The policy for all time decides whether pbs_sched does; if it doesn't, the policy in
     * force at `now` decides. */
    int32_t (*scheduled_by)(void* self, int64_t now, pbs_str sched);

    /* Names the queues of other servers from which the policy in force at `now` pulls jobs for this
     * scheduler. reply_attr adds an attribute peer_queue for each: "QUEUE QUEUE@SERVER", the local queue and
     * the remote one. */
    void (*peer_queues)(void* self, int64_t now, pbs_str sched, pbs_reply* reply);

    /* Events: a reservation was made or changed; a reservation is gone. */
    void (*reservation_changed)(void* self, const pbs_reservation_record* record);
    void (*reservation_removed)(void* self, uint64_t reservation);

    /* Returns the number of the last change (PBS_OBJ_CHANGES), which grows with each event and each change of
     * the plugin's objects. The call is cheap, so a host that waits for a change may make it often. */
    int64_t (*last_change)(void* self);

    /* Tests whether a job that isn't running may start now, for a program that schedules by itself: by all
     * that decides about this job alone, such as limits, quotas, time windows and the resources at the
     * places; the order of jobs doesn't count. `result` gets one decision: RUN, with places if the request
     * has none; or COMMENT, with the reason why the job may not start. `reply`, unless it is NULL, gets the
     * objects of PBS_OBJ_EXPLANATION about this start, if the request asks for them. Nothing is changed.
     * RUN holds only at the moment of the answer: the host has to start the job before anything changes.
     * Errors, and the life of the decision: as those of place_job(); 15208 also means that a thread works on
     * the request, if it has a ticket; 15027, with a text in `reply`: so much has changed during several
     * tests of the request that none of their answers holds; PBSE_NOSUP, with a text in `reply`: the policy
     * in force has the algorithm origin. */
    int32_t (*test_start)(void* self, const pbs_start_request* request, pbs_cycle_result* result,
                          pbs_reply* reply);
} pbs_plugin;

/* The shared object's only exported function: fills in `plugin`. Returns 0; or, if the versions don't fit, a
 * PBS error number, with a line in `error`. `host` must stay valid until stop(). */
int32_t pbs_policy_plugin_init(const pbs_host* host, pbs_plugin* plugin, char* error, size_t error_size);
typedef int32_t (*pbs_policy_plugin_init_fn)(const pbs_host* host, pbs_plugin* plugin, char* error,
                                             size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
