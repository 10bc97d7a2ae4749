// The attributes of PBS's queues. The attribute time_window, which this project adds to them, is in objects/.
#include <array>

#include "ifl/attributes/attribute_table.h"
#include "ifl/attributes/shared_rows.h"

namespace pbs::ifl {
namespace {

using enum AttributeType;

constexpr std::string_view kQueueTypeWords[] = {"execution", "route", "execution_prime",
                                                "execution_non_prime", "execution_dedicated"};

constexpr auto kQueueRows = std::to_array<AttributeDef>({
    {"queue_type", text, kNoUserSet, "", "Whether jobs run from the queue or are moved on by it",
     kQueueTypeWords},
    {"execution_type", text, kNoUserSet, "",
     "When jobs of the queue start: in prime time, outside it or in dedicated time only; not "
     "set: any time",
     kQueueTypeWords},
    {"Priority", integer, kNoUserSet, "",
     "The queue's place among the others, -1024 to 1023; the higher goes first"},
    {"max_queuable", integer, kNoUserSet, "", "How many jobs may be in the queue"},
    shared("max_array_size"),
    {"total_jobs", integer, kReadOnly | computed, "", "How many jobs are in the queue"},
    {"state_count", text, kReadOnly | computed, "", "How many of the queue's jobs are in each state"},
    {"max_running", integer, kNoUserSet, "", "How many jobs of the queue may run at once"},
    {"acl_host_enable", boolean, kNoUserSet, "False",
     "Whether only the hosts that acl_hosts allows may use the queue"},
    {"acl_hosts", acl, kNoUserSet, "",
     "The hosts that may use the queue, if acl_host_enable is True: host, *.domain, or -host "
     "to keep one out"},
    {"acl_user_enable", boolean, kNoUserSet, "False",
     "Whether only the users that acl_users allows may use the queue"},
    {"acl_users", acl, kNoUserSet, "",
     "The users who may use the queue, if acl_user_enable is True: user@host, or -user@host "
     "to keep one out"},
    {"from_route_only", boolean, kManagerOnlySet, "False",
     "Whether jobs come only from route queues and by qmove, not by qsub"},
    {"resources_max", resources, kNoUserSet, "", "The most of a resource that a job may ask for"},
    {"resources_min", resources, kNoUserSet, "", "The least of a resource that a job may ask for"},
    {"resources_default", resources, kNoUserSet, "", "What a job gets of a resource that it doesn't name"},
    shared("comment"),
    {"acl_group_enable", boolean, kNoUserSet, "False",
     "Whether only the groups that acl_groups allows may use the queue"},
    {"acl_groups", acl, kNoUserSet, "",
     "The groups that may use the queue, if acl_group_enable is True: group, or -group to "
     "keep one out"},
    {"default_chunk", resources, kNoUserSet, "",
     "What each chunk of a select gets of a resource that it doesn't name"},
    {"resources_available", resources, kNoUserSet, "",
     "How much of a resource the queue's running jobs may use together"},
    {"resources_assigned", resources, kReadOnly | computed, "", "What the running jobs of the queue use"},
    {"kill_delay", duration, kNoUserSet, "", "How long after SIGTERM a job that is deleted is killed"},
    {"max_user_run", integer, kNoUserSet, "", "How many jobs of a user may run at once in the queue"},
    {"max_group_run", integer, kNoUserSet, "", "How many jobs of a group may run at once in the queue"},
    {"hasnodes", boolean, kReadOnly | computed, "", "Whether vnodes belong to the queue"},
    {"backfill_depth", integer, kNoUserSet, "",
     "How many of the queue's jobs that can't start are backfilled around; comes before the "
     "policy's"},
    {"route_destinations", list, kManagerOnlySet, "",
     "The queues that a route queue moves its jobs to: the first that takes a job"},
    {"route_held_jobs", boolean, kNoUserSet, "False", "Whether a route queue moves held jobs too"},
    {"route_waiting_jobs", boolean, kNoUserSet, "False",
     "Whether a route queue moves jobs that wait for their execution time too"},
    {"route_retry_time", integer, kNoUserSet, "30",
     "After how many seconds a job that no destination took is offered again"},
    {"route_lifetime", integer, kNoUserSet, "",
     "For how many seconds a job may stay in a route queue; 0: for ever"},
    {"enabled", boolean, kNoUserSet, "", "Whether the queue takes jobs"},
    {"started", boolean, kNoUserSet, "",
     "Whether jobs of the queue are started, or moved on by a route queue"},
    {"partition", text, kManagerOnlySet, "",
     "The scheduler with this partition schedules the queue; not set: the default scheduler"},
    shared("max_group_res"),
    shared("max_group_res_soft"),
    shared("max_group_run_soft"),
    shared("max_queued"),
    shared("max_queued_res"),
    shared("max_run"),
    shared("max_run_res"),
    shared("max_run_res_soft"),
    shared("max_run_soft"),
    shared("max_user_res"),
    shared("max_user_res_soft"),
    shared("max_user_run_soft"),
    shared("queued_jobs_threshold"),
    shared("queued_jobs_threshold_res"),
    shared("node_group_key"),
    // only in OpenPBS's server
    {"alt_router", boolean, kManagerOnlySet | openpbs_only, "",
     "Whether a program of the site chooses the destinations of a route queue"},
    {"checkpoint_min", integer, kNoUserSet | openpbs_only, "",
     "How many minutes there are at least between two checkpoints of a job"},
    {"rendezvous_retry", integer, kNoUserSet | openpbs_only, "",
     "How often the parts of a job spread over hosts look for each other"},
    shared("require_cred"),
    shared("require_cred_enable"),
    {"reserved_expedite", integer, kNoUserSet | openpbs_only, "", "Not used by PBS"},
    {"reserved_sync", integer, kNoUserSet | openpbs_only, "", "Not used by PBS"},
});

}  // namespace

const AttributeTable& queue_table() {
    static constexpr AttributeTable kTable{kQueueRows};
    return kTable;
}

}  // namespace pbs::ifl
