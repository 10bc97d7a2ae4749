// Limits on the jobs of users, of groups, of projects, and on all jobs together, in the server or in a queue:
// max_run, max_run_res, max_run_soft and max_run_res_soft.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/model/cluster.h"
#include "server_plugin/scheduler/model/intern.h"
#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/model/resources.h"

namespace pbs::sched {

// In place of a resource's number, kJobs stands for the number of jobs, and kWalltimeAmount for walltime,
// which isn't a part of requests.
constexpr std::uint32_t kJobs = UINT32_MAX;
constexpr std::uint32_t kWalltimeAmount = UINT32_MAX - 1;

// The kinds of entities for which the server and queues have limits.
inline constexpr std::array kEntityKinds = {EntityKind::all, EntityKind::user, EntityKind::group,
                                            EntityKind::project};

// Returns the amount that a job requests of a limit's resource, which may be kJobs or kWalltimeAmount;
// nullopt: it requests none, so the limit doesn't affect it. `walltime`: the requested one; below 0: none.
inline std::optional<std::int64_t> asked_amount(const Request& request, Seconds walltime,
                                                std::uint32_t resource) {
    if (resource == kJobs) return 1;
    if (resource != kWalltimeAmount) return number_of(request.totals, resource);
    return walltime < Seconds(0) ? std::nullopt : std::optional(walltime.count());
}

// The owner, group, project and array of a job, and its shapes, for limits. The kind `all` has only the
// entity 0.
struct Entities {
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
    std::uint32_t project = 0;
    std::uint8_t shape = 0;   // JobTable::shape()
    std::uint32_t array = 0;  // JobTable::array()
    std::uint32_t of(EntityKind kind) const {
        switch (kind) {
            case EntityKind::all:
                break;
            case EntityKind::user:
                return owner;
            case EntityKind::group:
                return group;
            case EntityKind::project:
                return project;
            case EntityKind::array:
                return array;
        }
        return 0;
    }
    friend bool operator==(const Entities&, const Entities&) = default;
};

class EntityLimits {
  public:
    struct Found {
        std::int64_t most = -1;  // -1: no limit
        bool own = false;        // the limit names the entity
        friend bool operator==(const Found&, const Found&) = default;
    };
    // The limits on one resource, or on jobs, for entities of one kind.
    struct Limit {
        std::uint32_t resource = kJobs;
        std::int64_t usual = -1;  // for entities without a limit of their own; -1: none
        std::vector<std::pair<std::uint32_t, std::int64_t>> own;  // by the entity's number in the Interner
        Found find(std::uint32_t entity) const {
            const auto at = std::ranges::lower_bound(own, entity, {}, [](const auto& o) { return o.first; });
            if (at != own.end() && at->first == entity) return {at->second, true};
            return {usual, false};
        }
        friend bool operator==(const Limit&, const Limit&) = default;
    };

    EntityLimits() = default;
    EntityLimits(std::span<const EntityLimitRecord> records, Interner& strings, const Resources& resources);

    // Returns the limits on entities of a kind, in the order in which their resources were reported.
    std::span<const Limit> of(EntityKind kind, bool soft = false) const {
        return limits_[static_cast<std::size_t>(kind) * 2 + (soft ? 1 : 0)];
    }
    // Returns the limit on the number of jobs; null: there is none.
    const Limit* on_jobs(EntityKind kind) const;
    // Returns whether any limit on entities of the kind, or of any kind, is on a resource.
    bool on_resources(EntityKind kind) const;
    bool on_resources() const;
    // Returns whether there is any limit on entities of this kind, hard or soft.
    bool concern(EntityKind kind) const { return !of(kind).empty() || !of(kind, true).empty(); }
    bool empty() const;
    bool any_soft() const;

    // Makes records of the limits. Names are views of the Interner's texts.
    std::vector<EntityLimitRecord> records(const Interner& strings, const Resources& resources) const;

    friend bool operator==(const EntityLimits&, const EntityLimits&) = default;

  private:
    std::array<std::vector<Limit>, 8> limits_;  // by kind, hard ones and soft ones
};

// Returns the resource of a limit, for texts: walltime for kWalltimeAmount.
inline std::uint32_t real_resource(std::uint32_t resource, const Resources& resources) {
    return resource == kWalltimeAmount ? resources.known().walltime : resource;
}

}  // namespace pbs::sched
