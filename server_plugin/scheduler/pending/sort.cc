// Sorts jobs by chains of comparators.

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "server_plugin/scheduler/pending/sort.h"

namespace pbs::sched {

bool changes_by_itself(const Chain& chain, const Policy& policy) {
    return std::ranges::any_of(chain, [&](const Link& link) {
        const Comparator& c = *link.comparator;
        return c.prepare != nullptr || (c.changes_by_itself != nullptr && c.changes_by_itself(policy));
    });
}

void prepare(const Chain& chain, const OrderContext& context, std::span<const OrderedJob> jobs,
             OwnStates& own) {
    for (const Link& link : chain)
        if (link.comparator->prepare != nullptr) link.comparator->prepare(context, jobs, own);
}

std::uint64_t ordered_bits(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
    constexpr std::uint64_t kSign = 1ULL << 63;
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double number_of_bits(std::uint64_t bits) {
    constexpr std::uint64_t kSign = 1ULL << 63;
    return std::bit_cast<double>((bits & kSign) != 0 ? bits & ~kSign : ~bits);
}

namespace {

// Writes the numbers of a chain one after the other, from the most significant bits on.
class KeyWriter {
  public:
    explicit KeyWriter(std::uint64_t* words) : words_(words) {}
    void put(std::uint64_t number, unsigned bits) {
        if (bits < 64) number = std::min(number, (std::uint64_t{1} << bits) - 1);
        const unsigned room = 64 - used_ % 64;
        std::uint64_t& word = words_[used_ / 64];
        if (bits <= room) {
            word |= bits == 64 ? number : number << (room - bits);
        } else {
            word |= number >> (bits - room);
            words_[used_ / 64 + 1] |= number << (64 - (bits - room));
        }
        used_ += bits;
    }

  private:
    std::uint64_t* words_;
    unsigned used_ = 0;
};

void write_key(const Chain& chain, const OrderContext& context, const OrderedJob& job, std::uint64_t* words) {
    KeyWriter writer(words);
    for (const Link& link : chain) {
        const Comparator& c = *link.comparator;
        std::uint64_t number = c.number(context, job, link.argument);
        if (link.reversed) {
            const std::uint64_t largest = c.bits < 64 ? (std::uint64_t{1} << c.bits) - 1 : UINT64_MAX;
            number = largest - std::min(number, largest);
        }
        writer.put(number, c.bits);
    }
}

template <std::size_t Words>
void sort_fixed(const Chain& chain, const OrderContext& context, std::span<OrderedJob> jobs) {
    struct Keyed {
        std::array<std::uint64_t, Words> key;
        OrderedJob job;
    };
    std::vector<Keyed> keyed(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        keyed[i].key.fill(0);
        keyed[i].job = jobs[i];
        write_key(chain, context, jobs[i], keyed[i].key.data());
    }
    std::ranges::sort(keyed, {}, &Keyed::key);
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = keyed[i].job;
}

// Sorts by chains of many job_sort_keys, whose keys are longer than four words.
void sort_long(const Chain& chain, const OrderContext& context, std::span<OrderedJob> jobs,
               std::size_t words) {
    std::vector<std::uint64_t> keys(jobs.size() * words, 0);
    for (std::size_t i = 0; i < jobs.size(); ++i) write_key(chain, context, jobs[i], &keys[i * words]);
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return std::lexicographical_compare(&keys[a * words], &keys[a * words] + words, &keys[b * words],
                                            &keys[b * words] + words);
    });
    const std::vector<OrderedJob> before(jobs.begin(), jobs.end());
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = before[order[i]];
}

}  // namespace

void order_key(const Chain& chain, const OrderContext& context, const OrderedJob& job,
               std::span<std::uint64_t> words) {
    std::ranges::fill(words, 0);
    write_key(chain, context, job, words.data());
}

unsigned key_bits(const Chain& chain) {
    unsigned bits = 0;
    for (const Link& link : chain) bits += link.comparator->bits;
    return bits;
}

void sort_by(const Chain& chain, const OrderContext& context, std::span<OrderedJob> jobs) {
    if (jobs.size() < 2) return;
    const std::size_t words = (key_bits(chain) + 63) / 64;
    switch (words) {
        case 1:
            return sort_fixed<1>(chain, context, jobs);
        case 2:
            return sort_fixed<2>(chain, context, jobs);
        case 3:
            return sort_fixed<3>(chain, context, jobs);
        case 4:
            return sort_fixed<4>(chain, context, jobs);
        default:
            return sort_long(chain, context, jobs, words);
    }
}

}  // namespace pbs::sched
