// The types of settings, by the syntax of the policy attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/policy_attributes.h"
#include "server_plugin/scheduler/model/arrangement.h"
#include "server_plugin/scheduler/model/cluster.h"
#include "values/comparison.h"

namespace pbs::sched {

// A boolean option of Origin: a plain value; or false until an instant, and true from then on.
struct Since {
    bool value = false;
    std::optional<Instant> from{};
    bool holds(Instant now) const { return from ? now >= *from : value; }
};

// <queue> or <queue>@<host> (sched-config guide, "Argument types").
struct QueueSpec {
    std::string queue;
    std::string host{};  // empty: the queue is named without a host
    friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};
// Reads "queue@host" or "queue".
QueueSpec parse_queue_spec(std::string_view text);

enum class Algorithm : std::uint8_t { standard, origin };
enum class RestartAction : std::uint8_t { none, restart, resubmit };
enum class PastUsageCharge : std::uint8_t { node_hours, flat };

// The amount of a vnode's resource that a key compares: the total, the part in use by jobs, or the rest.
enum class SortAmount : std::uint8_t { total, assigned, unused };

// One key of job_sort_key, node_sort_key or node_sort_key_of_place.
struct SortKey {
    std::string name;  // a resource, or job_priority or sort_priority
    bool high_first = true;
    SortAmount amount = SortAmount::total;  // for keys of vnodes only
};

// An element of node_sort_key_of_place.
struct KeysOfPlace {
    std::optional<Arrangement> arrangement;  // nullopt: for jobs with place=group=
    std::vector<SortKey> keys;
};

// An element of urgency_of_resources, functional_weights or job_load_adjustments.
struct NamedWeight {
    std::string name;
    double weight = 0;
    friend bool operator==(const NamedWeight&, const NamedWeight&) = default;
};

// An element of load_thresholds.
struct LoadThreshold {
    std::string queue;  // empty: all queues
    std::string name;   // a load or a resource of vnodes
    values::Comparison how = values::Comparison::at_least;
    double number = 0;
    // Returns whether a load of this value closes a vnode.
    bool is_reached(double value) const { return values::holds(value, how, number); }
    // Returns whether the threshold is an upper one, which closes vnodes with larger values.
    bool is_upper() const { return how == values::Comparison::at_least || how == values::Comparison::more; }
    friend bool operator==(const LoadThreshold&, const LoadThreshold&) = default;
};

// The owners of jobs that may have shares and tickets.
enum class OwnerKind : std::uint8_t { user, group, project, queue };
inline constexpr std::size_t kOwnerKinds = 4;

// An element of functional_shares or override_tickets.
struct OwnerWeight {
    OwnerKind kind = OwnerKind::user;
    std::string name;  // "PBS_GENERIC": each owner that no other element names
    double weight = 0;
    friend bool operator==(const OwnerWeight&, const OwnerWeight&) = default;
};

// The traits of jobs that define preemption levels: the words of preempt_prio.
enum PreemptTrait : unsigned {
    preempt_normal = 1,
    preempt_fairshare = 2,
    preempt_queue_softlimits = 4,
    preempt_server_softlimits = 8,
    preempt_express = 16,
    preempt_starving = 32,
};

// The levels of preempt_prio. A job has the level of the first element whose traits it has all; elements with
// more traits come first. A larger number is a higher level.
class PreemptPriorities {
  public:
    void add(unsigned traits);
    // Returns the level of a job with these traits; without traits, that of a normal job. The level of an
    // express job is increased by the priority of its queue.
    std::int64_t level(unsigned traits, std::int32_t queue_priority) const;
    // Returns whether any level has this trait.
    bool names(PreemptTrait trait) const;
    bool empty() const { return list_.empty(); }
    friend bool operator==(const PreemptPriorities&, const PreemptPriorities&) = default;

  private:
    struct Element {
        unsigned traits;
        std::int64_t level;
        friend bool operator==(const Element&, const Element&) = default;
    };
    std::vector<Element> list_;  // in the order in which they are tried
    std::int64_t next_ = 0;
};

// The orders of preempt_order. Each is for jobs that have at most this percentage of their walltime left.
struct PreemptOrder {
    struct Step {
        int percent;
        std::string methods;  // letters S, C, R, D
        friend bool operator==(const Step&, const Step&) = default;
    };
    std::vector<Step> steps;  // in descending order of their percentages
    // Returns the order for a job that has used `elapsed` of its walltime; for one without a walltime, the
    // first order.
    std::string_view methods(Seconds walltime, Seconds elapsed) const;
    friend bool operator==(const PreemptOrder&, const PreemptOrder&) = default;
};

// The setting of an attribute whose value is a text or a word is a string, unless a type is listed here.
template <objects::PolicyAttribute attribute>
struct WordType {
    using type = std::string;
};
template <>
struct WordType<objects::PolicyAttribute::algorithm> {
    using type = Algorithm;
};
template <>
struct WordType<objects::PolicyAttribute::sched_restart_action> {
    using type = RestartAction;
};
template <>
struct WordType<objects::PolicyAttribute::past_usage_charge> {
    using type = PastUsageCharge;
};
template <>
struct WordType<objects::PolicyAttribute::chunk_order> {
    using type = ChunkOrder;
};

template <objects::PolicyAttribute attribute, objects::Syntax syntax>
constexpr auto setting_type() {
    using enum objects::Syntax;
    if constexpr (syntax == boolean)
        return bool{};
    else if constexpr (syntax == boolean_or_date)
        return Since{};
    else if constexpr (syntax == integer || syntax == percentage || syntax == size)
        return std::int64_t{};  // a size in bytes
    else if constexpr (attribute == objects::PolicyAttribute::job_sort_formula_threshold)
        return std::optional<double>{};  // empty: there is none
    else if constexpr (syntax == real)
        return double{};
    else if constexpr (syntax == duration)
        return Seconds{};
    else if constexpr (syntax == queue || syntax == queue_list)
        return std::vector<QueueSpec>{};  // an attribute for a single queue has at most one
    else if constexpr (syntax == job_sort_keys || syntax == node_sort_keys)
        return std::vector<SortKey>{};
    else if constexpr (syntax == place_sort_keys)
        return std::vector<KeysOfPlace>{};
    else if constexpr (syntax == load_thresholds)
        return std::vector<LoadThreshold>{};
    else if constexpr (syntax == resource_weights || syntax == load_weights || syntax == word_weights)
        return std::vector<NamedWeight>{};
    else if constexpr (syntax == entity_weights)
        return std::vector<OwnerWeight>{};
    else if constexpr (syntax == resource_list || syntax == dynamic_resources || syntax == names)
        return std::vector<std::string>{};
    else if constexpr (syntax == preempt_prio)
        return PreemptPriorities{};
    else if constexpr (syntax == preempt_order)
        return PreemptOrder{};
    else
        return typename WordType<attribute>::type{};
}

template <objects::PolicyAttribute attribute, objects::Syntax syntax>
using SettingType = decltype(setting_type<attribute, syntax>());

}  // namespace pbs::sched
