#include "server_plugin/scheduler/order/past_usage.h"

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

// A tournament among positions: the least usage wins, and among equals the first position.
class Tournament {
  public:
    explicit Tournament(std::size_t size)
        : leaves_(std::bit_ceil(std::max<std::size_t>(1, size))), least_(2 * leaves_, out) {}
    static constexpr std::int64_t out = std::numeric_limits<std::int64_t>::max();

    void start(std::size_t position, std::int64_t usage) { least_[leaves_ + position] = usage; }
    void build() {
        for (std::size_t node = leaves_ - 1; node >= 1; --node) fix(node);
    }
    void set(std::size_t position, std::int64_t usage) {
        least_[leaves_ + position] = usage;
        for (std::size_t node = (leaves_ + position) / 2; node >= 1; node /= 2) fix(node);
    }
    std::int64_t least() const { return least_[1]; }
    std::size_t winner() const {
        std::size_t node = 1;
        while (node < leaves_) node = 2 * node + (least_[2 * node] == least_[node] ? 0 : 1);
        return node - leaves_;
    }

  private:
    void fix(std::size_t node) { least_[node] = std::min(least_[2 * node], least_[2 * node + 1]); }
    std::size_t leaves_;
    std::vector<std::int64_t> least_;
};

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

std::vector<std::uint32_t> permute_by_past_usage(std::span<const UsageJob> jobs,
                                                 std::vector<std::int64_t> usage) {
    std::vector<std::uint32_t> result;
    if (jobs.empty()) return result;
    result.reserve(jobs.size());
    Decks decks = make_decks(jobs, usage.size());
    const auto users = static_cast<std::uint32_t>(decks.users.size());
    Tournament tournament(users);
    std::vector<std::uint32_t> next(users);  // the circle of users that have jobs left
    std::vector<std::uint32_t> previous(users);
    for (std::uint32_t p = 0; p < users; ++p) {
        tournament.start(p, usage[decks.users[p]]);
        next[p] = (p + 1) % users;
        previous[p] = (p + users - 1) % users;
    }
    tournament.build();

    std::uint32_t candidate = 0;
    while (result.size() < jobs.size()) {
        if (usage[decks.users[candidate]] != tournament.least())
            candidate = static_cast<std::uint32_t>(tournament.winner());
        const auto user = decks.users[candidate];
        const auto job = decks.jobs[decks.begin[user]++];
        result.push_back(job);
        usage[user] += jobs[job].charge;
        if (decks.begin[user] == decks.end[user]) {
            tournament.set(candidate, Tournament::out);
            next[previous[candidate]] = next[candidate];
            previous[next[candidate]] = previous[candidate];
        } else {
            tournament.set(candidate, usage[user]);
        }
        candidate = next[candidate];
    }
    return result;
}

}  // namespace pbs::sched
