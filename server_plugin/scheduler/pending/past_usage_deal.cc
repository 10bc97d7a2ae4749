#include "server_plugin/scheduler/pending/past_usage_deal.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pbs::sched {
double past_usage_charge(PastUsageCharge charge, std::int64_t nodes, Seconds walltime) {
    if (charge == PastUsageCharge::flat) return walltime > std::chrono::minutes(20) ? 10 : 1;
    return static_cast<double>(nodes) * static_cast<double>(walltime.count()) / 3600.0;
}

std::int64_t usage_units(double usage) {
    constexpr double kMost = static_cast<double>(std::int64_t{1} << 60);
    return std::llround(std::clamp(usage * 3600, 0.0, kMost));
}

std::int64_t charge_units(PastUsageCharge charge, std::int64_t nodes, Seconds walltime) {
    constexpr std::int64_t kMost = std::int64_t{1} << 42;
    if (charge == PastUsageCharge::flat) return usage_units(past_usage_charge(charge, nodes, walltime));
    const std::int64_t seconds = std::max<std::int64_t>(0, walltime.count());
    if (nodes <= 0 || seconds == 0) return 0;
    return seconds > kMost / nodes ? kMost : nodes * seconds;
}

PastUsageDeal::PastUsageDeal(std::vector<std::int64_t> usage)
    : usage_(std::move(usage)),
      leaves_(std::bit_ceil(std::max<std::size_t>(1, usage_.size()))),
      least_(2 * leaves_, kOut),
      next_(usage_.size()),
      previous_(usage_.size()),
      users_(usage_.size()) {
    for (std::size_t user = 0; user < users_; ++user) {
        least_[leaves_ + user] = usage_[user];
        next_[user] = static_cast<std::uint32_t>((user + 1) % users_);
        previous_[user] = static_cast<std::uint32_t>((user + users_ - 1) % users_);
    }
    for (std::size_t node = leaves_ - 1; node >= 1; --node) fix(node);
}

void PastUsageDeal::set(std::size_t user, std::int64_t usage) {
    least_[leaves_ + user] = usage;
    for (std::size_t node = (leaves_ + user) / 2; node >= 1; node /= 2) fix(node);
}

std::size_t PastUsageDeal::next() {
    if (usage_[candidate_] == least_[1]) return candidate_;
    std::size_t node = 1;
    while (node < leaves_) node = 2 * node + (least_[2 * node] == least_[node] ? 0 : 1);
    return candidate_ = node - leaves_;
}

void PastUsageDeal::dealt(std::int64_t charge, bool more) {
    usage_[candidate_] += charge;
    set(candidate_, more ? usage_[candidate_] : kOut);
    if (!more) {
        next_[previous_[candidate_]] = next_[candidate_];
        previous_[next_[candidate_]] = previous_[candidate_];
        --users_;
    }
    candidate_ = next_[candidate_];
}

}  // namespace pbs::sched
