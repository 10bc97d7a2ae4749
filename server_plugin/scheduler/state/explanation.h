// The explanation why a job starts or waits: its place in the order, and each filter's answer.
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

// The answer of a filter. Names and attributes come from the list of filters, and live as long as the
// program.
struct FilterAnswer {
    std::string_view filter;
    std::string_view attributes;  // the attributes that switch the filter on; empty: it is always on
    // The reason why the job can't start, in the words of its comment; empty: the filter lets the job pass.
    std::string why;
    bool decides = false;             // this answer decides in a cycle
    Reason reason{};                  // `why` as a value
    std::vector<AnswerFact> facts{};  // of a limit with counters of its own (OwnLimit::facts)
};

// An event that a start has to wait for, and its instant.
struct Awaited {
    std::string what;  // words that follow "when", such as "running jobs have ended"
    rrule::Instant until{};
};

// The amount of a resource that the vnodes or a limit leave for the job.
struct Layer {
    std::string resource;
    std::string name;  // "vnodes", "quota q1", or the name of the filter that has the limit
    std::string asked;
    std::string free;
    std::string total;
    bool lacks = false;      // less is free than the job asks for
    bool narrowest = false;  // no other layer of this resource has less that is free
};

// The answers about one queue (and one host, if it is named as queue@host), in the order of the filters. A
// cycle stops at the first refusal; for an explanation all filters are called.
struct QueueAnswers {
    std::string queue;
    std::string host;  // empty: the queue is named without a host
    std::vector<FilterAnswer> filters;
    // The earliest start by the resource schedule: the latest of the instants at which enough running jobs
    // and jobs with reservations have ended, and time permits the start. Only set if no filter has another
    // objection. The job's turn may come later.
    std::optional<rrule::Instant> earliest_start;
    std::vector<Awaited> awaited;  // the events before that start, in order
    // The layers of each resource that the job asks for. Empty unless a filter has objections.
    std::vector<Layer> layers;
    std::vector<std::string> notes{};  // limits that aren't in force, each with the reason
    // Numbers of chunks of a job with a select_range. `now`: the number with which it would start now; 0: it
    // wouldn't. `most`: the greatest number of its range that it can ever have; 0: none. `most_from`: the
    // earliest start with that number.
    struct Chunks {
        std::string range;
        std::int64_t now = 0;
        std::int64_t most = 0;
        std::optional<rrule::Instant> most_from;
    };
    std::optional<Chunks> chunks;
    // The queue is drained for the job, which starts by this instant. Until then other jobs start in the
    // queue only if they leave the job its place.
    std::optional<rrule::Instant> drained_until;
};

// A number that decides the order of jobs.
struct OrderKey {
    std::string_view name;
    std::string_view attributes;  // the attributes that the key belongs to; empty: it is always used
    std::string value;
    bool largest_first = false;
};

// A term of the weighted priority: `weight` times the value, which is brought from its range to 0..1 before.
struct PriorityTerm {
    std::string_view name;  // "Priority", "urgency" or "tickets"
    double value = 0;
    double least = 0;  // the range of the values
    double greatest = 0;
    double normalised = 0;
    double weight = 0;
    double product() const { return weight * normalised; }
};

enum class JobOutcome : std::uint8_t {
    starts,         // a cycle at that time would start the job in `queue`
    waits,          // because of `reason`
    rejected,       // because of `reason`
    not_considered  // no cycle looks at the job now, because of `reason`
};

// Returns "starts", "waits", "rejected" or "not considered".
std::string_view outcome_name(JobOutcome outcome);

struct Explanation {
    std::string job;  // the id of the job
    std::string sched;
    std::string policy;
    std::string algorithm;  // "origin" or "standard"
    // Decisions aren't carried out (TEST_ONLY), now or at the earliest start.
    bool test_only = false;
    JobOutcome outcome = JobOutcome::not_considered;
    // The comment that the job would get, or the reason why no cycle looks at it; empty: it starts.
    std::string reason;
    // The queue in which the job starts, or whose filter decides; empty: none.
    std::string queue;

    // The job's rank in the order, which has one class after the other, each sorted by keys.
    std::string job_class;  // empty: the job isn't in the order
    std::size_t place = 0;  // the rank, from 1
    std::size_t jobs = 0;   // the number of jobs in the whole order
    std::size_t class_place = 0;
    std::size_t class_jobs = 0;
    std::vector<OrderKey> keys;
    // The terms of its weighted priority; empty: the policy doesn't sort by it.
    std::vector<PriorityTerm> priority_terms;
    // The id of the job just before it in its class, and the terms of that job; empty: it is the first, or
    // the policy doesn't sort by weighted priority.
    std::string job_before;
    std::string owner_before;  // the owner of that job
    std::vector<PriorityTerm> terms_before;
    // The past usage of its owner, if the order of its class goes by past usage (SORT_BY_PAST_USAGE).
    std::optional<double> past_usage;
    // The shares and the usage of its entity, if the policy uses shares.
    std::optional<EntityShares> shares;

    // The expected start, from the last cycle that searched for it.
    std::optional<rrule::Instant> expected_start;

    // A job that is preempted when this one starts, and the methods, in letters of preempt_order.
    struct Preempts {
        std::string job;
        std::string methods;
    };
    std::vector<Preempts> preempts;
    // The reason why no job is preempted for this one, which waits; empty: the policy doesn't preempt, or
    // preemption wasn't tried.
    std::string preempts_none;

    // A preference that some vnodes of the job's place miss, with the names of these vnodes.
    struct Missed {
        std::string preference;
        std::string vnodes;
    };
    std::vector<Missed> missed;

    std::vector<FilterAnswer> filters;  // the answers about the job that don't depend on a queue
    std::vector<QueueAnswers> queues;
};

}  // namespace pbs::sched
