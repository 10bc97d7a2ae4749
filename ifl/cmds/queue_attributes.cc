// The attributes of queues; time_window is in objects/.

#include "ifl/cmds/host_attribute_tables.h"
#include "ifl/cmds/shared_attributes.h"

namespace pbs::cmds {

namespace {

using enum HostType;
using enum Setter;
using enum Where;

constexpr std::string_view kQueueType[] = {"execution", "route", "execution_prime", "execution_non_prime",
                                           "execution_dedicated"};

constexpr HostAttribute kTable[] = {
    {"acl_group_enable", boolean, operators, here, "False",
     "Whether acl_groups says which groups may use the queue"},
    {"acl_groups", acl, operators, here, "",
     "The groups that may use the queue, if acl_group_enable is True: group, or -group to keep one out"},
    {"acl_host_enable", boolean, operators, here, "False",
     "Whether acl_hosts says from which hosts the queue may be used"},
    {"acl_hosts", acl, operators, here, "",
     "The hosts from which the queue may be used, if acl_host_enable is True"},
    {"acl_user_enable", boolean, operators, here, "False", "Whether acl_users says who may use the queue"},
    {"acl_users", acl, operators, here, "",
     "The users who may use the queue, if acl_user_enable is True: user@host, or -user@host to keep one out"},
    {"alt_router", boolean, managers, openpbs, "",
     "Whether a program of the site chooses the destinations of a route queue"},
    {"backfill_depth", integer, operators, here, "",
     "How many of the queue's jobs that can't start are backfilled around; comes before the policy's"},
    {"checkpoint_min", integer, operators, openpbs, "",
     "How many minutes there are at least between two checkpoints of a job"},
    shared("comment"),
    {"default_chunk", resources, operators, here, "",
     "What each chunk of a select gets of a resource that it doesn't name"},
    {"enabled", boolean, operators, here, "", "Whether the queue takes jobs"},
    {"execution_type", text, operators, here, "",
     "When jobs of the queue start: in prime time, outside it or in dedicated time only; not set: any time",
     kQueueType},
    {"from_route_only", boolean, managers, here, "False",
     "Whether jobs come only from route queues and by qmove, not by qsub"},
    {"hasnodes", boolean, nobody, here, "", "Whether vnodes belong to the queue"},
    {"kill_delay", duration, operators, here, "", "How long after SIGTERM a job that is deleted is killed"},
    shared("max_array_size"),
    shared("max_group_res"),
    shared("max_group_res_soft"),
    {"max_group_run", integer, operators, here, "", "How many jobs of a group may run at once in the queue"},
    shared("max_group_run_soft"),
    {"max_queuable", integer, operators, here, "", "How many jobs may be in the queue"},
    shared("max_queued"),
    shared("max_queued_res"),
    shared("max_run"),
    shared("max_run_res"),
    shared("max_run_res_soft"),
    shared("max_run_soft"),
    {"max_running", integer, operators, here, "", "How many jobs of the queue may run at once"},
    shared("max_user_res"),
    shared("max_user_res_soft"),
    {"max_user_run", integer, operators, here, "", "How many jobs of a user may run at once in the queue"},
    shared("max_user_run_soft"),
    shared("node_group_key"),
    {"partition", text, managers, here, "",
     "The scheduler with this partition schedules the queue; not set: the default scheduler"},
    {"Priority", integer, operators, here, "",
     "The queue's place among the others, -1024 to 1023; the higher goes first"},
    {"queue_type", text, operators, here, "", "Whether jobs run from the queue or are moved on by it",
     kQueueType},
    shared("queued_jobs_threshold"),
    shared("queued_jobs_threshold_res"),
    {"rendezvous_retry", integer, operators, openpbs, "",
     "How often the parts of a job spread over hosts look for each other"},
    shared("require_cred"),
    shared("require_cred_enable"),
    {"reserved_expedite", integer, operators, openpbs, "", "Not used by PBS"},
    {"reserved_sync", integer, operators, openpbs, "", "Not used by PBS"},
    {"resources_assigned", resources, nobody, here, "", "What the running jobs of the queue use"},
    {"resources_available", resources, operators, here, "",
     "How much of a resource the queue's running jobs may use together"},
    {"resources_default", resources, operators, here, "",
     "What a job gets of a resource that it doesn't name"},
    {"resources_max", resources, operators, here, "", "The most of a resource that a job may ask for"},
    {"resources_min", resources, operators, here, "", "The least of a resource that a job may ask for"},
    {"route_destinations", list, managers, here, "",
     "The queues that a route queue moves its jobs to: the first that takes a job"},
    {"route_held_jobs", boolean, operators, here, "False", "Whether a route queue moves held jobs too"},
    {"route_lifetime", integer, operators, here, "",
     "For how many seconds a job may stay in a route queue; 0: for ever"},
    {"route_retry_time", integer, operators, here, "30",
     "After how many seconds a job that no destination took is offered again"},
    {"route_waiting_jobs", boolean, operators, here, "False",
     "Whether a route queue moves jobs that wait for their execution time too"},
    {"started", boolean, operators, here, "",
     "Whether jobs of the queue are started, or moved on by a route queue"},
    {"state_count", text, nobody, here, "", "How many of the queue's jobs are in each state"},
    {"total_jobs", integer, nobody, here, "", "How many jobs are in the queue"},
};

}  // namespace

std::span<const HostAttribute> queue_attributes() {
    return kTable;
}

}  // namespace pbs::cmds
