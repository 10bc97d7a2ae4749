// Categories of jobs that filters can't tell apart, and the answers that are kept about them.
//
// Most filters read the signature and the queue, some the owner or group and the queue: limits on running
// jobs, access lists, allocations. So refusals of users are kept by user and refusals of requests by
// signature, and jobs are of one category if both are the same: users who are within all limits are alike,
// and so are those who have reached the same ones.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/model/place_map.h"

namespace pbs::sched {

// The filter of a list that refuses, and its refusal.
struct FilterRefusal {
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint32_t filter = kNone;  // its place in the list
    Refusal refusal{};
    // Equal refusals tell jobs the same; their blockers may still differ by user.
    friend bool operator==(const FilterRefusal& a, const FilterRefusal& b) {
        return a.filter == b.filter && a.refusal.reason == b.refusal.reason;
    }
};

// The answers of the filters of owners and groups about a user: the first refusal.
struct Standing {
    FilterRefusal admission{};
    std::vector<FilterRefusal> queues;  // by candidate queue: the first refusal among its filters
    // For a user who has to be told apart from others with the same standing.
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
    friend bool operator==(const Standing&, const Standing&) = default;
};
struct StandingHash {
    std::size_t operator()(const Standing& standing) const {
        std::uint64_t h = std::uint64_t{standing.owner} << 32 | standing.group;
        const auto mix = [&](const FilterRefusal& refusal) {
            h = (h ^ refusal.filter ^ ReasonHash{}(refusal.refusal.reason)) * 0x9E3779B97F4A7C15ULL;
            h ^= h >> 29;
        };
        mix(standing.admission);
        for (const FilterRefusal& refusal : standing.queues) mix(refusal);
        return h;
    }
};

// The standings of users in some queues, by number. Number 0: nothing is refused.
class Standings {
  public:
    // The standing of a user.
    struct User {
        std::uint32_t owner = 0;
        std::uint32_t group = 0;
        std::uint32_t standing = 0;
        // The number of starts and reservations that `standing` takes into account.
        std::uint64_t as_of = UINT64_MAX;
        Blockers blockers = 0;  // events that could lift its refusals
    };
    // Returns the element of a user, by the user's number from 0 on.
    User& user(std::uint32_t number) {
        if (number >= users_.size()) users_.resize(number + 1);
        return users_[number];
    }
    void change(User& user, const Standing& standing) {
        if (numbers_.empty()) add({{}, std::vector<FilterRefusal>(standing.queues.size()), 0, 0});
        if (*by_number_[user.standing] != standing) user.standing = add(standing);
    }
    const Standing& operator[](std::uint32_t number) const { return *by_number_[number]; }

  private:
    std::uint32_t add(const Standing& standing) {
        const auto number = static_cast<std::uint32_t>(numbers_.size());
        const auto [place, made] = numbers_.try_emplace(standing, number);
        if (made) by_number_.push_back(&place->first);
        return place->second;
    }
    std::unordered_map<Standing, std::uint32_t, StandingHash> numbers_;  // elements stay where they are
    std::vector<const Standing*> by_number_;
    std::vector<User> users_;
};

// The answers of the filters that don't read the user about a signature in one candidate queue.
struct SignatureAnswer {
    // The filter that refuses the signature whatever else is started; and, for a filter that looks for
    // places, which isn't asked twice, the index of the refusal that was kept.
    std::uint32_t refused_by = FilterRefusal::kNone;
    std::uint32_t refusal = 0;
    // The number of filters (without those of owners and groups) that let it pass, and the number of jobs
    // that had been started by then.
    std::uint32_t passed = 0;
    std::uint32_t starts = 0;
};

}  // namespace pbs::sched
