#include "rrule/interval_list.h"

#include <algorithm>
#include <bit>

namespace pbs::rrule {

// Returns the number of seconds from the first start to t: 0 if t is earlier, and a number beyond all times
// of the list if the result doesn't fit into Time.
template <class Time>
Time IntervalList::since_begin(Instant t) const {
    const auto seconds =
        std::max<std::int64_t>(0, t.time_since_epoch().count() - origin_.time_since_epoch().count());
    return static_cast<Time>(std::min<std::int64_t>(seconds, Block<Time>::kNone - 1));
}

template <class Time>
std::size_t IntervalList::guess(Time t, std::size_t count) const {
    const auto block = ((static_cast<std::uint64_t>(t) >> shift_) * scale_) >> 32;
    return std::min(static_cast<std::size_t>(block), count - 1);
}

// Returns the block with the first interval that ends after t; end() if there is none.
template <class Time>
typename IntervalList::Blocks<Time>::const_iterator IntervalList::find(const Blocks<Time>& blocks,
                                                                       Time t) const {
    constexpr std::size_t kLast = 2 * kInBlock;
    auto first = blocks.begin() + static_cast<std::ptrdiff_t>(guess(t, blocks.size()));
    auto last = first;
    std::ptrdiff_t step = 1;
    if (t < first->at[0]) {
        while (t < first->at[0]) {
            last = first;
            first -= std::min(step, first - blocks.begin());
            step *= 2;
        }
    } else if (t < first->at[kLast]) {
        return first;
    } else {
        do {
            first = last + 1;
            last = first + std::min(step, blocks.end() - first) - 1;
            step *= 2;
            if (first == blocks.end()) return first;
        } while (t >= last->at[kLast] && last + 1 != blocks.end());
        ++last;
    }
    return std::partition_point(first, last, [t](const Block<Time>& block) { return block.at[kLast] <= t; });
}

template <class Time>
void IntervalList::add(Blocks<Time>& blocks, const Interval& part) {
    const auto start = static_cast<Time>((part.start - origin_).count());
    const auto end = static_cast<Time>((part.end - origin_).count());
    std::size_t in_block = size_ % kInBlock;
    if (size_ > 0) {
        Time& last = blocks.back().at[2 * (in_block == 0 ? kInBlock : in_block)];
        if (last == start) {
            last = end;
            return;
        }
    }
    if (in_block == 0) {
        Block<Time> next;
        std::fill(std::begin(next.at), std::end(next.at), Block<Time>::kNone);
        next.at[0] = blocks.empty() ? Time{0} : blocks.back().at[2 * kInBlock];
        blocks.push_back(next);
    }
    blocks.back().at[2 * in_block + 1] = start;
    blocks.back().at[2 * in_block + 2] = end;
    ++size_;
}

void IntervalList::append(const std::vector<Interval>& more) {
    if (more.empty()) return;
    if (empty()) origin_ = more.front().start;
    reach(more.back().end);
    with_blocks([&](auto& blocks) {
        blocks.reserve((size_ + more.size() + kInBlock - 1) / kInBlock);
        for (const Interval& part : more) add(blocks, part);
    });
    set_scale();
}

void IntervalList::prepend(std::vector<Interval> earlier) {
    const std::vector<Interval> later = intervals();
    earlier.insert(earlier.end(), later.begin(), later.end());
    clear();
    append(earlier);
}

void IntervalList::end_at(Instant t) {
    const Instant end = last_end();
    append({{end, t}});
}

void IntervalList::reach(Instant end) {
    if (is_wide_ || end - origin_ < Seconds{Block<std::uint32_t>::kNone - 1}) return;
    const std::vector<Interval> all = intervals();
    const Instant origin = origin_;
    clear();
    origin_ = origin;
    is_wide_ = true;
    wide_.reserve((all.size() + kInBlock - 1) / kInBlock);
    for (const Interval& part : all) add(wide_, part);
}

void IntervalList::set_scale() {
    const auto span = static_cast<std::uint64_t>((last_end() - origin_).count());
    shift_ = static_cast<std::uint8_t>(std::max(0, static_cast<int>(std::bit_width(span)) - 32));
    const std::size_t count = with_blocks([](const auto& blocks) { return blocks.size(); });
    const std::uint64_t scale = (static_cast<std::uint64_t>(count) << 32) / ((span >> shift_) + 1);
    scale_ =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(scale, std::numeric_limits<std::uint32_t>::max()));
}

std::vector<Interval> IntervalList::intervals() const {
    std::vector<Interval> all;
    all.reserve(size_);
    for (std::size_t i = 0; i < size_; ++i) all.push_back((*this)[i]);
    return all;
}

Interval IntervalList::operator[](std::size_t i) const {
    return with_blocks([&](const auto& blocks) {
        const auto& block = blocks[i / kInBlock];
        const std::size_t at = i % kInBlock * 2 + 1;
        return Interval{origin_ + Seconds{block.at[at]}, origin_ + Seconds{block.at[at + 1]}};
    });
}

template <class Time>
IntervalList::Place IntervalList::around(const Blocks<Time>& blocks, Instant t) const {
    const auto now = since_begin<Time>(t);
    const auto block = find(blocks, now);
    if (block == blocks.end()) return {last_end(), Instant::max(), false};
    // Count the times of the block that have passed. Comparing all of them is faster than deciding where to
    // stop.
    std::size_t passed = 0;
    for (std::size_t i = 1; i <= 2 * kInBlock; ++i) passed += block->at[i] <= now ? 1 : 0;
    const Time to = block->at[passed + 1];
    return {origin_ + Seconds{block->at[passed]},
            to == Block<Time>::kNone ? Instant::max() : origin_ + Seconds{to}, passed % 2 == 1};
}

IntervalList::Place IntervalList::around(Instant t) const {
    return with_blocks([&](const auto& blocks) { return around(blocks, t); });
}

template <class Time>
std::size_t IntervalList::index(const Blocks<Time>& blocks, Instant t) const {
    const auto now = since_begin<Time>(t);
    const auto block = find(blocks, now);
    if (block == blocks.end()) return size_;
    const auto passed =
        std::count_if(std::begin(block->at) + 1, std::end(block->at), [now](Time at) { return at <= now; });
    return static_cast<std::size_t>(block - blocks.begin()) * kInBlock + static_cast<std::size_t>(passed) / 2;
}

std::size_t IntervalList::index(Instant t) const {
    if (empty() || t < origin_) return 0;
    return with_blocks([&](const auto& blocks) { return index(blocks, t); });
}

std::size_t IntervalList::memory() const {
    return narrow_.capacity() * sizeof(Block<std::uint32_t>) + wide_.capacity() * sizeof(Block<std::int64_t>);
}

}  // namespace pbs::rrule
