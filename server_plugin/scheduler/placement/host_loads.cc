#include "server_plugin/scheduler/placement/host_loads.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "server_plugin/scheduler/model/sort_unique.h"
#include "server_plugin/scheduler/placement/inventory.h"

namespace pbs::sched {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostOrders = 16;

// Turns values into whole numbers of the same order. All are below kUnknown.
std::int64_t ordered_number(double value) {
    const auto bits = std::bit_cast<std::int64_t>(value + 0.0);  // -0 is 0
    return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
}

}  // namespace

LoadName LoadName::of(std::string_view name, const Resources& resources) {
    LoadName out;
    out.per_cpu = name.starts_with(objects::kPerCpu);
    const std::string_view base = out.per_cpu ? name.substr(objects::kPerCpu.size()) : name;
    out.is_average = base == "load_avg";
    const auto take = [&](std::uint32_t id, std::uint32_t& taken, ResourceKind& its_kind) {
        const Resources::Info* info = id == kNoResource ? nullptr : resources.find(id);
        if (info == nullptr || resources.is_text(id)) return;
        taken = id;
        its_kind = info->kind;
        out.consumable = out.consumable || info->consumable;
    };
    take(resources.id(name), out.resource, out.kind);
    if (out.per_cpu) take(resources.id(base), out.of_host, out.kind_of_host);
    return out;
}

std::optional<double> LoadName::value(const Vnode& vnode, std::int64_t cpus) const {
    if (const auto own = resource == kNoResource ? std::nullopt : number_of(vnode.available, resource))
        return formula_amount(*own, kind);
    std::optional<double> whole;
    if (const auto told = of_host == kNoResource ? std::nullopt : number_of(vnode.available, of_host))
        whole = formula_amount(*told, kind_of_host);
    else if (is_average && vnode.load_thousandths >= 0)
        whole = static_cast<double>(vnode.load_thousandths) / 1000;
    if (!whole || !per_cpu) return whole;
    return *whole / static_cast<double>(std::max<std::int64_t>(1, cpus));
}

std::int64_t load_correction(std::int64_t cpus, Seconds age, Seconds decay) {
    if (age >= decay || cpus <= 0) return 0;
    constexpr std::int64_t kMostCpus = 1'000'000;  // so that nothing overflows
    const std::int64_t hundredths = 100 * std::min(cpus, kMostCpus);
    // If the clock was set back, a job may have started after now. It counts as one that starts now.
    const Seconds left = decay - std::max(age, Seconds(0));
    return left >= decay
               ? hundredths
               : static_cast<std::int64_t>(static_cast<__int128>(hundredths) * left.count() / decay.count());
}

// ---- Corrections.

void HostLoads::begin_cycle() {
    counted_.clear();
}

void HostLoads::count(std::uint32_t host, Instant began, std::int64_t cpus, int sign) {
    if (cpus <= 0) return;
    const auto counted = counted_.try_emplace({host, began, cpus}, 0).first;
    counted->second += sign;
    if (counted->second == 0) counted_.erase(counted);
}

std::int64_t HostLoads::correction(const Inventory& inventory, std::uint32_t host, Instant now,
                                   Seconds decay) const {
    std::int64_t sum = 0;
    if (decay <= Seconds(0)) return sum;
    for (const auto& [began, cpus] : inventory.starts(host, now - decay))
        sum += load_correction(cpus, now - began, decay);
    for (auto one = counted_.lower_bound({host, Instant::min(), 0});
         one != counted_.end() && one->first.host == host; ++one)
        sum += one->second * load_correction(one->first.cpus, now - one->first.began, decay);
    return std::max<std::int64_t>(0, sum);
}

std::vector<Instant> HostLoads::ends(const Inventory& inventory, std::uint32_t host, Instant now,
                                     Seconds decay) const {
    std::vector<Instant> all;
    for (const auto& [began, cpus] : inventory.starts(host, now - decay))
        if (cpus > 0) all.push_back(began + decay);
    for (auto one = counted_.lower_bound({host, Instant::min(), 0});
         one != counted_.end() && one->first.host == host; ++one)
        if (one->second > 0) all.push_back(one->first.began + decay);
    std::ranges::sort(all);
    return all;
}

// ---- Orders.

std::uint32_t HostLoads::renew(Inventory& inventory, const Resources& resources, const LoadRules& rules,
                               Instant now) {
    auto found = std::ranges::find_if(orders_, [&](const auto& one) { return one.second.rules == rules; });
    if (found == orders_.end()) {
        auto formula = objects::Formula::compile(rules.formula);
        if (!formula) return 0;
        forget_old();
        found = orders_.emplace(++last_order_, Order{rules, *std::move(formula)}).first;
    }
    Order& order = found->second;
    order.renewals = ++renewals_;
    const Seconds step = HostLoads::step(rules.decay);
    const Instant as_of = now - now.time_since_epoch() % step;
    const bool anew =
        order.version != inventory.version() || order.resources != resources.version() || as_of < order.as_of;
    order.version = 0;  // until all numbers are there: after a lack of memory, the next call makes them anew
    if (anew) {
        order.resources = resources.version();
        order.as_of = as_of;
        order.names.clear();
        order.adjustments.clear();
        for (const auto& name : order.formula.names()) {
            order.names.push_back(LoadName::of(name.name, resources));
            const auto own = std::ranges::find(rules.adjustments, name.name, &NamedWeight::name);
            order.adjustments.push_back(own == rules.adjustments.end() ? 0 : own->weight);
        }
        order.is_adjusted = std::ranges::any_of(order.adjustments, [](double by) { return by != 0; });
        order.numbers.resize(inventory.size(), kUnknown);
        order.corrected.clear();
        order.is_corrected.assign(inventory.hosts(), false);
        order.assumed.clear();
        for (std::uint32_t host = 0; host < inventory.hosts(); ++host) compute(inventory, order, host);
    } else {
        std::vector<std::uint32_t> hosts = std::exchange(order.assumed, {});
        hosts.insert(hosts.end(), noted_.begin() + static_cast<std::ptrdiff_t>(order.noted), noted_.end());
        if (std::exchange(order.as_of, as_of) != as_of) {
            for (const std::uint32_t host : order.corrected) {
                order.is_corrected[host] = false;
                hosts.push_back(host);
            }
            order.corrected.clear();
        }
        sort_unique(hosts);
        for (const std::uint32_t host : hosts) compute(inventory, order, host);
    }
    order.version = inventory.version();
    order.noted = noted_.size();
    // Forget the changes once the numbers of all orders include them.
    if (std::ranges::all_of(orders_, [&](const auto& one) { return one.second.noted == noted_.size(); })) {
        noted_.clear();
        for (auto& [number, one] : orders_) one.noted = 0;
    } else if (noted_.size() > 4 * std::size_t{inventory.hosts()} + 1024) {
        noted_.clear();
        for (auto& [number, one] : orders_) {
            if (one.noted != order.noted) one.version = 0;
            one.noted = 0;
        }
    }
    return found->first;
}

void HostLoads::forget_old() {
    while (orders_.size() >= kMostOrders)
        orders_.erase(
            std::ranges::min_element(orders_, {}, [](const auto& one) { return one.second.renewals; }));
}

void HostLoads::compute_anew() {
    for (auto& [number, order] : orders_) order.version = order.noted = 0;
    noted_.clear();
}

void HostLoads::compute(Inventory& inventory, Order& order, std::uint32_t host) const {
    const std::int64_t cpus = inventory.host_cpus(host);
    const std::int64_t correction =
        order.is_adjusted ? this->correction(inventory, host, order.as_of, order.rules.decay) : 0;
    if (correction > 0 && !order.is_corrected[host]) {
        order.is_corrected[host] = true;
        order.corrected.push_back(host);
    }
    order.values.resize(order.names.size());
    for (const VnodeSlot slot : inventory.on_host(host)) {
        bool known = true;
        for (std::size_t i = 0; i < order.names.size() && known; ++i) {
            const LoadName& name = order.names[i];
            const auto value = name.value(inventory[slot], cpus);
            known = value.has_value();
            const double added = name.per_new_cpu(order.adjustments[i], cpus);
            order.values[i] = value.value_or(0) + static_cast<double>(correction) / 100 * added;
        }
        const auto value = known ? order.formula.value(order.values) : std::nullopt;
        const std::int64_t number = value ? ordered_number(*value) : kUnknown;
        if (std::exchange(order.numbers[slot], number) != number) inventory.note_change(slot);
    }
}

void HostLoads::started(Inventory& inventory, std::uint32_t order, std::uint32_t host) {
    const auto found = orders_.find(order);
    if (found == orders_.end() || !found->second.is_adjusted) return;
    found->second.assumed.push_back(host);
    compute(inventory, found->second, host);
}

std::int64_t HostLoads::number(std::uint32_t order, VnodeSlot vnode) const {
    const auto found = orders_.find(order);
    if (found == orders_.end() || vnode >= found->second.numbers.size()) return kUnknown;
    return found->second.numbers[vnode];
}

std::optional<Instant> HostLoads::next_change(std::uint32_t order) const {
    const auto found = orders_.find(order);
    if (found == orders_.end() || found->second.corrected.empty()) return std::nullopt;
    return found->second.as_of + step(found->second.rules.decay);
}

}  // namespace pbs::sched
