/*
 * The interface between a PBS server (the host) and pbs_policy.so (the plugin).
 *
 * Plain C, so that a host in any language and of any compiler can load it. The host dlopen()s the shared
 * object, calls its only exported function, pbs_policy_plugin_init(), and from then on the two talk through
 * two tables of function pointers.
 *
 * Rules that hold for every call:
 *  - Every struct that crosses begins with `size`, set by its maker to sizeof that struct; where the callee
 *    fills in a struct of the caller (pbs_plugin, pbs_cycle_result), the caller sets it. Host and plugin are
 *    of one version of this file: a struct of another size is refused, as a whole, with a message.
 *  - Strings are pointer and length, UTF-8 or plain bytes, not NUL-terminated; an absent string has length 0.
 *  - Memory belongs to the maker: what a caller passes is valid until the call returns, unless the comment
 *    says otherwise; the callee copies what it keeps.
 *  - No exception crosses. No call is re-entrant: the host calls the plugin from one thread, never from
 *    inside one of the plugin's calls back into the host. The plugin calls the host from inside the host's
 *    calls only; but cycle_finished() and work_finished() come from another thread.
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

/* Object types, as the batch protocol numbers them (enum mgr_obj), and the new ones. */
enum pbs_object_type {
    PBS_OBJ_SERVER = 0,
    PBS_OBJ_QUEUE = 1,
    PBS_OBJ_JOB = 2,
    PBS_OBJ_NODE = 3,
    PBS_OBJ_RESV = 4, /* a reservation: the host's own, no plugin is asked about its status */
    PBS_OBJ_RESOURCE = 5,
    PBS_OBJ_SCHED = 6,
    PBS_OBJ_ARRAY = 10,  /* in status replies with subjobs: a job array, whose subjobs follow */
    PBS_OBJ_SUBJOB = 11, /* the same: one of them */
    PBS_OBJ_POLICY = 64,
    PBS_OBJ_TIME_WINDOW = 65,
    PBS_OBJ_FS_GROUP = 66,
    PBS_OBJ_CONFIGURATION = 67, /* all that the plugin keeps: set and status */
    PBS_OBJ_HISTORY = 68,       /* of its changes: status only */
    PBS_OBJ_EXPLANATION = 69,   /* why a job starts or waits; the name is the job's id: status only */
    PBS_OBJ_RECORD = 70,        /* of a scheduling cycle; the name is the scheduler's: status only */
    PBS_OBJ_ACCOUNTING = 71,    /* accounting records of a day; the host's own, no plugin is asked */
    PBS_OBJ_DIAGNOSIS = 72,     /* what the host counts of itself; the host's own, too */
    PBS_OBJ_FAIRSHARE = 73,     /* the usage of shares of a scheduler, by its name: set and status */
    PBS_OBJ_QUOTA = 74,
    PBS_OBJ_QUOTA_USE = 75 /* what is used of a scheduler's quotas, by its name: status only */
};

/* Manager commands and attribute operations, as the batch protocol numbers them. */
enum pbs_manager_command { PBS_CMD_CREATE = 0, PBS_CMD_DELETE = 1, PBS_CMD_SET = 2, PBS_CMD_UNSET = 3 };
enum pbs_attr_op { PBS_OP_SET = 0, PBS_OP_UNSET = 1, PBS_OP_INCR = 2, PBS_OP_DECR = 3 };

/* One attribute in a request or a reply. `resource` is empty unless the attribute is a resource list. */
typedef struct pbs_attr {
    pbs_str name;
    pbs_str resource;
    pbs_str value;
    int32_t op; /* enum pbs_attr_op; PBS_OP_SET in replies */
    int32_t reserved;
} pbs_attr;

/* Who asks. Made by the host from the connection's credentials, never from a name in the request. */
enum pbs_privilege { PBS_PRIV_NONE = 0, PBS_PRIV_OPERATOR = 1, PBS_PRIV_MANAGER = 2, PBS_PRIV_ROOT = 4 };
typedef struct pbs_identity {
    pbs_str user;
    pbs_str host;
    uint32_t privilege; /* bits of enum pbs_privilege; a manager has the operator bit too */
    uint32_t authenticated;
} pbs_identity;

/* The host's own change of one of its objects on a Manager request, for the history: the attributes that a
 * manager can set, as a JSON object of strings ({"Priority":"5","resources_max.ncpus":"4"}), or "null" where
 * the object isn't there. The plugin keeps them as they are. */
typedef struct pbs_host_change {
    int32_t object_type; /* enum pbs_object_type */
    int32_t reserved;
    pbs_str name; /* empty for the server object */
    pbs_str before;
    pbs_str after;
} pbs_host_change;

/* A Manager request, or the part of one that the plugin owns. */
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
    /* 0, or a number that no other request of this host process has: then manager() may answer 15208 (try
     * again). Nothing has changed so far; the request takes long and a thread of the plugin's works on it, or
     * it waits for another one that does. The host goes on with whatever else it has to, and makes the same
     * call again some milliseconds later, until the answer is another, or gives it up by abandon(). It has
     * to be the same request with the same ticket; `now` may be another. */
    uint64_t ticket;
    /* 1: says what would come of the request, of the plugin's own object types or of the owned attributes of
     * the host's, and changes nothing. For hosts that can't make the plugin's change and their own in one
     * transaction: they ask before their own and make the request after it. */
    uint32_t check_only;
    uint32_t reserved;
} pbs_manager_request;

/* A status request for one of the plugin's own object types. An empty name asks for all; no attributes, for
 * all of them. */
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
    /* 0, or a number as that of a pbs_manager_request, from the same numbers: then status() may answer 15208
     * (try again), because a thread of the plugin's has yet to find out the answer; and it may answer with a
     * part. The host makes the same call again, with the same ticket, as it does there. */
    uint64_t ticket;
} pbs_status_request;

/* The reply under construction: the host's own type, filled through the host's reply_* functions. */
typedef struct pbs_reply pbs_reply;

/* ---- What the scheduler knows of the host: records, sent whole when made or changed. ---- */

enum pbs_resource_kind {
    PBS_RES_LONG = 1,
    PBS_RES_FLOAT = 2,    /* amounts are in millionths */
    PBS_RES_SIZE = 3,     /* amounts are in bytes */
    PBS_RES_DURATION = 4, /* amounts are in seconds */
    PBS_RES_BOOLEAN = 5,
    PBS_RES_STRING = 6,
    PBS_RES_STRING_ARRAY = 7
};

/* A resource definition. `id` is dense, from 0, and never reused by one host process. */
typedef struct pbs_resource_record {
    size_t size;
    uint32_t id;
    int32_t kind; /* enum pbs_resource_kind */
    pbs_str name;
    uint32_t consumable; /* an amount of a vnode, queue or server that running jobs use up */
    /* Only vnodes have it, so one that says nothing of it has none. Not so of resources that every PBS has.
     */
    uint32_t host_level;
} pbs_resource_record;

/* An amount of a resource; `text` is used by the string kinds, `number` by the others. */
typedef struct pbs_amount {
    uint32_t resource;
    uint32_t reserved;
    int64_t number;
    pbs_str text;
} pbs_amount;

/* A share of a vnode that a job holds or is to be given. */
typedef struct pbs_place {
    uint64_t vnode;
    const pbs_amount* amounts;
    size_t amount_count;
} pbs_place;

enum pbs_job_flag {
    PBS_JOB_INTERACTIVE = 1,
    PBS_JOB_RERUNNABLE = 2,
    PBS_JOB_HAS_COMMENT = 4,
    PBS_JOB_CHECKPOINTABLE = 8, /* the host can checkpoint it and run it again from there */
    /* A decision has suspended it (PBS_DECIDE_PREEMPT): its state is 'S', `places` are those that it has
     * given back and goes on on, and a decision to run it resumes it. A job that somebody else has suspended
     * hasn't got this flag: nothing is decided about it, and it holds what it has. */
    PBS_JOB_PREEMPTED = 16,
    /* Nothing is to be decided about preempting it: that has failed, by all methods, since it started, or it
     * is on its way out. */
    PBS_JOB_NOT_PREEMPTABLE = 32,
    /* It waits on another server, in a queue that jobs are pulled from into `queue` (peer_queues()). Of
     * decisions about it the host takes one to run it; it is pulled then, and told of as running on its
     * places until it has come, or hasn't. */
    PBS_JOB_ELSEWHERE = 64,
    /* It has run for longer than its soft walltime, which has been extended. */
    PBS_JOB_EXTENDED = 128,
    /* It is never one of the first jobs that wait, for which a place is kept (topjob_ineligible). */
    PBS_JOB_TOPJOB_INELIGIBLE = 256
};

/* A job. Handles are the host's, unique over one host process. */
typedef struct pbs_job_record {
    size_t size;
    uint64_t job;
    uint64_t sequence; /* the number in the job id: the last tie-break */
    pbs_str id;        /* "12.server" */
    pbs_str owner;     /* user name, without host */
    pbs_str group;
    pbs_str account;
    pbs_str project;
    pbs_str origin_queue; /* PBS_O_QUEUE: where it was submitted */
    pbs_str run_host;     /* the host it asks to run on, if any */
    uint64_t queue;
    /* 'Q', 'H', 'W', 'T', 'R', 'E', 'S', 'B' as in job_state; 'A': it couldn't be run when that was decided,
     * and is set aside until the host tells it as 'Q' again. */
    int32_t state;
    int32_t priority;
    uint32_t flags; /* bits of enum pbs_job_flag */
    uint32_t reserved;
    int64_t ctime;
    int64_t qtime;
    int64_t etime; /* 0: not eligible, or unknown */
    /* 0: not started. Of a job that was suspended, later by as long as it was: its walltime stood still. */
    int64_t stime;
    int64_t mtime;
    int64_t walltime; /* requested seconds; -1: none asked */
    const pbs_amount* requested;
    size_t requested_count;
    const pbs_place* places; /* held by a running job */
    size_t place_count;
    /* Use of a running job so far, of resources other than walltime, as far as the host knows. A host
     * that knows it only when the job has ended tells of the job once more, as running, before it tells that
     * it has ended: usage of fair shares is counted from it. */
    const pbs_amount* used;
    size_t used_count;
    /* A job in state 'S': for how many seconds it has run; the rest of its walltime is left. */
    int64_t elapsed;
    /* When a decision has preempted it, by whatever method, and it hasn't run since: it goes before others of
     * its level; else 0. */
    int64_t preempted_at;
    const pbs_place* kept; /* of a job with PBS_JOB_PREEMPTED: what it still holds of its vnodes */
    size_t kept_count;
    /* Servers with counts_eligible_time: since accrues_since the job's time counts as accrue_type, and
     * until then it had eligible_time seconds. Otherwise all time since etime is eligible. */
    int32_t accrue_type; /* enum pbs_accrue_type; of a running job any */
    uint32_t reserved3;
    int64_t eligible_time;
    int64_t accrues_since;
    /* For how many seconds the job is expected to run, if they aren't those after which it is ended
     * (walltime): its soft walltime, extended as long as it has run over it. All is planned with them but
     * what advance reservations have. 0: with walltime. */
    int64_t soft_walltime;
} pbs_job_record;

/* How the time of a job that hasn't started counts, with the numbers of the attribute accrue_type. */
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

/* How much jobs of an entity may use at once, of the server or of a queue. */
enum pbs_entity_kind {
    PBS_ENTITY_ALL = 0,
    PBS_ENTITY_USER = 1,
    PBS_ENTITY_GROUP = 2,
    PBS_ENTITY_PROJECT = 3
};
#define PBS_LIMIT_ON_JOBS UINT32_MAX
typedef struct pbs_entity_limit {
    int32_t entity;    /* enum pbs_entity_kind: all jobs together, or those of a user, group or project */
    uint32_t resource; /* PBS_LIMIT_ON_JOBS: how many jobs run */
    pbs_str name;      /* empty: of each that has no limit of its own; of PBS_ENTITY_ALL always */
    int64_t most;
    uint32_t soft; /* 1: jobs beyond it may be preempted, and that is all */
    uint32_t reserved;
} pbs_entity_limit;

/* When jobs of an execution queue start: the queue attribute execution_type. */
enum pbs_execution_type {
    PBS_EXECUTION_ANY = 0,
    PBS_EXECUTION_PRIME = 1,     /* in prime time only */
    PBS_EXECUTION_NON_PRIME = 2, /* outside prime time only */
    PBS_EXECUTION_DEDICATED = 3  /* in dedicated time only */
};

/* A queue. Limits that are not set are -1. */
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
    pbs_str node_group_key; /* names of resources, with commas; empty: the server's counts */
} pbs_queue_record;

/* PBS_VNODE_BUSY: the load of the host has reached its maximum ($max_load) and hasn't fallen below its ideal
 * load ($ideal_load) since. Policies with load_balancing start no jobs there, others do. */
enum pbs_vnode_state {
    PBS_VNODE_FREE = 0,
    PBS_VNODE_OFFLINE = 1,
    PBS_VNODE_DOWN = 2,
    PBS_VNODE_STALE = 4,
    PBS_VNODE_BUSY = 8
};

/* Whether jobs share the vnode: the vnode attribute `sharing`. */
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
    uint64_t queue; /* the only queue it serves; 0: any */
    pbs_str partition;
    const pbs_amount* resources_available;
    size_t resources_available_count;
    int64_t load_thousandths; /* load average; -1: unknown */
    int64_t
        system_time_thousandths; /* share of its CPU time that the host spends in the system; -1: unknown */
    int64_t load_at; /* when the load average was measured; 0: unknown. Policies with load_balancing
                        add the CPUs of jobs that started since */
    int64_t
        max_load_thousandths; /* of the load average: no jobs start there from this one on; 0 or less: any */
    uint32_t sharing;         /* one of enum pbs_vnode_sharing; others count as the first */
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
    int64_t backfill_depth;   /* deprecated server attribute; -1: not set */
    pbs_str job_sort_formula; /* deprecated server attribute */
    /* Resources that a job gives back when a decision suspends it: names of resources, with commas; empty:
     * all. */
    pbs_str suspend_releases;
    const pbs_entity_limit* limits;
    size_t limit_count;
    /* 1: eligible time is counted by what jobs wait for, and was since this instant (eligible_time_enable).
     */
    uint32_t counts_eligible_time;
    uint32_t reserved;
    int64_t eligible_since;
    /* Resources whose equal values make a placement set of vnodes: names, with commas. */
    pbs_str node_group_key;
    uint32_t node_group_enable; /* 0: neither this key nor those of queues count */
    uint32_t reserved2;
} pbs_server_record;

typedef struct pbs_sched_record {
    size_t size;
    pbs_str name; /* "default" always exists */
    uint32_t scheduling;
    uint32_t reserved;
    pbs_str partition;
    pbs_str sched_priv; /* absolute path */
    uint32_t own;       /* of hosts with pbs_sched: 1, this plugin schedules its jobs; 0, pbs_sched does */
    uint32_t reserved2;
    /* Hosts with pbs_sched: directives of qmgr, a line each, that set what policies have now of the
     * scheduler
     * ("set sched default preempt_order = \"SCR\""). The first start migrates them. */
    pbs_str directives;
} pbs_sched_record;

/* The state of a reservation, for the scheduler. */
enum pbs_reservation_state {
    PBS_RESERVATION_ASKED = 0,    /* it is to be decided about: PBS_DECIDE_CONFIRM or PBS_DECIDE_DENY */
    PBS_RESERVATION_CONFIRMED = 1 /* from `start` to before `end` it has its places, and nobody else */
};

/* One more time that a standing reservation has. */
typedef struct pbs_reservation_occurrence {
    int64_t start;
    int64_t end;
    const pbs_place* places; /* that it has */
    size_t place_count;
    uint32_t asked; /* 1: it is to be decided about, with the others of the reservation that are */
    uint32_t reserved;
} pbs_reservation_occurrence;

/* An advance reservation: places that jobs of its queue, and no others, have from `start` to before `end`.
 * The host starts and stops the queue, ends the jobs that are in it at the end, and tells that the
 * reservation is gone. One that is asked for again, because it is to have other times or places, keeps the
 * places that it has until it is confirmed with others. Handles are the host's, unique over one host process.
 */
typedef struct pbs_reservation_record {
    size_t size;
    uint64_t reservation;
    pbs_str id;     /* "R12.server" */
    uint64_t queue; /* where its jobs are */
    int32_t state;  /* enum pbs_reservation_state */
    int32_t reserved;
    int64_t start;
    int64_t end;
    const pbs_amount* requested; /* as a job's: select and place say what is asked for */
    size_t requested_count;
    const pbs_place* places; /* that it has */
    size_t place_count;
    /* A reservation that is asked for again: the time at which it has these places. */
    int64_t held_start;
    int64_t held_end;
    /* A standing reservation: its times after this one, which don't overlap, in their order. Those that
     * are asked for get places all together, or the reservation is denied. */
    const pbs_reservation_occurrence* later;
    size_t later_count;
    /* 1: of one that is asked for again, this time keeps its places, and only later ones are asked for. */
    uint32_t keeps_first;
    /* 1: of one that is asked for, it begins at the first instant at which there are places for it. From
     * `start` to `end` is how long it is then. */
    uint32_t soonest;
    /* The request of the later times, which is another when this time alone was altered; no list: the
     * same. */
    const pbs_amount* later_requested;
    size_t later_requested_count;
} pbs_reservation_record;

/* ---- A cycle and what it decides. ---- */

/* Why a cycle runs: the SCH_* codes of pbs_sched, and one more for a policy switch. */
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
    PBS_DECIDE_RUN = 1,     /* move to `queue` if it is elsewhere, set `set_resources`, start on `places` */
    PBS_DECIDE_COMMENT = 2, /* set the job's comment to `text` */
    PBS_DECIDE_REJECT = 3,  /* delete the job and tell its owner `text` */
    PBS_DECIDE_MOVE = 4,    /* move to `queue` and leave it there */
    /* The job is expected to start at `start`, on `places`; 0: nothing is expected any more. To be shown
     * while the job is queued: the host forgets it when the job starts, is held or in any other way leaves
     * the state 'Q', and is told again when that is over. For hosts that ask for it (PBS_TAKES_ESTIMATES). */
    PBS_DECIDE_ESTIMATE = 5,
    /* The running job makes room for the job `for_job`, by the first of `methods` that succeeds. The host
     * tells of it as of any change: as suspended (PBS_JOB_PREEMPTED), queued again or gone; and as running
     * and PBS_JOB_NOT_PREEMPTABLE while it is on its way out, and if no method succeeded. For hosts that ask
     * for it (PBS_TAKES_PREEMPTIONS). */
    PBS_DECIDE_PREEMPT = 6,
    /* From now on the job's time counts as `accrue_type`, until the host tells of another one. Of servers
     * with counts_eligible_time. */
    PBS_DECIDE_ACCRUE = 7,
    /* The reservation `job` has `places`, as those of RUN are, from its start to its end; `start`: when one
     * begins that was to begin as soon as possible. For hosts that ask for it (PBS_TAKES_RESERVATIONS), as
     * the next one. */
    PBS_DECIDE_CONFIRM = 8,
    PBS_DECIDE_DENY = 9 /* the reservation `job` can't be had, because of `text` */
};

/* How a job is preempted. */
enum pbs_preempt_method {
    PBS_PREEMPT_SUSPEND = 'S',    /* it stops, gives back what it holds, and goes on later where it was */
    PBS_PREEMPT_CHECKPOINT = 'C', /* it is checkpointed, ends and is queued again */
    PBS_PREEMPT_REQUEUE = 'R',    /* it ends and is queued again */
    PBS_PREEMPT_DELETE = 'D'
};

typedef struct pbs_decision {
    size_t size;
    int32_t kind;
    int32_t reserved;
    uint64_t job;
    uint64_t queue;
    pbs_str text; /* RUN: the comment to set, such as "Started on ..." */
    const pbs_amount* set_resources;
    size_t set_resource_count;
    const pbs_place* places; /* one for each chunk that the job asks for, in that order; see `joined` */
    size_t place_count;
    int64_t start; /* ESTIMATE; CONFIRM: 0, its own */
    /* For each place: 1, it is another piece of the chunk that the place before it is of, on another vnode of
     * the same host; 0, a chunk begins. Null: each place is a chunk. For hosts that ask for it
     * (PBS_TAKES_PIECES); the others are given no chunk in pieces. CONFIRM: 2, a chunk begins, the first one
     * of the next time that was asked for of a standing reservation. */
    const uint8_t* joined;
    uint64_t for_job;   /* PREEMPT: the job that room is made for */
    uint8_t methods[4]; /* PREEMPT: of enum pbs_preempt_method, in the order in which they are tried; 0: no
                           more */
    /* RUN: 1, decisions before this one preempt jobs, and this job may use what they held. It starts once all
     * of these have given that back, and not at all if one of them couldn't be preempted. Until then the host
     * tells of it as of a running job on these places, so that nobody else gets them. */
    uint32_t after_preemptions;
    int32_t accrue_type; /* ACCRUE: PBS_ACCRUE_INELIGIBLE or PBS_ACCRUE_ELIGIBLE */
} pbs_decision;

/* Kinds of decisions that a host takes: it is given those that it asks for. */
enum pbs_takes {
    PBS_TAKES_ESTIMATES = 1,    /* decisions of that kind */
    PBS_TAKES_PIECES = 2,       /* chunks in pieces on several vnodes of a host (pbs_decision.joined) */
    PBS_TAKES_PREEMPTIONS = 4,  /* decisions of that kind, and those that resume jobs */
    PBS_TAKES_RESERVATIONS = 8, /* decisions about reservations that are asked for */
    PBS_TAKES_ROOM_MADE =
        16 /* of place_job(): decisions to preempt others for the job, before that to run it */
};

typedef struct pbs_cycle_request {
    size_t size;
    int64_t now;
    pbs_str sched;
    int32_t trigger; /* enum pbs_cycle_trigger */
    int32_t reserved;
    uint64_t takes; /* bits of enum pbs_takes */
} pbs_cycle_request;

/* A job that place_job() is to find a place for. */
typedef struct pbs_place_request {
    size_t size;
    int64_t now;
    uint64_t job;
    uint64_t takes; /* bits of enum pbs_takes */
} pbs_place_request;

/* The decisions stay valid until the next call of start_cycle() or stop(). They are to be applied in
 * order; the host tells of what came of each through job_changed and job_removed. Between start_cycle() and
 * their application the host may have changed what they are about: a decision about a job that isn't as it
 * was then is to be dropped. */
typedef struct pbs_cycle_result {
    size_t size;
    const pbs_decision* decisions; /* an array */
    size_t decision_count;
    int64_t jobs_considered;
    /* Which classes of events the scheduler's log has, by the policy in force: bits as in the server's
     * log_events. -1: as in the cycle before, because nothing was decided. */
    int64_t log_event;
} pbs_cycle_result;

/* ---- The two tables. ---- */

enum pbs_log_level { PBS_LOG_ERROR = 1, PBS_LOG_WARNING = 2, PBS_LOG_INFO = 3, PBS_LOG_DEBUG = 4 };

/* The host's functions. `context` is the host's, given back in every call. */
typedef struct pbs_host {
    size_t size;
    uint32_t abi_version;
    uint32_t reserved;
    void* context;
    pbs_str home;        /* PBS_HOME, absolute */
    pbs_str server_name; /* as in job ids */
    pbs_str time_zone;   /* the server's zone, an IANA name; empty: the system's local time */
    int64_t now;         /* the host's clock at the time of the call of init */

    /* Writes a line to the server's log. `object` names what it is about: a policy, a job id. */
    void (*log)(void* context, int32_t level, pbs_str object, pbs_str message);

    /* Fill a reply. An error ends it: code is a PBSE_ number. A warning leaves the request successful; its
     * text reaches the client. reply_object may be called any number of times. reply_attr is for
     * status_attrs: one more attribute of the object that the host is describing. */
    void (*reply_error)(pbs_reply* reply, int32_t code, pbs_str text);
    void (*reply_warning)(pbs_reply* reply, pbs_str text);
    void (*reply_object)(pbs_reply* reply, int32_t object_type, pbs_str name, const pbs_attr* attrs,
                         size_t attr_count);
    void (*reply_attr)(pbs_reply* reply, const pbs_attr* attr);

    /* As reply_object, for an object that the plugin keeps in the form that it has in a status reply of the
     * batch protocol, in DIS: type, name, number of attributes, and of each the length of its texts, its
     * name, its resource, its value and its operation. Null: the host gets such objects by reply_object. */
    void (*reply_encoded)(pbs_reply* reply, pbs_str object);

    /* The cycle that start_cycle() left running is over: finish_cycle() is to be called. Called from a thread
     * of the plugin's, once for each such cycle, maybe before start_cycle() has returned, or during stop():
     * the host does no more in it than to wake its own thread. Null: it isn't told. */
    void (*cycle_finished)(void* context);

    /* The work of a thread of the plugin's for a status request is over: a start_cycle() that was answered
     * with 15208 succeeds now, next_deadline() is to be asked again, and so is what was asked with tickets.
     * Called as cycle_finished() is. The plugin does nothing in a thread for the status requests of a host
     * that leaves this null. */
    void (*work_finished)(void* context);

    /* 1: the host has pbs_sched of OpenPBS, which schedules by the files in each scheduler's sched_priv. The
     * plugin makes them from policies of algorithm external, and has pbs_sched read them. Of schedulers that
     * aren't this plugin's `own` (pbs_sched_record) no cycles are asked for, and nobody is told of settings
     * that this plugin's scheduler doesn't act on. */
    uint32_t has_pbs_sched;
    /* 1: the host provisions vnodes. The plugin refuses a provision_policy other than the default where the
     * host doesn't, but in policies of algorithm external. */
    uint32_t provisions;
    /* 1: the host pulls jobs from other servers (PBS_JOB_ELSEWHERE). Who sets peer_queue where the host
     * doesn't, is told that it has no effect. */
    uint32_t pulls;
    uint32_t reserved2;
} pbs_host;

/* Bits that tick() returns. */
enum pbs_wanted {
    PBS_WANT_NOTHING = 0,
    PBS_WANT_CYCLE = 1,
    PBS_WANT_POLICY_SWITCH = 2 /* with PBS_WANT_CYCLE: the cycle's trigger is PBS_SCH_POLICY_SWITCH */
};

/* The plugin's functions. The plugin fills it in init; `self` is given back in every call. Every function is
 * set. The order of a host's life: init; the *_changed events for all that exists, beginning with
 * resource_defined, server_changed and sched_changed; start; then anything; stop. */
typedef struct pbs_plugin {
    size_t size;
    uint32_t abi_version;
    uint32_t reserved;
    void* self;
    pbs_str name;
    pbs_str version;

    /* Opens the store, migrates legacy files if the store is new, and is ready for requests. On an error
     * `error` (a buffer of error_size bytes) holds one line, and the host refuses to start; 15010: it is the
     * store, in the database under the host's home, that can't be used. */
    int32_t (*start)(void* self, int64_t now, char* error, size_t error_size);
    /* Saves what is kept in memory and frees everything. No call follows. */
    void (*stop)(void* self, int64_t now);

    /* Is this attribute of a host's object (server, queue, sched) the plugin's? 1 or 0. The host takes such
     * attributes out of a Manager request and passes them to manager(). */
    int32_t (*owns_attribute)(void* self, int32_t object_type, pbs_str attribute);

    /* Executes a Manager request in one transaction: for the plugin's own object types; for the owned
     * attributes of server, queue and sched objects; when a queue or sched is created, with those that it is
     * given, or deleted; and when a resource is deleted: an object that names the queue or resource refuses
     * that (15027). What the host itself changes is in host_changes, if it wants that in the history and be
     * able to go back: written in the same transaction, for objects of any type, and then attributes of the
     * plugin's aren't needed. A change of the configuration (PBS_OBJ_CONFIGURATION) that takes back or
     * imports host objects has them there too; with a ticket, the events that tell of them come after it,
     * else before it. The server's own job_sort_formula is given to it when it is set, to be checked and no
     * more. The host calls it after its own part is checked and before it commits that. The reply tells
     * errors and warnings; the result is the error's number or 0.
     *
     * Without a ticket (see pbs_manager_request) the host waits however long it takes; while the request of
     * another ticket is under way (busy()), what would change something is refused (15027).
     *
     * A change of the plugin's own object types may be written and not yet durable when this returns: the
     * host tells no client of it before commit() has returned 0. */
    int32_t (*manager)(void* self, const pbs_manager_request* request, pbs_reply* reply);
    /* Describes objects of the plugin's own types. An unknown name is error 15212. Of all objects of a type
     * `extend` may ask for a page, "after=NAME", the first one with an empty name: the next ones in the order
     * of names, as many as keep nobody waiting, and if there are more, by reply_attr an attribute `after`
     * with what the next page is after. A record comes in parts where the request has a ticket: if there is
     * more of it, there is by reply_attr an attribute `offset`, and the same ticket with the extend string
     * "offset=THAT" asks for the next one. An explanation or a record may take as long as a cycle: without a
     * ticket the host waits however long that is. For the configuration and the history `extend` says what is
     * wanted
     * ("revision=12", "part=policies"; with "part=host" the configuration is one object for each of the
     * host's that has changed since that revision, with an attribute `attributes` as in pbs_host_change, and
     * with "after=" too as many as keep nobody waiting, and by reply_attr `after` for the next ones: of an
     * object that comes again, the first one counts; with
     * "part=recorded" one for each that it has a change of, with `before`, `after` and `change` of the last
     * one). */
    int32_t (*status)(void* self, const pbs_status_request* request, pbs_reply* reply);
    /* Adds the plugin's attributes of one host object (through reply_attr). */
    void (*status_attrs)(void* self, int64_t now, int32_t object_type, pbs_str name, pbs_reply* reply);

    /* Events. A record replaces what was known under its handle or name. */
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

    /* The next instant at which tick() has something to do; INT64_MAX: none. Ask again after any call. */
    int64_t (*next_deadline)(void* self, int64_t now);
    /* Does what is due (policy switch, decay, saving). Returns bits of enum pbs_wanted. Harmless when early.
     */
    uint32_t (*tick)(void* self, int64_t now);
    /* The wants of the last tick() for one scheduler: bits of enum pbs_wanted. */
    uint32_t (*wanted)(void* self, pbs_str sched);

    /* Event: a resource definition is gone. */
    void (*resource_removed)(void* self, pbs_str name);

    /* Makes durable, at once, what manager() left written since the last commit(), and says what became of
     * it: on an error nothing of all that has changed, and `error` (a buffer of error_size bytes) holds one
     * line. Any other call may have done the work of it already; its result is here still. */
    int32_t (*commit)(void* self, int64_t now, char* error, size_t error_size);

    /* Begins a scheduling cycle of one scheduler on what the plugin knows now. A short one is over when this
     * returns (`running` 0); a long one
     * (`running` 1) runs in a thread of the plugin's, which calls cycle_finished() if the host has that. In
     * both cases finish_cycle() is to follow, before another cycle begins; after an error it is not. In the
     * meantime the host goes on calling whatever else it has to: what events and requests change counts for
     * the next cycle, and nothing is due: next_deadline() is to be asked again after finish_cycle(). Calls
     * that need the scheduler itself wait for the thread: finish_cycle() and stop(), and without a ticket
     * status() of an explanation or a record.
     *
     * 15208 (try again): the thread is at work on a status request with a ticket, and goes on to no other one
     * before it. The host makes the call again after work_finished(), and for the time being none with such
     * tickets, so that the cycle comes first. finish_cycle() lets one of those that wait begin: cycles and
     * status requests take turns. */
    int32_t (*start_cycle)(void* self, const pbs_cycle_request* request, int32_t* running);
    /* The cycle's decisions. Waits for it if it still runs. */
    int32_t (*finish_cycle)(void* self, int64_t now, pbs_cycle_result* result);

    /* The host doesn't ask again with this ticket: what the plugin did for it is taken back or thrown away,
     * without keeping anybody waiting. A ticket that isn't under way is left alone. */
    void (*abandon)(void* self, uint64_t ticket);

    /* Finds a place for one job that isn't running, because an operator wants it started (qrun). Whether
     * cycles run, holds, order, limits and times don't matter; what vnodes, the job's queue and the server
     * have of resources does, and how the job wants to be placed. `result` gets one decision: RUN in the
     * queue that it is in; or COMMENT, to be set: why there is no place now. For hosts that ask for it
     * (PBS_TAKES_ROOM_MADE) PREEMPT may come before RUN. They are valid until the next call of place_job() or
     * stop(). Those of a cycle stay valid; the host sees to it that the two don't take the
     * same room. 15208 (try again): a cycle runs in a thread, and finish_cycle() has to come first. 15001:
     * there is no such job. */
    int32_t (*place_job)(void* self, const pbs_place_request* request, pbs_cycle_result* result);

    /* A warning (reply_warning) for each of these attributes of a host's object that the policy in force at
     * `now` doesn't act on. To be asked when they are set; of queues. `partition`: the queue's. */
    void (*not_acted_on)(void* self, int64_t now, int32_t object_type, pbs_str name, pbs_str partition,
                         const pbs_attr* attrs, size_t attr_count, pbs_reply* reply);

    /* Is the request of a ticket under way, so that a change without one would be refused? 1 or 0. */
    int32_t (*busy)(void* self);

    /* Would this plugin's cycles schedule the jobs of the scheduler, if it were its own? 1; or 0: its policy
     * is of algorithm external, so that pbs_sched does. */
    int32_t (*schedules)(void* self, pbs_str sched);

    /* Which queues of other servers the policy in force at `now` pulls jobs from for this scheduler: by
     * reply_attr an attribute peer_queue for each, "QUEUE QUEUE@SERVER", the one here and the one there. */
    void (*peer_queues)(void* self, int64_t now, pbs_str sched, pbs_reply* reply);

    /* Events: a reservation, and that one is gone. */
    void (*reservation_changed)(void* self, const pbs_reservation_record* record);
    void (*reservation_removed)(void* self, uint64_t reservation);
} pbs_plugin;

/* The shared object's only exported function. Returns 0, or a PBS error number when the versions do not
 * fit, with a line in `error`. The host struct must stay valid until stop(). */
int32_t pbs_policy_plugin_init(const pbs_host* host, pbs_plugin* plugin, char* error, size_t error_size);
typedef int32_t (*pbs_policy_plugin_init_fn)(const pbs_host* host, pbs_plugin* plugin, char* error,
                                             size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
