// Why a job doesn't start: a value made where the check is made, turned into text once.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "rrule/zone.h"
#include "server_plugin/scheduler/placement/vnodes.h"

namespace pbs::sched {

enum class ReasonCode : std::uint8_t {
    nothing,  // it may start
    // The job is rejected.
    fits_no_queue,       // a: nodes, b: walltime
    no_batch_queues,     // but it isn't rejected for these two
    no_such_queue,       // object: the name
    small_job_walltime,  // a: limit in seconds, b: small_job_max
    large_job_walltime,
    over_allocation,  // object: group, a and b: used and allocated, in thousandths of node-hours
    no_allocation,    // object: group; it isn't rejected for this and the next
    allocations_unread,
    // What the queue allows.
    above_queue_maximum,  // object: resource, a: asked, b: limit
    below_queue_minimum,
    above_queue_nodes,  // a: nodes asked, b: node limit
    not_in_acl,
    queue_not_started,
    no_scheduler,      // object: the queue's partition
    queue_full,        // a: max_running
    queue_user_limit,  // a: limit
    queue_group_limit,
    queue_nodes_busy,     // a: nodes asked, b: nodes free
    queue_resource_busy,  // object: resource, a: asked, b: free, c: in all
    queue_closed,         // a: when it opens, 0: never
    queue_drained,        // object: the job it is drained for
    fragments,            // may start, negative: none; a: jobs of so many nodes, b: s, jobs that are as short
    // What the time allows.
    dedicated_time,  // a: until
    dedicated_unknown,
    into_dedicated,   // a: its start
    not_dedicated,    // a: next start, 0: none
    past_dedicated,   // a: end
    prime_limit,      // a: limit in seconds
    nonprime_drain,   // a: start of non-prime time
    prime_only,       // a: when prime time begins, 0: never
    non_prime_only,   // a: when it ends, 0: never
    prime_boundary,   // a: the boundary, b: 1 if prime time begins there
    window_boundary,  // a: the end of the queue's time_window
    // What the server allows.
    server_full,  // a: limit
    server_user_limit,
    server_group_limit,
    server_resource_busy,  // object: resource, a: asked, b: free, c: in all
    user_job_limit,        // a: MAX_USER_RUN_JOBS
    dedicated_jobs_limit,  // a: MAX_DEDICATED_JOBS
    // What the hosts have.
    no_hosts,         // object: the host's name
    hosts_busy,       // object: the request, a: the pool
    hosts_too_small,  // likewise
    hosts_loaded,     // a: percent
    hosts_systime,    // a: HIGH_SYSTIME
    hosts_full,       // a: MAX_JOBS
    reserved,         // object: the job that it would delay
    // object: the request
    request_unsupported,
    hpm_not_ready,   // the counters are not in user mode
    no_shares,       // the job's entity has none (enforce_no_shares)
    found_at_start,  // queued in a batch queue when the server started (SCHED_RESTART_ACTION none)
    after_top_job,   // strict_ordering; object: the job
    other,           // a rule's own words; object: the text
    next_pass,       // its queue is gone through in non-prime order later in the cycle; never shown
};

struct Reason {
    ReasonCode code = ReasonCode::nothing;
    std::uint32_t queue = UINT32_MAX;  // the queue that was asked
    std::uint32_t object = 0;          // a resource or a job, as `code` says
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t c = 0;

    explicit operator bool() const { return code != ReasonCode::nothing; }
    friend auto operator<=>(const Reason&, const Reason&) = default;
};

struct ReasonHash {
    std::size_t operator()(const Reason& reason) const;
};

// What the texts are made with.
struct ReasonContext {
    const rrule::Zone& zone;
    const JobTable& jobs;
    const QueueTable& queues;
    const Resources& resources;
    const Interner& strings;
    const Requests& requests;
    // With amounts as they are when the text is made.
    Vnodes& vnodes;
    NodeSize node_size;
};

// Of a refusal that time lifts, what has to come first, as in "when ..."; and for want of what running jobs
// have.
std::string_view awaited_text(const Reason& reason);
constexpr std::string_view awaited_jobs = "running jobs have ended";

// Is a job rejected for it? (One that fits no queue, and those of admissions.)
bool is_rejection(ReasonCode code);

// Would the job run into a time when it may not? (Its queue may start jobs now.)
bool crosses_a_boundary(ReasonCode code);

// One line for a job's comment or for its owner: in the words of the Origin documents where they give any,
// else in those of OpenPBS's comments where it has the case, which the scripts of users know.
std::string text(const Reason& reason, const ReasonContext& context);

// The same with what a comment leaves out, such as the job that others have to wait for.
std::string text_with_details(const Reason& reason, const ReasonContext& context);
// Are they the same but for amounts?
bool same_kind(const Reason& a, const Reason& b);

// As ctime(3) writes it, without the newline: "Sat Nov 21 08:02:46 2026".
std::string ctime_text(Instant t, const rrule::Zone& zone);
// The same where most questions are of the minute of the last one, whose text differs in the seconds only.
struct LastCtime {
    Instant at{};
    std::string text{};  // empty: there was none
};
std::string_view ctime_text(Instant t, const rrule::Zone& zone, LastCtime& last);
// "17:00:00", the time of day.
std::string time_text(Instant t, const rrule::Zone& zone);

// The comment of a job started at the instant with this text: "Started on <ctime>", and " (special access
// job)" after it.
std::string started_text(std::string_view now, bool special);

}  // namespace pbs::sched
