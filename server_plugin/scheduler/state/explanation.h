// The explanation why a job starts or waits: its place in the order, and the answer of each filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/zone.h"
#include "server_plugin/scheduler/model/shares_view.h"
#include "server_plugin/scheduler/state/reason.h"

namespace pbs::sched {

// The answer of a filter. Names and attributes are those of the list of filters, and live as long as the
// program.
struct FilterAnswer {
    std::string_view filter;
    std::string_view attributes;  // the attributes that switch the filter on; empty: it is always on
    // The reason why the job can't start, in the words of its comment; empty: the filter lets the job pass.
    std::string why;
    bool decides = false;  // the cycle decides by this answer
    Reason reason{};       // `why` as a value
};

// An event that a start has to wait for, and the instant until which it does.
struct Awaited {
    // Words that follow "when", such as "running jobs have ended". They live as long as the program.
    std::string_view what;
    rrule::Instant until{};
};

// The answers about one queue (and one host, if the queue is named as queue@host), in the order of the
// filters. A cycle stops at the first filter that doesn't let the job pass. For an explanation all of them
// are asked.
struct QueueAnswers {
    std::string queue;
    std::string host;  // empty: the queue is named without a host
    std::vector<FilterAnswer> filters;
    // The earliest start that the resource schedule knows: the latest instant by which enough of the running
    // jobs and of those with reservations have ended, and the time allows the start. It is given only if no
    // filter has another objection. The job's turn may come later.
    std::optional<rrule::Instant> earliest_start;
    std::vector<Awaited> awaited;  // the events before that start, in the order in which they come
    // The queue is drained for the job, which starts by then. Until then other jobs start in the queue only
    // if they leave the job its place.
    std::optional<rrule::Instant> drained_until;
};

// A number that decides the order of jobs.
struct OrderKey {
    std::string_view name;
    std::string_view attributes;  // the attributes that the key belongs to; empty: the order always has it
    std::string value;
    bool largest_first = false;
};

enum class JobOutcome : std::uint8_t {
    starts,         // a cycle at that time would start the job in `queue`
    waits,          // because of `reason`
    rejected,       // because of `reason`
    not_considered  // no cycle looks at the job now, because of `reason`
};

// "starts", "waits", "rejected", "not considered".
std::string_view outcome_name(JobOutcome outcome);

struct Explanation {
    std::string job;  // the id of the job
    std::string sched;
    std::string policy;
    std::string algorithm;  // "origin" or "standard"
    // Decisions aren't carried out (TEST_ONLY), now or at an earliest start that is given.
    bool test_only = false;
    JobOutcome outcome = JobOutcome::not_considered;
    // The comment that the job would get, or the reason why no cycle looks at it; empty: it starts.
    std::string reason;
    // The queue in which the job starts, or about which the deciding filter was asked; empty: none.
    std::string queue;

    // The place of the job in the order, which has one class after the other, and orders a class by keys.
    std::string job_class;  // empty: the job isn't in the list
    std::size_t place = 0;  // from 1
    std::size_t jobs = 0;   // the number of jobs in the whole list
    std::size_t class_place = 0;
    std::size_t class_jobs = 0;
    std::vector<OrderKey> keys;
    // The past usage of its owner, if the class is dealt by past usage (SORT_BY_PAST_USAGE).
    std::optional<double> past_usage;
    // The standing of its entity, if the policy goes by shares.
    std::optional<EntityShares> shares;

    // The expected start, from the last cycle that looked ahead for the job.
    std::optional<rrule::Instant> expected_start;

    // A job that is preempted for this one when it starts, and the methods, in letters of preempt_order.
    struct Preempts {
        std::string job;
        std::string methods;
    };
    std::vector<Preempts> preempts;
    // The reason why no job is preempted for this one, which waits; empty: no running job is in its way.
    std::string preempts_none;

    std::vector<FilterAnswer> filters;  // the answers about the job that don't depend on the queue
    std::vector<QueueAnswers> queues;
};

}  // namespace pbs::sched
