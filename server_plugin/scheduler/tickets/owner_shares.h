// The shares, or the override tickets, of the owners of jobs: of users, groups, projects and queues.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/scheduler/model/intern.h"
#include "server_plugin/scheduler/model/setting_types.h"

namespace pbs::sched {

class OwnerShares {
  public:
    static constexpr std::uint32_t kNobody = UINT32_MAX;
    // A number for each OwnerKind: in Names, the number of a name in the Interner; in Owners, the index of an
    // owner.
    using Names = std::array<std::uint32_t, kOwnerKinds>;
    using Owners = std::array<std::uint32_t, kOwnerKinds>;
    struct Owner {
        double shares = 0;
        double running = 0;  // the number of running jobs
    };

    OwnerShares(std::span<const OwnerWeight> weights, const Interner& strings);

    // Returns the owners with these names; kNobody in place of those without shares.
    Owners owners(const Names& names);
    Owner& operator[](std::uint32_t owner) { return owners_[owner]; }
    // Counts a running job of these owners.
    void count(const Owners& owners) {
        for (const std::uint32_t owner : owners)
            if (owner != kNobody) ++owners_[owner].running;
    }

  private:
    struct Kind {
        std::map<std::string, double, std::less<>> own;
        double usual = 0;                                   // the shares of names without shares of their own
        std::vector<std::optional<std::uint32_t>> known{};  // by name
    };
    const Interner& strings_;
    std::array<Kind, kOwnerKinds> kinds_;
    std::vector<Owner> owners_;
};

}  // namespace pbs::sched
