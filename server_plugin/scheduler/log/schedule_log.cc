#include "server_plugin/scheduler/log/schedule_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace pbs::sched {
namespace {

constexpr std::array<std::string_view, 5> kStates{"STARTING", "ENDING", "RESERVING", "RUNNING", "SUSPENDED"};

// Returns the index of a subjob, as in "12[3].server"; 1 for a job that isn't one.
std::int64_t task_of(std::string_view id) {
    const auto open = id.find('[');
    std::int64_t task = 1;
    if (open == std::string_view::npos) return task;
    std::from_chars(id.data() + open + 1, id.data() + id.size(), task);
    return task;
}

std::string plain(std::string_view name) {
    std::string text(name);
    std::ranges::replace_if(
        text, [](char c) { return c == ';' || static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
    return text;
}

// Writes an amount as a plain number, without units, because programs read the log.
std::string amount_text(const Resources& resources, std::uint32_t resource, std::int64_t amount) {
    const Resources::Info* info = resources.find(resource);
    if (info != nullptr && info->kind == ResourceKind::real)
        return fmt::format("{}", static_cast<double>(amount) / 1e6);
    return std::to_string(amount);
}

std::string vnode_name(const Vnodes& vnodes, VnodeHandle handle) {
    const VnodeSlot slot = vnodes.find(handle);
    return slot == kNoSlot ? "?" : plain(vnodes[slot].name);
}

}  // namespace

void add_schedule_records(std::string& out, const Tables& t, Instant now, const ScheduleEntry& entry) {
    const std::string& id = t.jobs.id[entry.job];
    const std::string head =
        fmt::format("{};{};{};{};{};{};", now.time_since_epoch().count(), plain(id), task_of(id),
                    kStates.at(static_cast<std::size_t>(entry.state)), entry.start.time_since_epoch().count(),
                    entry.end.time_since_epoch().count());
    const auto add = [&](char level, std::string_view object, std::string_view resource,
                         std::string_view amount) {
        out += fmt::format("{}{};{};{};{}\n", head, level, object, resource, amount);
    };
    const std::string queue = plain(t.queues[entry.queue].name);
    add('Q', queue, "jobs", "1");
    std::map<std::uint32_t, std::int64_t> whole;
    std::map<std::pair<VnodeHandle, std::uint32_t>, std::int64_t> by_vnode;
    for (const VnodeAmount& a : entry.amounts) {
        whole[a.resource] += a.amount;
        by_vnode[{a.vnode, a.resource}] += a.amount;
    }
    const auto name = [&](std::uint32_t resource) { return plain(t.resources.name(resource)); };
    for (const auto& [resource, amount] : whole)
        add('Q', queue, name(resource), amount_text(t.resources, resource, amount));
    for (const auto& [place, amount] : by_vnode)
        add('H', vnode_name(t.vnodes, place.first), name(place.second),
            amount_text(t.resources, place.second, amount));
    for (const KeptAmount& limit : t.server.resources_available)
        if (const auto used = whole.find(limit.resource); used != whole.end())
            add('G', plain(t.server_host), name(used->first),
                amount_text(t.resources, used->first, used->second));
}

ScheduleEntry held_entry(const Tables& t, ScheduleState state, JobSlot job, Instant end) {
    ScheduleEntry entry{state, job, t.jobs.queue[job], t.jobs.stime[job], end, {}};
    t.vnodes.for_each_held(job, [&](VnodeHandle vnode, std::span<const Need> needs) {
        for (const Need& need : needs) entry.amounts.push_back({vnode, need.resource, need.amount});
    });
    return entry;
}

}  // namespace pbs::sched
