// The types that settings have, by the syntax of the policy attributes that they are read from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "objects/policy_attributes.h"
#include "server_plugin/scheduler/model/cluster.h"

namespace pbs::sched {

// A boolean option of Origin: a plain value, or false until an instant and true from then on.
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

// One key of job_sort_key or node_sort_key.
struct SortKey {
    std::string name;  // a resource, job_priority or sort_priority
    bool high_first = true;
    // A key of node_sort_key that is about what is assigned or unused, which changes as jobs come and go.
    bool changes = false;
};

// An attribute whose value is a text or a word is a text as a setting too, unless a type is named for it
// here.
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

template <objects::PolicyAttribute attribute, objects::Syntax syntax>
constexpr auto setting_type() {
    using enum objects::Syntax;
    if constexpr (syntax == boolean)
        return bool{};
    else if constexpr (syntax == boolean_or_date)
        return Since{};
    else if constexpr (syntax == integer || syntax == percentage || syntax == size)
        return std::int64_t{};  // a size in bytes
    else if constexpr (syntax == real)
        return double{};
    else if constexpr (syntax == duration)
        return Seconds{};
    else if constexpr (syntax == queue || syntax == queue_list)
        return std::vector<QueueSpec>{};  // an attribute for a single queue has at most one
    else if constexpr (syntax == job_sort_keys || syntax == node_sort_keys)
        return std::vector<SortKey>{};
    else if constexpr (syntax == resource_list)
        return std::vector<std::string>{};
    else
        return typename WordType<attribute>::type{};
}

template <objects::PolicyAttribute attribute, objects::Syntax syntax>
using SettingType = decltype(setting_type<attribute, syntax>());

}  // namespace pbs::sched
