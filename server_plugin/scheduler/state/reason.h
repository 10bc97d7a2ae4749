// The reason why a job doesn't start: a value that the check makes, and that is converted to text once.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rrule/zone.h"
#include "server_plugin/scheduler/placement/vnodes.h"

namespace pbs::sched {

enum class ReasonCode : std::uint8_t {
    nothing,  // the job may start
    // For the codes up to allocations_unread the job is rejected, unless the comment of the code says
    // otherwise.
    fits_no_queue,       // a: nodes, b: walltime; below 0: the job asks for none
    no_batch_queues,     // the job isn't rejected for this reason and the next one
    no_such_queue,       // object: the name
    small_job_walltime,  // a: limit in seconds, b: small_job_max
    large_job_walltime,
    over_allocation,  // object: the group; a, b: used and allocated, in thousandths of node-hours
    no_allocation,    // object: the group; the job isn't rejected for this reason and the next one
    allocations_unread,
    // Refusals by the queue.
    above_queue_maximum,  // object: the resource, a: asked, b: limit
    below_queue_minimum,
    above_queue_nodes,  // a: nodes asked, b: node limit
    not_in_acl,
    queue_not_started,
    no_scheduler,         // object: the queue's partition
    queue_nodes_busy,     // a: nodes asked, b: nodes free
    queue_resource_busy,  // object: the resource, a: asked, b: free, c: in all
    queue_closed,         // a: the instant at which the queue opens, 0: never
    suspended_until,      // object: the name of the time_window; a: the instant at which it opens, 0: never
    queue_drained,        // object: the job it is drained for
    // Only jobs of at least `a` nodes, or of at most `b` seconds, may start; negative: no such bound.
    fragments,
    // Refusals by time. If the reason is that the job would run for too long, c is 1 for a job without a
    // walltime.
    dedicated_time,  // a: the end of dedicated time
    dedicated_unknown,
    into_dedicated,   // a: the start of dedicated time
    not_dedicated,    // a: the start of the next dedicated time, 0: none
    past_dedicated,   // a: the end of dedicated time
    prime_limit,      // a: limit in seconds
    nonprime_drain,   // a: start of non-prime time
    prime_only,       // a: the instant at which prime time begins, 0: never
    non_prime_only,   // a: the instant at which prime time ends, 0: never
    prime_boundary,   // a: the boundary, b: 1 if prime time begins there
    window_boundary,  // a: the end of the queue's time_window
    // Refusals by the server.
    server_resource_busy,  // object: the resource, a: asked, b: free, c: in all
    user_job_limit,        // a: MAX_USER_RUN_JOBS
    subjob_limit,          // a: max_run_subjobs of the policy
    // object: "quota (rule): resource", a: asked, b: used, c: limit. For a text, a and c are the numbers of
    // the texts.
    over_quota,
    above_quota,           // as over_quota; the job can never meet the limit
    dedicated_jobs_limit,  // a: MAX_DEDICATED_JOBS
    // Refusals by hosts.
    no_hosts,         // object: the host's name
    hosts_busy,       // object: the request, a: the pool
    hosts_too_small,  // as hosts_busy
    set_busy,         // object: the name of the placement set that was tried first
    sets_too_small,   // the job fits no placement set, and may not be in several
    hosts_loaded,     // a: percent
    hosts_at_max_load,
    hosts_at_threshold,  // object: the load, a: its value in millionths, b: the threshold, c:
                         // threshold_code()
    hosts_reserved,      // the vnodes with room have reserved_resources
    queue_reserved,      // object: the resource of reserved_resources that the queue has
    hosts_systime,       // a: HIGH_SYSTIME
    hosts_full,          // a: MAX_JOBS
    reserved,            // object: the job with the reservation, which this one would delay
    // Other reasons.
    request_unsupported,  // object: the request
    no_shares,            // the job's entity has no shares (enforce_no_shares)
    // The job was queued in a batch queue when the server started (SCHED_RESTART_ACTION none).
    found_at_start,
    after_top_job,  // strict_ordering; object: the job that has to start first
    other,          // a rule's own words; object: the text
    // The cycle considers the job's queue in non-prime order later. Nobody sees this reason.
    next_pass,
    // The requested value differs from those of the queue or the server. object: the resource, a: the words
    // "asked != available"
    queue_value_differs,
    server_value_differs,
    vnodes_busy,  // the job is suspended, and its vnodes lack free amounts for it
    // Limits on the number of running jobs of the queue and of the server, in the order of EntityKind.
    // object: the entity, if the limit names it, else 0; a: the limit.
    queue_run_all,
    queue_run_user,
    queue_run_group,
    queue_run_project,
    server_run_all,
    server_run_user,
    server_run_group,
    server_run_project,
    // max_run_res. object: the resource, a: asked, b: limit, c: the entity, if the limit names it, else 0
    queue_amount_all,
    queue_amount_user,
    queue_amount_group,
    queue_amount_project,
    server_amount_all,
    server_amount_user,
    server_amount_group,
    server_amount_project,
    under_threshold,  // job_sort_formula_threshold
    booked,           // object: the id of the advance reservation that it would run into
    not_booked,       // the queue is that of an advance reservation that doesn't have its places now
    // Refusals of a start at named places. object: the vnode
    place_closed,     // it takes no jobs, or none of the queue
    place_unwanted,   // it lacks the values that the chunks ask for
    place_ruled_out,  // a: 1: it is reserved for jobs that request the resource b (reserved_resources)
    place_shared,     // the job has to be alone on it, or another job is
    place_kept,       // its free part is kept for a reservation
    place_short,      // a: the resource, b: asked, c: free
    place_unknown,
    place_too_large,  // its amounts together are more than any vnodes have
    // a: how many of the array's subjobs start together, b: how many of them fit; object: the index of the
    // reason of the next one in CycleContext::of_next_subjobs
    subjobs_together,
};

struct Reason {
    ReasonCode code = ReasonCode::nothing;
    std::uint32_t queue = UINT32_MAX;  // the queue of the test
    std::uint32_t object = 0;          // a resource, a job or something else, depending on `code`
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t c = 0;

    explicit operator bool() const { return code != ReasonCode::nothing; }
    friend auto operator<=>(const Reason&, const Reason&) = default;
};

// Returns an instant as reasons keep it: in seconds since the Epoch; 0: it isn't known.
inline std::int64_t kept_instant(std::optional<Instant> at) {
    return at ? at->time_since_epoch().count() : 0;
}

// The relation of a load to a threshold: the load is unknown, has reached the threshold, or is too near to it
// for all of the chunks.
enum class LoadAt : std::uint8_t { unknown, reached, too_near };
// Makes Reason::c of a reason hosts_at_threshold from the vnode, the threshold's comparison, and LoadAt.
constexpr std::int64_t threshold_code(VnodeSlot vnode, values::Comparison how, LoadAt at) {
    return std::int64_t{vnode} * 32 + static_cast<std::int64_t>(how) * 4 + static_cast<std::int64_t>(at);
}

struct ReasonHash {
    std::size_t operator()(const Reason& reason) const;
};

// The data for the texts. Amounts are those at the time of the text.
struct ReasonContext {
    const rrule::Zone& zone;
    const JobTable& jobs;
    const QueueTable& queues;
    const Resources& resources;
    const Interner& strings;
    const Requests& requests;
    Vnodes& vnodes;
    NodeSize node_size;
    std::span<const std::uint32_t> reserved{};  // the policy's reserved_resources
};

// Returns the event after which time lifts the refusal, in words that follow "when"; never empty.
// kAwaitedJobs: the words for a job that waits for running jobs.
std::string awaited_text(const Reason& reason, const Interner& strings);
constexpr std::string_view kAwaitedJobs = "running jobs have ended";

// The reason for a value that differs, made from the reason for an amount that is missing.
constexpr ReasonCode differs(ReasonCode code) {
    return code == ReasonCode::queue_resource_busy ? ReasonCode::queue_value_differs
                                                   : ReasonCode::server_value_differs;
}

// Returns whether a job that gets this reason is rejected, as one that fits no queue or that an admission
// refuses.
bool is_rejection(ReasonCode code);

// Returns whether the reason is a limit on the running jobs of a user, a group or a project.
bool is_of_entity(ReasonCode code);

// Returns whether the reason is that the job would run into a time when it may not run, although its queue
// may start jobs now.
constexpr bool crosses_a_boundary(ReasonCode code) {
    return code == ReasonCode::into_dedicated || code == ReasonCode::past_dedicated ||
           code == ReasonCode::prime_boundary || code == ReasonCode::prime_limit ||
           code == ReasonCode::window_boundary;
}

// Returns one line for a job's comment or for its owner. The words are those of the Origin documents, if they
// have any; else those of OpenPBS's comments, if OpenPBS has the case, because users' scripts know them.
std::string text(const Reason& reason, const ReasonContext& context);

// Returns the text without the words with which most texts of reasons begin, for use in another text.
std::string_view without_verdict(std::string_view text);

// Returns the text with details that a comment omits, such as the job that others have to wait for.
std::string text_with_details(const Reason& reason, const ReasonContext& context);
// A fact about an answer, for programs: a name, such as "limit", and its value.
struct AnswerFact {
    std::string_view name;  // lives as long as the program
    std::string value;
};

// Writes an instant as ctime(3) does, without the newline: "Sat Nov 21 08:02:46 2026".
std::string ctime_text(Instant t, const rrule::Zone& zone);
// The last text of ctime_text(). Most calls are for the same minute as the last one, so that only the seconds
// in the text change.
struct LastCtime {
    Instant at{};
    std::string text{};  // empty: no text was written yet
};
std::string_view ctime_text(Instant t, const rrule::Zone& zone, LastCtime& last);
// Writes the time of day: "17:00:00".
std::string time_text(Instant t, const rrule::Zone& zone);

// Returns the comment of a started job: "Started on " and `now`, which is a ctime_text(). For a special job "
// (special access job)" follows.
std::string started_text(std::string_view now, bool special);

}  // namespace pbs::sched
