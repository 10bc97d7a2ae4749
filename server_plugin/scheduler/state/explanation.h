// Why a job starts or waits: its place in the order, and what each filter answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rrule/zone.h"
#include "server_plugin/scheduler/state/reason.h"

namespace pbs::sched {

// A filter's answer. Names and attributes are those of the list of filters, and live as long as the program.
struct FilterAnswer {
    std::string_view filter;
    std::string_view attributes;  // that switch it on; empty: it always is
    std::string why;       // the job can't start, as its comment says it; empty: the filter lets it pass
    bool decides = false;  // what the cycle goes by
    Reason reason{};       // the same as `why`
};

// What a start has to wait for, and until when.
struct Awaited {
    std::string_view what;  // as in "when ...": "running jobs have ended"; lives as long as the program
    rrule::Instant until{};
};

// The answers about one queue (and host, of a queue that is named as queue@host), in the order of the tests.
// A cycle stops at the first filter that doesn't let the job pass; here all of them are asked.
struct QueueAnswers {
    std::string queue;
    std::string host;  // empty: none is named
    std::vector<FilterAnswer> filters;
    // The earliest start known from the resource schedule: when, at the latest, enough of the running jobs
    // and of those with reservations have ended, and the time allows it. Only if no filter has another
    // objection; the job's turn may be later.
    std::optional<rrule::Instant> earliest_start;
    std::vector<Awaited> awaited;  // before it, in the order in which they are met
    // The queue is drained for the job, which starts then at the latest: others start in it only if they
    // leave the job its place.
    std::optional<rrule::Instant> drained_until;
};

// A number that the order goes by.
struct OrderKey {
    std::string_view name;
    std::string_view attributes;  // that it belongs to; empty: it is always there
    std::string value;
    bool largest_first = false;
};

enum class JobOutcome : std::uint8_t {
    starts,         // in a cycle at that time, in `queue`
    waits,          // for `reason`
    rejected,       // for `reason`
    not_considered  // no cycle looks at it now, for `reason`
};

// "starts", "waits", "rejected", "not considered".
std::string_view outcome_name(JobOutcome outcome);

struct Explanation {
    std::string job;  // its id
    std::string sched;
    std::string policy;
    std::string algorithm;   // "origin" or "standard"
    bool test_only = false;  // nothing of what a cycle decides is done (TEST_ONLY)
    JobOutcome outcome = JobOutcome::not_considered;
    std::string reason;  // what its comment would be, or why nobody looks at it; empty: it starts
    std::string queue;   // where it starts, or of the filter that decides; empty: it is about no queue

    // The order: classes one after the other, and the keys within the class.
    std::string job_class;  // empty: it isn't in the list
    std::size_t place = 0;  // from 1
    std::size_t jobs = 0;   // in the whole list
    std::size_t class_place = 0;
    std::size_t class_jobs = 0;
    std::vector<OrderKey> keys;
    // Of its owner, where jobs of equal rank are dealt by it (SORT_BY_PAST_USAGE).
    std::optional<double> past_usage;

    std::vector<FilterAnswer> filters;  // about the job, whatever the queue
    std::vector<QueueAnswers> queues;
};

}  // namespace pbs::sched
