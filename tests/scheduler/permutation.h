// Permutes a whole list of jobs by past usage, with the rule for turns (Deal) that cycles use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/pending/past_usage_deal.h"

namespace pbs::sched::test {

// A job in a list that is to be permuted.
struct UsageJob {
    std::uint32_t user = 0;  // index of the user in the list of usages
    std::int64_t charge = 0;
    std::uint64_t sequence = 0;  // the oldest job has the least number
};

// The jobs of a list of UsageJobs, user by user.
struct Decks {
    std::vector<std::uint32_t> jobs;
    std::vector<std::uint32_t> begin;  // for each user, the index in `jobs` of the next job
    std::vector<std::uint32_t> end;
    std::vector<std::uint32_t> users;  // users with jobs, in the order of their turns
};

inline Decks make_decks(std::span<const UsageJob> jobs, std::size_t user_count) {
    Decks decks;
    decks.begin.assign(user_count + 1, 0);
    for (const UsageJob& job : jobs) ++decks.begin[job.user + 1];
    std::vector<std::uint32_t> count(decks.begin.begin() + 1, decks.begin.end());
    std::vector<std::uint64_t> oldest(user_count, UINT64_MAX);
    for (const UsageJob& job : jobs) oldest[job.user] = std::min(oldest[job.user], job.sequence);
    std::partial_sum(decks.begin.begin(), decks.begin.end(), decks.begin.begin());
    decks.jobs.resize(jobs.size());
    decks.end.assign(decks.begin.begin() + 1, decks.begin.end());
    std::vector<std::uint32_t> at(decks.begin.begin(), decks.begin.end() - 1);
    for (std::uint32_t i = 0; i < jobs.size(); ++i) {
        if (at[jobs[i].user] == decks.begin[jobs[i].user]) decks.users.push_back(jobs[i].user);
        decks.jobs[at[jobs[i].user]++] = i;
    }
    std::ranges::stable_sort(decks.users, {},
                             [&](std::uint32_t user) { return std::pair(count[user], oldest[user]); });
    return decks;
}

// Returns the new order of the jobs, as indices in `jobs`. `usage` has the decayed usage of each user. Users
// take turns in ascending order of their numbers of jobs; those with equally many jobs, in the order of their
// oldest jobs.
inline std::vector<std::uint32_t> permute_by_past_usage(std::span<const UsageJob> jobs,
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

}  // namespace pbs::sched::test
