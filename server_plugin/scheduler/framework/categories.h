// Categories of jobs that filters can't distinguish, and the stored answers about them.
//
// Most filters read the job's signature (the number that jobs with equal requests share, signature.h) and the
// queue. Some read the owner or group and the queue: limits on running jobs, access lists, allocations. So
// refusals of users are stored by user, and refusals of requests by signature. Jobs are of one category if
// both are equal. Users within all limits are equal, and so are users who have reached the same limits.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/model/place_map.h"

namespace pbs::sched {

// A refusal, and the filter that refuses.
struct FilterRefusal {
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint32_t filter = kNone;  // the filter's index in its list; kNone: no filter refuses
    Refusal refusal{};
    // Jobs with equal refusals get the same comment; the blockers of the refusals may still differ by user.
    friend bool operator==(const FilterRefusal& a, const FilterRefusal& b) {
        return a.filter == b.filter && a.refusal.reason == b.refusal.reason;
    }
};

// The answers of the filters of owners and groups about one user.
struct Standing {
    FilterRefusal admission{};
    std::vector<FilterRefusal> queues;  // by candidate queue: the first refusal among its filters
    // Whether the user has to be distinguished from others with the same standing. If not, no filter gives an
    // answer because of the user. `owner` and `group` are set only if so.
    bool apart = false;
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

// The standings of users (the refusals that they get from filters of owners and groups) in a list of
// candidate queues. Users with equal standings have the same standing number. Number 0: the standing without
// refusals.
class Standings {
  public:
    // A user, with the number of the user's standing.
    struct User {
        std::uint32_t owner = 0;
        std::uint32_t group = 0;
        std::uint32_t standing = 0;
        Blockers blockers = 0;  // events that could lift its refusals
        // The numbers of starts of the owner or group, and of reservations and preempted jobs, when
        // `standing` was computed. It holds until there have been `lasts` more of these starts.
        std::uint64_t starts = 0;
        std::uint64_t kept = UINT64_MAX;
        std::int64_t lasts = 1;
    };
    // Returns whether the user surely has the standing without refusals at this instant of Judge's clock.
    bool is_clear(std::uint32_t number, std::uint64_t clock) const {
        return number < clear_until_.size() && clock < clear_until_[number];
    }
    // Notes until which instant of the clock the user's present standing surely holds, if it has no refusals.
    void hold(std::uint32_t number, std::uint64_t until) {
        if (number >= clear_until_.size()) clear_until_.resize(number + 1);
        clear_until_[number] = users_[number].standing == 0 ? until : 0;
    }
    // Returns the entry of a user, by the user's number from 0 on.
    User& user(std::uint32_t number) {
        if (number >= users_.size()) users_.resize(number + 1);
        return users_[number];
    }
    void change(User& user, const Standing& standing) {
        if (numbers_.empty()) add({{}, std::vector<FilterRefusal>(standing.queues.size())});
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
    // By the user's number: see hold(). It is apart from `users_`, so that it stays in the cache: most jobs
    // need nothing else of their user.
    std::vector<std::uint64_t> clear_until_;
};

// The answers about a signature, in one candidate queue, of the filters that don't read the user; for users
// who aren't distinguished (Standing::apart), of all filters but those of owners and groups.
struct SignatureAnswer {
    // `refused_by`: the index of the filter that refuses the signature whatever else starts. `refusal`: the
    // index of its refusal in CycleScratch::signature_refusals, if the filter searches places, so that it
    // isn't called twice.
    std::uint32_t refused_by = FilterRefusal::kNone;
    std::uint32_t refusal = 0;
    // `passed`: the number of filters that let the signature pass, without filters of owners and groups.
    // `starts`: the number of jobs that the cycle had started then.
    std::uint32_t passed = 0;
    std::uint32_t starts = 0;
};

}  // namespace pbs::sched
