#include "server_plugin/scheduler/future/free_times.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pbs::sched {

void FreeTimes::begin(const Vnodes& vnodes) {
    const Columns& columns = vnodes.columns();
    stride_ = columns.size() + 1;
    key_ = columns.of(columns.known().ncpus);
    first_.clear();
    lines_.resize(vnodes.size());
    for (VnodeSlot v = 0; v < lines_.size(); ++v) {
        Line& line = lines_[v];
        line.assign(1, number(Instant::min()));
        line.insert(line.end(), vnodes.free(v), vnodes.free(v) + columns.size());
        line[1 + kOpenColumn] = vnodes[v].free ? -vnodes.exclusive_jobs(v) : kClosed;
        line[1 + kEmptyColumn] = -vnodes.jobs(v);
    }
}

void FreeTimes::change(std::span<const Vnodes::Share> shares, Instant at, int sign) {
    for (const Vnodes::Share& share : shares) {
        if (share.column >= stride_ - 1) continue;
        Line& line = lines_[share.vnode];
        if (line[line.size() - stride_] != number(at)) {
            line.resize(line.size() + stride_);
            std::copy_n(line.end() - 2 * static_cast<std::ptrdiff_t>(stride_), stride_,
                        line.end() - static_cast<std::ptrdiff_t>(stride_));
            line[line.size() - stride_] = number(at);
        }
        line[line.size() - stride_ + 1 + share.column] += sign * share.amount;
    }
}

// Returns the index in the line of the step that contains the instant.
std::size_t FreeTimes::step_at(const Line& line, Instant t) const {
    std::size_t low = 0;
    std::size_t high = line.size() / stride_;
    while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        (instant(line[middle * stride_]) <= t ? low : high) = middle;
    }
    return low * stride_;
}

// Makes the instant the start of a step, and returns the step's index in the line.
std::size_t FreeTimes::cut(Line& line, Instant t) const {
    if (t == Instant::max()) return line.size();
    const std::size_t step = step_at(line, t);
    if (instant(line[step]) == t) return step;
    const std::size_t next = step + stride_;
    line.insert(line.begin() + static_cast<std::ptrdiff_t>(next), stride_, 0);
    std::copy_n(line.begin() + static_cast<std::ptrdiff_t>(step), stride_,
                line.begin() + static_cast<std::ptrdiff_t>(next));
    line[next] = number(t);
    return next;
}

void FreeTimes::take(std::span<const Vnodes::Share> shares, const rrule::Interval& when) {
    if (when.start >= when.end) return;
    for (std::size_t i = 0, last = 0; i < shares.size(); i = last) {
        const VnodeSlot vnode = shares[i].vnode;
        while (last < shares.size() && shares[last].vnode == vnode) ++last;
        Line& line = lines_[vnode];
        const std::size_t begin = cut(line, when.start);
        const std::size_t end = cut(line, when.end);
        for (const Vnodes::Share& share : shares.subspan(i, last - i))
            if (share.column < stride_ - 1)
                for (std::size_t step = begin; step < end; step += stride_)
                    line[step + 1 + share.column] -= share.amount;
        if (!first_.empty()) know_first(vnode);
    }
}

Instant FreeTimes::earliest(VnodeSlot vnode, const Needs& needs, Instant from, Seconds duration,
                            Instant before) const {
    const Line& line = lines_[vnode];
    Instant start = Instant::max();
    std::size_t step = from == Instant::min() ? 0 : step_at(line, from);
    for (; step < line.size(); step += stride_) {
        if (!is_met(needs, &line[step + 1])) {
            start = Instant::max();
            continue;
        }
        if (start == Instant::max()) start = std::max(from, instant(line[step]));
        if (start >= before) return Instant::max();
        const Instant end = end_of(line, step);
        if (end == Instant::max() || end - start >= duration) return start;
    }
    return Instant::max();
}

// Notes the spans in which one, two, and up to `count` chunks may start on the vnode.
void FreeTimes::add_changes(VnodeSlot vnode, const Needs& needs, std::int64_t count, Instant from,
                            Seconds duration) {
    const Line& line = lines_[vnode];
    bool may_hold_more = true;
    for (std::int64_t chunks = 1; chunks <= count && may_hold_more; ++chunks) {
        const Needs all = times(needs, chunks);
        may_hold_more = false;
        Instant start = Instant::max();
        for (std::size_t step = step_at(line, from); step < line.size(); step += stride_) {
            if (!is_met(all, &line[step + 1])) {
                start = Instant::max();
                continue;
            }
            may_hold_more = true;
            if (start == Instant::max()) start = std::max(from, instant(line[step]));
            const Instant end = end_of(line, step);
            const bool ends_here = end != Instant::max() && !is_met(all, &line[step + stride_ + 1]);
            if (end != Instant::max() && (!ends_here || end - start < duration)) continue;
            changes_.push_back({start, 1});
            if (ends_here) changes_.push_back({end - duration + Seconds(1), -1});
        }
    }
}

FreeTimes::Needs FreeTimes::times(const Needs& needs, std::int64_t chunks) {
    Needs all = needs;
    for (Least& least : all)
        if (least.column >= kFirstResourceColumn) least.value *= chunks;
    return all;
}

std::int64_t FreeTimes::chunks_in(VnodeSlot vnode, const Needs& needs, std::int64_t count,
                                  const rrule::Interval& when) const {
    std::int64_t chunks = 0;
    while (chunks < count && fits(vnode, times(needs, chunks + 1), when)) ++chunks;
    return chunks;
}

bool FreeTimes::fits(VnodeSlot vnode, const Needs& needs, const rrule::Interval& when) const {
    const Line& line = lines_[vnode];
    for (std::size_t step = step_at(line, when.start);
         step < line.size() && instant(line[step]) < std::max(when.end, when.start + Seconds(1));
         step += stride_)
        if (!is_met(needs, &line[step + 1])) return false;
    return true;
}

std::span<const std::int64_t> FreeTimes::at(VnodeSlot vnode, Instant when) const {
    const Line& line = lines_[vnode];
    return std::span(line).subspan(step_at(line, when) + 1, stride_ - 1);
}

void FreeTimes::find_most(VnodeSlot vnode, const rrule::Interval& when,
                          std::vector<std::int64_t>& row) const {
    const Line& line = lines_[vnode];
    std::size_t step = step_at(line, when.start);
    row.assign(&line[step + 1], &line[step] + stride_);
    for (step += stride_; step < line.size() && instant(line[step]) < when.end; step += stride_)
        for (std::size_t c = 0; c + 1 < stride_; ++c) row[c] = std::max(row[c], line[step + 1 + c]);
}

rrule::Interval FreeTimes::more_than(const FreeTimes& other, VnodeSlot vnode, Instant from) const {
    const Line& now = lines_[vnode];
    const Line& before = other.lines_[vnode];
    if (now == before) return {from, from};
    std::size_t a = step_at(now, from);
    std::size_t b = step_at(before, from);
    Instant first = Instant::max();
    Instant last = from;
    for (Instant t = from; t < Instant::max();) {
        const Instant next = std::min(end_of(now, a), end_of(before, b));
        bool more = false;
        for (std::size_t c = 1; c < stride_; ++c) more = more || now[a + c] > before[b + c];
        if (more) {
            first = std::min(first, t);
            last = next;
        }
        t = next;
        if (t == Instant::max()) break;
        if (end_of(now, a) == t) a += stride_;
        if (end_of(before, b) == t) b += stride_;
    }
    return first < last ? rrule::Interval{first, last} : rrule::Interval{from, from};
}

// Returns the greatest level of which these needs are at least.
std::uint32_t FreeTimes::level_of(const Needs& needs) const {
    for (const Least& least : needs)
        if (least.column == key_ && key_ != 0 && least.value > 0)
            return std::min<std::uint32_t>(
                kLevels, static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(least.value))));
    return 0;
}

void FreeTimes::know_first() {
    if (!first_.empty()) return;
    first_.assign(kLevels + 1, std::vector<Instant>(lines_.size(), Instant::min()));
    for (VnodeSlot v = 0; v < lines_.size(); ++v) know_first(v);
}

// Level 0 is for requests without CPUs, and level n for those of 2^(n-1) at least.
void FreeTimes::know_first(VnodeSlot vnode) {
    if (key_ == 0) return;
    const Line& line = lines_[vnode];
    std::uint32_t level = 1;
    for (std::size_t step = 0; step < line.size() && level <= kLevels; step += stride_)
        for (; level <= kLevels && line[step + 1 + key_] >= std::int64_t{1} << (level - 1); ++level)
            first_[level][vnode] = instant(line[step]);
    for (; level <= kLevels; ++level) first_[level][vnode] = Instant::max();
}

}  // namespace pbs::sched
