// Defines the attributes that queues and the server have in the same form: rows of both tables.
#pragma once

#include "ifl/attributes/attribute_table.h"

namespace pbs::ifl {

namespace detail {

using enum AttributeType;

inline constexpr AttributeDef kSharedRows[] = {
    {"comment", text, kNoUserSet, "", "A remark, for people"},
    {"max_array_size", integer, kNoUserSet, "",
     "How many subjobs a job array may have; not set on the server: 10000"},
    {"max_group_res", resources, kNoUserSet, "",
     "How much of a resource the running jobs of a group may use together"},
    {"max_group_res_soft", resources, kNoUserSet, "",
     "How much of a resource a group may use before its jobs may be preempted"},
    {"max_group_run_soft", integer, kNoUserSet, "",
     "How many jobs of a group may run before they may be preempted"},
    {"max_queued", limits, kNoUserSet, "",
     "How many jobs may be queued or running: of a user, a group, a project or all"},
    {"max_queued_res", resource_limits, kNoUserSet, "",
     "How much of a resource queued and running jobs may ask for together"},
    {"max_run", limits, kNoUserSet, "",
     "How many jobs may run at once: of a user, a group, a project or all"},
    {"max_run_res", resource_limits, kNoUserSet, "", "How much of a resource running jobs may use together"},
    {"max_run_res_soft", resource_limits, kNoUserSet, "",
     "How much of a resource running jobs may use before they may be preempted"},
    {"max_run_soft", limits, kNoUserSet, "", "How many jobs may run before they may be preempted"},
    {"max_user_res", resources, kNoUserSet, "",
     "How much of a resource the running jobs of a user may use together"},
    {"max_user_res_soft", resources, kNoUserSet, "",
     "How much of a resource a user may use before his jobs may be preempted"},
    {"max_user_run_soft", integer, kNoUserSet, "",
     "How many jobs of a user may run before they may be preempted"},
    {"node_group_key", list, kNoUserSet, "",
     "The resources whose equal values make a placement set of vnodes"},
    {"queued_jobs_threshold", limits, kNoUserSet, "",
     "How many jobs may be queued: of a user, a group, a project or all"},
    {"queued_jobs_threshold_res", resource_limits, kNoUserSet, "",
     "How much of a resource queued jobs may ask for together"},
    {"require_cred", text, kManagerOnlySet | openpbs_only, "", "The kind of credential that jobs need"},
    {"require_cred_enable", boolean, kManagerOnlySet | openpbs_only, "",
     "Whether jobs need the credential that require_cred names"},
};

}  // namespace detail

// The row of a name. Without such a row the code doesn't compile.
consteval AttributeDef shared(std::string_view name) {
    for (const AttributeDef& row : detail::kSharedRows)
        if (row.name == name) return row;
    throw "no such row";  // ends the compilation
}

}  // namespace pbs::ifl
