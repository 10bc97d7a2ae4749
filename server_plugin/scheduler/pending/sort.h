// The order of jobs is a chain of comparators. Each comparator computes a number for a job. The job with the
// smaller number goes first; among jobs with equal numbers the next comparator decides. The numbers of a
// chain are packed into a key, which is compared at once.
//
// The comparators are constants of plugins/comparators.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/state/cycle_state.h"
#include "server_plugin/scheduler/state/own_states.h"

namespace pbs::sched {

class SchedShares;
class WeightedPriority;
struct Policy;
struct Tables;

// A job with the data for comparators.
struct OrderedJob {
    JobSlot job = kNoSlot;
    JobClass job_class = JobClass::normal;
    std::uint32_t nodes = 1;
    std::uint32_t signature = 0;  // its number in Signatures
    double score = 0;             // the value of job_sort_formula or weighted_priority
};

// Further data for comparators.
struct OrderContext {
    Instant now{};
    const Settings& settings;
    const JobTable& jobs;
    const QueueTable& queues;
    const Requests& requests;
    // By queue slot: the queue's rank among queues in order of priority.
    std::span<const std::uint32_t> queue_rank;
    // The shares of the policy's fs_group; null: it has none.
    SchedShares* shares = nullptr;
    Tables* tables = nullptr;                      // null: no formula is used
    const OwnStates* own = nullptr;                // values of Comparator::prepare(); null: none
    const WeightedPriority* priorities = nullptr;  // null: no formula reads its parts
};

// The form in which a comparator's number is displayed.
enum class KeyForm : std::uint8_t {
    number,
    yes_if_0,
    duration,
    instant,
    score,
    weighted,
    priority,
    queue,
    amount
};

struct Comparator {
    const char* name;
    const char* attributes = "";  // the attributes that it belongs to, for display
    unsigned bits;                // the number's width; a larger number counts as the largest
    // Returns the number of a job. Called by several threads at once.
    std::uint64_t (*number)(const OrderContext& context, const OrderedJob& job, std::uint32_t argument);
    KeyForm shown = KeyForm::number;
    // Returns whether the order of jobs changes without any event. If so, the lanes (sorted lists of pending
    // jobs) are filled again in each cycle. Null: it doesn't.
    bool (*changes_by_itself)(const Policy& policy) = nullptr;
    // Prepares a value over all jobs of a class, such as a maximum, before their numbers are computed. It is
    // stored in `own` for the rest of the cycle. A comparator with this function changes by itself. Null:
    // nothing to prepare.
    void (*prepare)(const OrderContext& context, std::span<const OrderedJob> jobs, OwnStates& own) = nullptr;
};

// A comparator in a chain.
struct Link {
    const Comparator* comparator = nullptr;
    std::uint32_t argument = 0;  // such as the resource of a job_sort_key
    bool reversed = false;       // the job with the larger number goes first
};
using Chain = std::vector<Link>;
// These functions make links by which the job with the smaller number (up) or the larger one (down) goes
// first.
constexpr Link up(const Comparator& comparator, std::uint32_t argument = 0) {
    return {&comparator, argument, false};
}
constexpr Link down(const Comparator& comparator, std::uint32_t argument = 0) {
    return {&comparator, argument, true};
}

// Returns whether the order by a chain changes without any event.
bool changes_by_itself(const Chain& chain, const Policy& policy);
// Calls each comparator's prepare() for these jobs.
void prepare(const Chain& chain, const OrderContext& context, std::span<const OrderedJob> jobs,
             OwnStates& own);

// Returns the number of bits of all numbers of a chain together.
unsigned key_bits(const Chain& chain);

// Sorts the jobs in place, by packed keys. O(n log n).
void sort_by(const Chain& chain, const OrderContext& context, std::span<OrderedJob> jobs);

// Writes the key of one job: the numbers of the chain, packed from the most significant bits on. `words` has
// to be large enough.
void order_key(const Chain& chain, const OrderContext& context, const OrderedJob& job,
               std::span<std::uint64_t> words);

// Returns a number for a double, so that the numbers have the doubles' order.
std::uint64_t ordered_bits(double value);
// Returns the number of which these are the ordered_bits().
double number_of_bits(std::uint64_t bits);

}  // namespace pbs::sched
