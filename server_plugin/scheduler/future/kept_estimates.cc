#include "server_plugin/scheduler/future/kept_estimates.h"

#include <algorithm>
#include <utility>

namespace pbs::sched {

void KeptEstimates::clear() {
    *this = {};
}

void KeptEstimates::begin(FreeTimes times, const std::optional<Premises>& premises, Instant now) {
    const bool is_kept = premises && premises_ == premises && now_ <= now;
    if (!is_kept) clear();
    premises_ = premises;
    now_ = now;
    times_ = std::move(times);
    // An exception may have ended the last cycle before end().
    index_.clear();
    freer_.clear();
    next_ = 0;
    freer_at_.assign(times_.vnodes(), 0);
    old_ = std::exchange(list_, {});
    taken_.assign(old_.size(), false);
    list_.reserve(old_.size());
    if (!old_.empty())
        for (VnodeSlot v = 0; v < times_.vnodes(); ++v) free(v, times_.more_than(base_, v, now));
    if (premises_) base_ = times_;
}

void KeptEstimates::free(VnodeSlot vnode, rrule::Interval when) {
    when.start = std::max(when.start, now_);
    if (when.start >= when.end) return;
    if (freer_at_[vnode] == 0) {
        freer_.push_back({vnode, when});
        freer_at_[vnode] = static_cast<std::uint32_t>(freer_.size());
    }
    Freer& freer = freer_[freer_at_[vnode] - 1];
    freer.when = {std::min(freer.when.start, when.start), std::max(freer.when.end, when.end)};
    times_.find_most(vnode, freer.when, freer.most);
}

void KeptEstimates::give_up(const Estimate& old) {
    for (const Part& part : old.placement) free(part.vnode, {old.start, old.end});
}

KeptEstimates::Estimate* KeptEstimates::take(JobHandle job) {
    std::size_t at = next_;
    if (at == old_.size() || old_[at].job != job) {
        if (index_.empty())
            for (std::size_t i = 0; i < old_.size(); ++i) index_.emplace(old_[i].job, i);
        const auto found = index_.find(job);
        if (found == index_.end()) return nullptr;
        at = found->second;
    }
    for (; next_ < at; ++next_)
        if (!taken_[next_]) give_up(old_[next_]);
    next_ = std::max(next_, at + 1);
    if (taken_[at]) return nullptr;
    taken_[at] = true;
    return &old_[at];
}

void KeptEstimates::add(Estimate estimate) {
    if (estimate.is_found()) {
        times_.take(estimate.shares, {estimate.start, estimate.end});
        for (const Part& part : estimate.placement) find_most_again(part.vnode);
    }
    list_.push_back(std::move(estimate));
}

// The jobs behind it in the chain will have been found beside it. So the next estimation compares the free
// amounts with those that it has left.
void KeptEstimates::start(std::span<const Vnodes::Share> shares, const rrule::Interval& when) {
    times_.take(shares, when);
    if (premises_) base_.take(shares, when);
    for (const Vnodes::Share& share : shares) find_most_again(share.vnode);
}

void KeptEstimates::find_most_again(VnodeSlot vnode) {
    if (const std::uint32_t at = freer_at_[vnode]; at != 0)
        times_.find_most(vnode, freer_[at - 1].when, freer_[at - 1].most);
}

bool KeptEstimates::has_its_place(const Estimate& old, const FreeTimes::Needs& needs) const {
    return std::ranges::all_of(old.placement, [&](const Part& part) {
        if (part.count == 1) return times_.fits(part.vnode, needs, {old.start, old.end});
        return times_.fits(part.vnode, FreeTimes::times(needs, part.count), {old.start, old.end});
    });
}

Row KeptEstimates::left_at(VnodeSlot vnode, Instant when) const {
    const auto left = times_.at(vnode, when);
    Row row(left.begin(), left.end());
    row[kOpenColumn] = Columns::open;
    return row;
}

void KeptEstimates::end() {
    if (!premises_) return clear();
    old_.clear();
    taken_.clear();
    index_.clear();
    freer_.clear();
    times_ = {};
    next_ = 0;
}

}  // namespace pbs::sched
