// `list sched`: shows the policy in force, whether it is prime time, the next change of these and its time,
// and errors of the configuration.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "migrate/holidays_fact.h"
#include "objects/unsupported.h"
#include "server_plugin/plugin/requests/show.h"

namespace pbs::plugin {
namespace {

std::string_view truth(bool value) {
    return value ? "True" : "False";
}

// Writes an instant in the server's zone, as ctime() does: Fri Aug 13 10:13:31 1999.
std::string clock_text(const rrule::Zone& zone, sched::Instant at) {
    const auto local = zone.local(at).time_since_epoch();
    const auto shown = fmt::gmtime(std::chrono::sys_seconds{local});
    return fmt::format("{:%a %b} {:2} {:%H:%M:%S %Y}", shown, shown.tm_mday, shown);
}

std::string next_text(const rrule::Zone& zone, const sched::Status& status) {
    std::string text = fmt::format("{} to {}, {}", clock_text(zone, *status.next_change),
                                   status.next_policy.empty() ? "no policy" : status.next_policy,
                                   status.next_prime_time ? "prime time" : "non-prime time");
    if (status.next_dedicated_time) text += ", dedicated time";
    return text;
}

// Returns the errors in the objects and in the sched_config file because of which the configuration isn't
// used, or isn't used as it is written.
std::string errors(const State& state, const SchedConfigFile* file) {
    std::string text = state.configuration_error;
    if (file != nullptr && !file->error.empty()) text += (text.empty() ? "" : "; ") + file->error;
    return text;
}

// Returns a line if the holidays file has changed since its migration, else an empty text. For a scheduler of
// pbs_sched always empty, because pbs_sched reads the file itself.
std::string changed_holidays(const State& state, std::string_view sched) {
    if (sched != "default" || state.has_pbs_sched(sched)) return {};
    const auto fact = state.store->meta(migrate::kHolidaysFactKey);
    return fact ? migrate::holidays_change(fact->value_or("")) : std::string();
}

// Shows the settings without effect of the policies in the scheduler's slots, of their fs_groups, and of its
// files.
void show_unsupported(const State& state, std::string_view sched, const SchedConfigFile* file, Reply& reply) {
    std::set<std::string> lines;
    const auto add = [&](objects::ObjectType type, std::string_view name) {
        const auto found = state.unsupported.find({type, std::string(name)});
        if (found != state.unsupported.end()) lines.insert(found->second.begin(), found->second.end());
    };
    const auto snapshot = state.store->snapshot();
    const objects::PolicySlots slots = snapshot->policy_slots(sched);
    for (const std::string& name : slots.names()) {
        add(objects::ObjectType::policy, name);
        const objects::Object* policy = snapshot->policy(name);
        if (policy == nullptr) continue;
        add(objects::ObjectType::fs_group, policy->text("fairshare_group"));
        // A scheduler whose policy for all time leaves its jobs to pbs_sched is the plugin's own only until
        // the host has noticed that.
        const bool leaves =
            state.host.has_pbs_sched() && name == slots.all_time && ExternalFiles::external(state, sched);
        if (!state.has_pbs_sched(sched) && !leaves)
            for (auto& setting : objects::unsupported_by_server(*policy, state.host.abilities()))
                lines.insert(std::move(setting.text));
        if (state.takes_preemptions) continue;
        if (std::string line = objects::unsupported_preemption(*policy); !line.empty())
            lines.insert(std::move(line));
    }
    if (file != nullptr) lines.insert(file->unsupported.begin(), file->unsupported.end());
    if (state.host.has_pbs_sched())
        for (std::string& line : state.external_files.lines(state, sched)) lines.insert(std::move(line));
    if (std::string line = changed_holidays(state, sched); !line.empty()) lines.insert(std::move(line));
    if (lines.empty()) return;
    const std::string all = fmt::format("{}", fmt::join(lines, "; "));
    reply.attribute({"unsupported_settings", all, {}});
}

}  // namespace

void show_sched(State& state, sched::Instant now, std::string_view name, Reply& reply) {
    const sched::Status status = state.scheduler.status(now, name);
    const auto found = state.sched_configs.files.find(name);
    const SchedConfigFile* file = found == state.sched_configs.files.end() ? nullptr : &found->second;
    if (file != nullptr) {
        const std::string shown =
            file->path + (file->there ? "" : " (not in force: the defaults of PBS are)");
        reply.attribute({"sched_config", shown, {}});
    }
    if (!status.policy.empty()) reply.attribute({"active_policy", status.policy, {}});
    reply.attribute({"prime_time", truth(status.prime_time), {}});
    reply.attribute({"dedicated_time", truth(status.dedicated_time), {}});
    if (status.next_change) reply.attribute({"next_policy_change", next_text(state.zone, status), {}});
    if (const std::string why = errors(state, file); !why.empty())
        reply.attribute({"configuration_error", why, {}});
    if (!state.migration_error.empty()) reply.attribute({"migration_error", state.migration_error, {}});
    show_unsupported(state, name, file, reply);
}

}  // namespace pbs::plugin
