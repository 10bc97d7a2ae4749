#include "server_plugin/openpbs/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace pbs::openpbs {
namespace {

constexpr const char* kFormula = "job_sort_formula";

std::string value_in(const std::map<std::string, std::string>& settings, const std::string& name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string() : found->second;
}

}  // namespace

std::vector<ChangedSetting> changed_settings(const Site& before, const Site& after) {
    std::vector<ChangedSetting> out;
    for (const auto& [sched, is] : after.scheds) {
        const auto was = before.scheds.find(sched);
        if (was == before.scheds.end() || !is.own) continue;
        auto from = was->second.settings;
        auto to = is.settings;
        if (!before.server.job_sort_formula.empty())
            from.try_emplace(kFormula, before.server.job_sort_formula);
        if (!after.server.job_sort_formula.empty()) to.try_emplace(kFormula, after.server.job_sort_formula);
        std::set<std::string> names;
        for (const auto* settings : {&from, &to})
            for (const auto& [name, value] : *settings) names.insert(name);
        for (const std::string& name : names)
            if (std::string value = value_in(to, name); value != value_in(from, name))
                out.push_back({sched, name, std::move(value)});
    }
    return out;
}

std::vector<ChangedFolder> changed_folders(const Site& before, const Site& after) {
    std::vector<ChangedFolder> out;
    for (const auto& [sched, is] : after.scheds) {
        const auto was = before.scheds.find(sched);
        if (was == before.scheds.end() || !is.own) continue;
        if (is.sched_priv != was->second.sched_priv) out.push_back({sched, "sched_priv", is.sched_priv});
        if (is.sched_log != was->second.sched_log) out.push_back({sched, "sched_log", is.sched_log});
    }
    return out;
}

void PendingSettings::add(ChangedSetting change) {
    std::erase_if(waiting_, [&](const Waiting& one) {
        return one.change.sched == change.sched && one.change.name == change.name;
    });
    waiting_.push_back({std::move(change), {}, false});
}

const ChangedSetting* PendingSettings::next(Time now) {
    const auto due =
        std::ranges::find_if(waiting_, [now](const Waiting& one) { return one.not_before <= now; });
    at_ = static_cast<std::size_t>(due - waiting_.begin());
    return due == waiting_.end() ? nullptr : &due->change;
}

void PendingSettings::done() {
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at_));
}

bool PendingSettings::put_off(Time now) {
    Waiting& one = waiting_[at_];
    one.not_before = now + kBetween;
    return !std::exchange(one.put_off, true);
}

ManagerRequest request_of(const ChangedSetting& change) {
    ManagerRequest request;
    request.command = change.value.empty() ? PBS_CMD_UNSET : PBS_CMD_SET;
    request.object_type = PBS_OBJ_SCHED;
    request.object = change.sched;
    request.attributes = {{change.name, {}, change.value, ifl::Op::set}};
    return request;
}

std::string directives_of(const std::string& sched, const std::map<std::string, std::string>& settings) {
    std::string out;
    for (const auto& [name, value] : settings)
        out += fmt::format("set sched {} {} = \"{}\"\n", sched, name, value);
    return out;
}

}  // namespace pbs::openpbs
