// The order of jobs: a chain of comparators. Each gives a job a number; the job with the smaller number goes
// first, and the next comparator decides among equals. The numbers of a chain are packed into a key that is
// compared at once.
//
// To add one: write plugins/sort/<name>.cc with a `const Comparator <name>_order`, and put it into the list
// of pending/sort.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server_plugin/scheduler/state/cycle_state.h"

namespace pbs::sched {

class SchedShares;
struct Tables;

// A job as the orders see it.
struct OrderedJob {
    JobSlot job = no_slot;
    JobClass job_class = JobClass::normal;
    std::uint32_t nodes = 1;
    std::uint32_t signature = 0;  // in Signatures
    double score = 0;             // of job_sort_formula
};

struct OrderContext {
    Instant now{};
    const Settings& settings;
    const JobTable& jobs;
    const QueueTable& queues;
    const Requests& requests;
    std::span<const std::uint32_t> queue_rank;  // by queue slot: place among queues in order of priority
    // Of the fs_group of the policy; null: it has none. With the tables that its entities are found by.
    SchedShares* shares = nullptr;
    Tables* tables = nullptr;
};

// What a number is to people.
enum class Shown : std::uint8_t { number, yes_if_0, duration, instant, score, priority, queue, amount };

struct Comparator {
    const char* name;
    const char* attributes;  // that it belongs to, for people
    unsigned bits;           // of the number; larger numbers count as the largest that fits
    std::uint64_t (*number)(const OrderContext& context, const OrderedJob& job, std::uint32_t argument);
    Shown shown = Shown::number;
};

// A comparator as a chain uses it.
struct Link {
    const Comparator* comparator = nullptr;
    std::uint32_t argument = 0;  // such as the resource of a job_sort_key
    bool reversed = false;       // the larger number first
};
using Chain = std::vector<Link>;
// The smaller number first, and the larger one.
Link up(std::string_view name);
Link down(std::string_view name);

// All comparators.
std::span<const Comparator* const> all_comparators();
// One of them by name; it has to exist.
const Comparator& comparator(std::string_view name);

// Of the numbers of a chain together.
unsigned key_bits(const Chain& chain);

// Sorts in place, by packed keys: O(n log n).
void sort_by(const Chain& chain, const OrderContext& context, std::span<OrderedJob> jobs);

// The key of one job: the numbers of the chain, packed from the most significant bits on. `words` has to have
// room for their bits.
void order_key(const Chain& chain, const OrderContext& context, const OrderedJob& job,
               std::span<std::uint64_t> words);

// A double as a number with the same order.
std::uint64_t ordered_bits(double value);

}  // namespace pbs::sched
