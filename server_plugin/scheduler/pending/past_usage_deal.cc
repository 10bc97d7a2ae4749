#include "server_plugin/scheduler/pending/past_usage_deal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace pbs::sched {
namespace {

// The jobs of each user, in order, one user after the other.
struct Decks {
    std::vector<std::uint32_t> jobs;
    std::vector<std::uint32_t> begin;  // by user: the next of its jobs
    std::vector<std::uint32_t> end;
    std::vector<std::uint32_t> users;  // that have jobs, in the order in which they are gone through
};

Decks make_decks(std::span<const UsageJob> jobs, std::size_t user_count) {
    Decks decks;
    decks.begin.assign(user_count + 1, 0);
    for (const UsageJob& job : jobs) ++decks.begin[job.user + 1];
    std::vector<std::uint32_t> count(decks.begin.begin() + 1, decks.begin.end());
    std::partial_sum(decks.begin.begin(), decks.begin.end(), decks.begin.begin());
    decks.jobs.resize(jobs.size());
    decks.end.assign(decks.begin.begin() + 1, decks.begin.end());
    std::vector<std::uint32_t> at(decks.begin.begin(), decks.begin.end() - 1);
    for (std::uint32_t i = 0; i < jobs.size(); ++i) {
        if (at[jobs[i].user] == decks.begin[jobs[i].user]) decks.users.push_back(jobs[i].user);
        decks.jobs[at[jobs[i].user]++] = i;
    }
    std::ranges::stable_sort(decks.users, {}, [&](std::uint32_t user) { return count[user]; });
    return decks;
}

}  // namespace

double past_usage_charge(PastUsageCharge charge, std::int64_t nodes, Seconds walltime) {
    if (charge == PastUsageCharge::flat) return walltime > std::chrono::minutes(20) ? 10 : 1;
    return static_cast<double>(nodes) * static_cast<double>(walltime.count()) / 3600.0;
}

std::int64_t usage_units(double usage) {
    constexpr double most = static_cast<double>(std::int64_t{1} << 60);
    return std::llround(std::clamp(usage * 3600, 0.0, most));
}

std::int64_t charge_units(PastUsageCharge charge, std::int64_t nodes, Seconds walltime) {
    constexpr std::int64_t most = std::int64_t{1} << 42;
    if (charge == PastUsageCharge::flat) return usage_units(past_usage_charge(charge, nodes, walltime));
    const std::int64_t seconds = std::max<std::int64_t>(0, walltime.count());
    if (nodes <= 0 || seconds == 0) return 0;
    return seconds > most / nodes ? most : nodes * seconds;
}

PastUsageDeal::PastUsageDeal(std::vector<std::int64_t> usage)
    : usage_(std::move(usage)),
      leaves_(std::bit_ceil(std::max<std::size_t>(1, usage_.size()))),
      least_(2 * leaves_, out),
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
    set(candidate_, more ? usage_[candidate_] : out);
    if (!more) {
        next_[previous_[candidate_]] = next_[candidate_];
        previous_[next_[candidate_]] = previous_[candidate_];
        --users_;
    }
    candidate_ = next_[candidate_];
}

std::vector<std::uint32_t> permute_by_past_usage(std::span<const UsageJob> jobs,
                                                 std::vector<std::int64_t> usage) {
    std::vector<std::uint32_t> result;
    result.reserve(jobs.size());
    Decks decks = make_decks(jobs, usage.size());
    std::vector<std::int64_t> of_users;
    for (const std::uint32_t user : decks.users) of_users.push_back(usage[user]);
    PastUsageDeal deal(std::move(of_users));
    while (!deal.is_over()) {
        const std::uint32_t user = decks.users[deal.next()];
        const std::uint32_t job = decks.jobs[decks.begin[user]++];
        result.push_back(job);
        deal.dealt(jobs[job].charge, decks.begin[user] != decks.end[user]);
    }
    return result;
}

}  // namespace pbs::sched
