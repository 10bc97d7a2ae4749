// Reads jobs, job arrays and subjobs from their attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "cluster/fields.h"

namespace pbs::cluster {

// A job whose texts are strings, or views of the attributes that it was read from.
template <class Text>
struct BasicJob {
    using List = std::conditional_t<std::is_same_v<Text, std::string>, ResourceList, ResourceViews>;

    Text id;
    Text owner;
    Text submitter;  // Job_Owner, with the host
    Text group;
    Text account;
    Text project;
    std::string origin_queue;
    Text queue;
    Text comment;
    char state = 'Q';  // as the server reports it
    std::int32_t substate = 0;
    std::int32_t priority = 0;
    bool interactive = false;
    bool rerunnable = true;
    bool checkpointable = true;
    bool topjob_ineligible = false;  // no place is reserved for the job
    std::int64_t ctime = 0;
    std::int64_t qtime = 0;
    std::int64_t etime = 0;
    std::int64_t stime = 0;
    std::int64_t mtime = 0;
    std::int64_t rank = 0;  // when the job was queued, in microseconds; qorder exchanges the ranks of two
                            // jobs
    List requested;
    Text chunks;  // schedselect: the request, with the chunks' defaults
    Text exec_vnode;
    List used;
    // The resources that the job gave back on its vnodes when it was suspended to be preempted; empty: all.
    Text released;
    std::int64_t preempted_at = 0;  // when it was preempted, by any method; 0: never, or not since its last
                                    // run
    std::int32_t accrue_type = 0;
    std::int64_t eligible_time = 0;  // in seconds
    std::int64_t accrues_since = 0;  // the instant at which eligible_time had this value
    // For arrays:
    bool array = false;
    Text queued;                               // indices of the subjobs that wait, such as "3-9:2,12"
    std::optional<std::int64_t> most_running;  // subjobs at a time

    // Returns whether mom has reported that the job's processes have begun.
    bool begun() const;
    // Returns whether a scheduler has suspended the job.
    bool preempted() const;
    // Returns whether the job has places on vnodes: it runs, ends, is suspended (even if it has given its
    // resources back), or its files are being staged in. An array has none; its subjobs have.
    bool runs() const;
    // The seconds for which the job is expected to run by its soft walltime; 0: it has none. Whenever the job
    // overruns this time, it is extended by the soft walltime again, up to the walltime.
    std::int64_t soft_walltime(std::int64_t now) const;
    bool is_extended(std::int64_t now) const;
    // The seconds after which the job is ended; -1: never. A waiting job with min_walltime requests the
    // longest walltime that it may get; its start decides the walltime.
    std::int64_t walltime() const;

    // Returns whether the jobs agree in everything by which a scheduler decides. The resources that they have
    // used, their comments and the times of their changes may differ.
    bool is_like(const BasicJob& other) const;
};

using Job = BasicJob<std::string>;
using JobView = BasicJob<std::string_view>;

// Reads a job. `asked_at`: the time of the query, in seconds since the Epoch.
Job job_of(std::string_view id, AttributeViews attributes, std::int64_t asked_at);
// Reads a job without copying its texts: the view is valid as long as the attributes and the id are.
JobView view_of_job(std::string_view id, AttributeViews attributes, std::int64_t asked_at);
// The attributes that a status request has to name, so that job_of() gets all that it reads.
ifl::Attributes job_attributes();

// Return the first index of a list such as "3-9:2,12", and the list without one of its indices.
std::string first_index(std::string_view indices);
std::string without_index(std::string_view indices, std::int64_t index);
// Returns the number of indices of the list.
std::int64_t number_of_indices(std::string_view indices);
// Returns whether the list has the index.
bool has_index(std::string_view indices, std::int64_t index);
// The id of a subjob: "12[3]" of the array "12[]" and the index.
std::string subjob_id(std::string_view array, std::string_view index);
// The id of a subjob's array; empty for any other job.
std::string array_of(std::string_view id);
// The number at the beginning of an id; 0 if there is none.
std::uint64_t number_in(std::string_view id);

}  // namespace pbs::cluster
