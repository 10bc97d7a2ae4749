// The loads of vnodes, such as load averages: the values that the host reports, the corrections for jobs that
// have started since, and the orders of vnodes by load_formula.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/formula.h"
#include "server_plugin/scheduler/model/setting_types.h"
#include "server_plugin/scheduler/placement/vnode.h"

namespace pbs::sched {

class Inventory;

// A name of a load, such as np_load_avg, and its place in the records of vnodes.
struct LoadName {
    bool per_cpu = false;                       // np_NAME: NAME for each CPU of the host
    bool is_average = false;                    // load_avg or np_load_avg, which the host may report
    std::uint32_t resource = kNoResource;       // the resource of the whole name
    std::uint32_t of_host = kNoResource;        // with `per_cpu`: the resource NAME
    ResourceKind kind = ResourceKind::integer;  // of `resource`
    ResourceKind kind_of_host = ResourceKind::integer;
    bool consumable = false;
    static LoadName of(std::string_view name, const Resources& resources);

    // The load of a vnode whose host has `cpus` CPUs; nullopt: it isn't known. A vnode's own amount in
    // resources_available comes before the average that the host reports.
    std::optional<double> value(const Vnode& vnode, std::int64_t cpus) const;
    // Returns the load that each CPU of a new job adds. `adjustment`: this load's number in
    // job_load_adjustments.
    double per_new_cpu(double adjustment, std::int64_t cpus) const {
        return per_cpu ? adjustment / static_cast<double>(std::max<std::int64_t>(1, cpus)) : adjustment;
    }
};

// Returns the CPUs by which a new job corrects a load: all of its own at its start, then fewer and fewer,
// none once `decay` has passed. In hundredths, rounded down. `age`: the time since its start.
std::int64_t load_correction(std::int64_t cpus, Seconds age, Seconds decay);

// The settings behind an order of vnodes by load. Policies with equal settings share an order.
struct LoadRules {
    std::string formula;
    std::vector<NamedWeight> adjustments;
    Seconds decay{};
    friend bool operator==(const LoadRules&, const LoadRules&) = default;
};

// The corrections of hosts' loads, and the orders of vnodes by load. A host is given by its number in the
// inventory.
//
// An order has a number for each vnode. The numbers are computed again for the hosts whose jobs or loads have
// changed and, after each step of time, for the hosts with corrections: thus a cycle computes a formula only
// where its value may have changed.
class HostLoads {
  public:
    // ---- Corrections.

    // Forgets the jobs that the last cycle passed to count().
    void begin_cycle();
    // Changes the jobs that correct the host's load. Sign 1: adds a job that isn't among the inventory's
    // running jobs. Sign -1: leaves out one of the running jobs. Each call undoes one with the other sign.
    void count(std::uint32_t host, Instant began, std::int64_t cpus, int sign);
    // Returns the CPUs, in hundredths, of the host's jobs that started less than `decay` ago.
    std::int64_t correction(const Inventory& inventory, std::uint32_t host, Instant now, Seconds decay) const;
    // Returns the instants at which jobs cease to correct the host's load, in order.
    std::vector<Instant> ends(const Inventory& inventory, std::uint32_t host, Instant now,
                              Seconds decay) const;

    // ---- Orders.

    // Brings the order by these rules up to date, and returns its number. 0: the formula can't be read.
    std::uint32_t renew(Inventory& inventory, const Resources& resources, const LoadRules& rules,
                        Instant now);
    // Computes the numbers of the host's vnodes again, because the cycle has started a job there.
    void started(Inventory& inventory, std::uint32_t order, std::uint32_t host);
    // The number by which the vnode is sorted, the least first; INT64_MAX: its load isn't known.
    std::int64_t number(std::uint32_t order, VnodeSlot vnode) const;
    // The next instant at which the order may change because of time; nullopt: time doesn't change it.
    std::optional<Instant> next_change(std::uint32_t order) const;

    // Notes that the loads or the jobs of a host have changed, so that orders compute its numbers again.
    void note(std::uint32_t host) {
        if (orders_.empty()) return;
        if (noted_.size() >= kMostNoted)
            compute_anew();
        else
            noted_.push_back(host);
    }
    // Returns the step of time for corrections, about a 45th of `decay`. An order has the corrections as of
    // the last multiple of this step.
    static Seconds step(Seconds decay) { return std::max(Seconds(1), (decay + Seconds(44)) / 45); }

  private:
    struct Counted {
        std::uint32_t host;
        Instant began;
        std::int64_t cpus;
        friend auto operator<=>(const Counted&, const Counted&) = default;
    };
    struct Order {
        LoadRules rules;
        objects::Formula formula;
        std::vector<LoadName> names{};      // the names in the formula
        std::vector<double> adjustments{};  // the adjustments of these names
        bool is_adjusted = false;
        std::uint64_t version = 0;   // Inventory::version() at the last renewal; 0: none
        std::size_t resources = 0;   // Resources::version() at the last renewal
        std::size_t noted = 0;       // how many elements of noted_ its numbers include
        std::uint64_t renewals = 0;  // renewals_ at its last use
        Instant as_of{};
        std::vector<std::int64_t> numbers{};     // by vnode
        std::vector<std::uint32_t> corrected{};  // hosts whose load is corrected for new jobs
        std::vector<bool> is_corrected{};
        std::vector<std::uint32_t> assumed{};  // hosts on which the last cycle has started jobs
        std::vector<double> values{};          // memory that calls reuse
    };
    void compute(Inventory& inventory, Order& order, std::uint32_t host) const;
    void forget_old();
    // Marks all orders to be computed for all hosts at their next use. The orders keep the numbers by which
    // queues refer to them.
    void compute_anew();
    static constexpr std::size_t kMostNoted = 1 << 16;

    // The number of equal jobs that count() has added, less the number of those that it has left out; never
    // 0.
    std::map<Counted, int> counted_;
    std::map<std::uint32_t, Order> orders_;
    std::uint32_t last_order_ = 0;
    std::uint64_t renewals_ = 0;
    std::vector<std::uint32_t> noted_;  // hosts in the order of the changes
};

}  // namespace pbs::sched
