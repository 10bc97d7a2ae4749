#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "objects/attribute_tables.h"
#include "objects/unsupported.h"

namespace pbs::objects {
namespace {

using enum Asks;

constexpr ObjectType kOfQueue = ObjectType::queue;

// Rows that no attribute table contains.
constexpr Unsupported kOthers[] = {
    // Attributes of queues that the server keeps, by the policy in force.
    {kOfQueue, "Priority", of, "standard", {}},
    {kOfQueue, "backfill_depth", of, "standard", {}},
    {kOfQueue, "Priority", without, "by_queue or round_robin or queue_priority in job_sort_formula", {}},
    {kOfQueue, "backfill_depth", without, "strict_ordering or help_starving_jobs", {}},
};

// Rows of one kind are in the order of listing. These are the exceptions: the row of `attribute` comes right
// before that of `other`.
struct ToldBefore {
    Asks asks;
    std::string_view attribute;
    std::string_view other;
};
constexpr ToldBefore kToldBefore[] = {
    {of, "submit_queue", "enforce_prime_time"},
    {of, "batch_queues", "enforce_prime_time"},
    {of, "past_usage_charge", "decay_factor"},
    {of, "sched_host", "avoid_fragmentation"},
    {of, "ssinode_cpus", "round_robin"},
    {of, "ssinode_mem", "round_robin"},
    {of, "round_robin_all", "by_queue"},
    {of, "job_sort_formula", "job_sort_key"},
    {of, "backfill_prime", "time_window_spill"},
    {of, "prime_exempt_anytime_queues", "time_window_spill"},
    {without, "round_robin_all", "max_starve"},
    {without, "prime_exempt_anytime_queues", "time_window_spill"},
    {without, "past_usage_charge", "decay_factor"},
    {without, "sched_host", "enforce_allocation"},
};

std::vector<Unsupported> rows_of(ObjectType type) {
    std::vector<Unsupported> rows;
    for (const Attribute& attribute : attributes(type))
        for (const Note& note : attribute.notes)
            rows.push_back({type, attribute.name, note.asks, note.word, note.why});
    const auto add_those_of = [&](ActsWith algorithm, std::string_view name) {
        for (const Attribute& attribute : attributes(type))
            if (attribute.acts_with == algorithm) rows.push_back({type, attribute.name, of, name, {}});
    };
    add_those_of(ActsWith::origin, "origin");
    add_those_of(ActsWith::standard, "standard");
    std::ranges::stable_sort(rows, {}, [](const Unsupported& row) { return std::max(row.asks, always); });
    for (const ToldBefore& told : kToldBefore) {
        const auto is = [&](std::string_view name) {
            return [&told, name](const Unsupported& row) {
                return row.asks == told.asks && row.attribute == name;
            };
        };
        const auto row = std::ranges::find_if(rows, is(told.attribute));
        const auto other = std::ranges::find_if(rows, is(told.other));
        if (row == rows.end() || other == rows.end()) continue;
        if (row < other)
            std::rotate(row, row + 1, other);
        else
            std::rotate(other, row, row + 1);
    }
    return rows;
}

const std::vector<Unsupported>& table() {
    static const std::vector<Unsupported> all = [] {
        std::vector<Unsupported> rows;
        for (const ObjectType type : own_types()) {
            const std::vector<Unsupported> own = rows_of(type);
            rows.insert(rows.end(), own.begin(), own.end());
        }
        rows.insert(rows.end(), std::begin(kOthers), std::end(kOthers));
        return rows;
    }();
    return all;
}

std::string sentence(const Unsupported& row) {
    const bool of_queue = row.type == kOfQueue;
    switch (row.asks) {
        case element:
            return fmt::format("Has no effect with {}: {}.", row.word, row.why);
        case host:
            return fmt::format("The host of queue@host has no effect with algorithm {}: {}.", row.word,
                               row.why);
        case without:
            return fmt::format("Has no effect without {}{}.", of_queue ? "the policy's " : "", row.word);
        case element_without:
            return fmt::format("{} has an effect only with {}.", row.word, row.why);
        case of:
            return fmt::format("Has an effect only with {}algorithm {}.", of_queue ? "a policy of " : "",
                               row.word);
        case elsewhere:
            return {};  // a value without effect can't be set
        case anything:
        case always:
            break;
    }
    return fmt::format("Has no effect: {}.", row.why);
}

}  // namespace

std::span<const Unsupported> unsupported_table() {
    return table();
}

std::string unsupported_remark(ObjectType type, std::string_view attribute) {
    std::string text;
    for (const Unsupported& row : table()) {
        const bool meant = row.attribute.empty() ? attribute != "comment" : row.attribute == attribute;
        if (row.type != type || !meant) continue;
        const std::string remark = sentence(row);
        if (!text.empty() && !remark.empty()) text += ' ';
        text += remark;
    }
    return text;
}

}  // namespace pbs::objects
