// The order of jobs is a chain of comparators. Each comparator gives a job a number. The job with the smaller
// number goes first, and the next comparator decides among jobs with equal numbers. The numbers of a chain
// are packed into a key that is compared at once.
//
// To add a comparator, write plugins/sort/<name>.cc with a `const Comparator <name>_order`, and put it into
// the list of pending/sort.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/state/cycle_state.h"

namespace pbs::sched {

class SchedShares;
struct Tables;

// A job as comparators see it.
struct OrderedJob {
    JobSlot job = kNoSlot;
    JobClass job_class = JobClass::normal;
    std::uint32_t nodes = 1;
    std::uint32_t signature = 0;  // its number in Signatures
    double score = 0;             // the value of job_sort_formula
};

struct OrderContext {
    Instant now{};
    const Settings& settings;
    const JobTable& jobs;
    const QueueTable& queues;
    const Requests& requests;
    // By queue slot: the queue's place among queues in order of priority.
    std::span<const std::uint32_t> queue_rank;
    // Of the fs_group of the policy; null: it has none.
    SchedShares* shares = nullptr;
    Tables* tables = nullptr;  // null: no formula is asked for
};

// How people are shown the number of a comparator.
enum class Shown : std::uint8_t { number, yes_if_0, duration, instant, score, priority, queue, amount };

struct Comparator {
    const char* name;
    const char* attributes;  // the attributes that it belongs to, to be shown to people
    unsigned bits;           // how many the number has; a larger number counts as the largest that fits
    std::uint64_t (*number)(const OrderContext& context, const OrderedJob& job, std::uint32_t argument);
    Shown shown = Shown::number;
};

// A comparator as a chain uses it.
struct Link {
    const Comparator* comparator = nullptr;
    std::uint32_t argument = 0;  // such as the resource of a job_sort_key
    bool reversed = false;       // the job with the larger number goes first
};
using Chain = std::vector<Link>;
// Make links by which the job with the smaller number (up) or the larger one (down) goes first.
Link up(std::string_view name);
Link down(std::string_view name);

std::span<const Comparator* const> all_comparators();
// Returns the comparator of this name, which has to exist.
const Comparator& comparator(std::string_view name);

// Returns how many bits the numbers of a chain have together.
unsigned key_bits(const Chain& chain);

// Sorts the jobs in place, by packed keys. O(n log n).
void sort_by(const Chain& chain, const OrderContext& context, std::span<OrderedJob> jobs);

// Writes the key of one job: the numbers of the chain, packed from the most significant bits on. `words` has
// to have room for their bits.
void order_key(const Chain& chain, const OrderContext& context, const OrderedJob& job,
               std::span<std::uint64_t> words);

// Returns a number for a double, so that numbers have the order of the doubles.
std::uint64_t ordered_bits(double value);

}  // namespace pbs::sched
