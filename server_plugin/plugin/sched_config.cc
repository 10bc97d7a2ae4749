#include "server_plugin/plugin/sched_config.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <tl/expected.hpp>
#include <utility>

#include "migrate/configfile.h"
#include "migrate/qmgr_print.h"
#include "objects/plain_file.h"
#include "objects/unsupported.h"
#include "server_plugin/plugin/state.h"
#include "values/text.h"

namespace pbs::plugin {
namespace {

constexpr const char* kName = "sched_config";
// The name of the fs_group that a migration would make from the file. This object doesn't exist.
constexpr const char* kGroup = "default_fs_group";
constexpr off_t kLargest = off_t{1} << 20;

// Returns the reason why a file can't be trusted, or an empty string.
std::string objection(const struct stat& info) {
    if (info.st_uid != 0 && info.st_uid != geteuid())
        return fmt::format("belongs to user {}, expected root or the server's user", info.st_uid);
    if ((info.st_mode & (S_IWOTH | S_IWGRP)) != 0)
        return "can be written by others than its owner, expected mode 0644 or less";
    if (info.st_size > kLargest) return fmt::format("is too large, expected at most {} bytes", kLargest);
    return {};
}

tl::expected<std::string, std::string> read_all(int fd) {
    std::string text;
    char buffer[16384];
    for (;;) {
        const ssize_t n = read(fd, buffer, sizeof(buffer));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return tl::unexpected("can't be read: " + system_text(errno));
        if (n == 0) return text;
        text.append(buffer, static_cast<std::size_t>(n));
        if (static_cast<off_t>(text.size()) > kLargest) return tl::unexpected<std::string>("is too large");
    }
}

// Reads the file's text. Errors say why the file as a whole can't be used.
tl::expected<std::string, std::string> read_file(const std::string& path, const std::string& home) {
    const auto fd = objects::open_plain_file(path, home);
    if (!fd) return tl::unexpected(fd.error());
    struct stat info {};
    std::string why = fstat(*fd, &info) != 0 ? system_text(errno) : objection(info);
    auto text = why.empty() ? read_all(*fd) : tl::unexpected(std::move(why));
    close(*fd);
    return text;
}

// Makes policies from a file's text; an empty text gives the defaults. Adds the mistakes in its lines to
// `mistakes`.
migrate::Result<migrate::SchedPolicies> policies_of(State& state, const std::string& path,
                                                    std::string_view text, migrate::Problems& mistakes) {
    if (migrate::is_configfile(text))
        return tl::unexpected(migrate::Problems{
            {path, 0, 0, "",
             "holds options of an Origin scheduler, expected those of sched_config: pbs_migrate --config "
             "makes a policy of them"}});
    const migrate::SchedConfig file = migrate::parse_sched_config(text, path);
    migrate::Surroundings known = state.sched_configs.surroundings();
    known.root_programs = state.dynamic_resources.root_programs().listed(state.host);
    auto policies = migrate::to_policies(file, known, kGroup);
    if (policies) policies->notes.insert(policies->notes.begin(), file.notes.begin(), file.notes.end());
    mistakes = file.mistakes;
    return policies;
}

// Parses directives that set attributes of policies at the scheduler `sched`. parse_qmgr_print() reads only
// those of the scheduler "default", so this puts "default" in place of the name.
migrate::QmgrPrint set_of(const std::string& sched, std::string_view directives) {
    constexpr std::string_view kSet = "set sched ";
    std::string text;
    while (!directives.empty()) {
        std::string_view line = values::take_line(directives);
        if (line.starts_with(kSet) && line.substr(kSet.size()).starts_with(sched + " "))
            line.remove_prefix(kSet.size() + sched.size());
        text += fmt::format("{}default{}\n", kSet, line);
    }
    return migrate::parse_qmgr_print(text, "sched " + sched);
}

void put(std::vector<migrate::SchedValue>& values, const migrate::PrintedSetting& set) {
    const auto found = std::ranges::find(values, set.attribute, &migrate::SchedValue::attribute);
    if (found != values.end())
        found->value = set.value;
    else
        values.push_back({std::string(set.attribute), set.value, std::string(set.printed), 0});
}

// Replaces settings of the file by those of the host's scheduler object, which take precedence.
void put_directives(const State& state, std::string_view sched, migrate::SchedPolicies& policies,
                    migrate::Problems& mistakes) {
    const auto directives = state.sched_directives.find(std::string(sched));
    if (directives == state.sched_directives.end()) return;
    const migrate::QmgrPrint set = set_of(directives->first, directives->second);
    for (const migrate::PrintedSetting& setting : set.settings) {
        if (setting.value.empty()) continue;
        put(policies.all_time, setting);
        if (policies.by_time()) {
            put(policies.prime, setting);
            put(policies.non_prime, setting);
        }
    }
    mistakes.insert(mistakes.end(), set.mistakes.begin(), set.mistakes.end());
}

std::shared_ptr<const objects::Object> object(const std::string& name,
                                              const std::vector<migrate::SchedValue>& values) {
    if (values.empty()) return nullptr;
    return std::make_shared<const objects::Object>(migrate::policy_object(name, values));
}

// Hands the policies to the scheduler. Returns an empty string, or the reason why the scheduler refuses them.
std::string adopt(State& state, std::string_view sched, SchedConfigFile& file,
                  const migrate::SchedPolicies& policies) {
    const auto all_time = object(kName, policies.all_time);
    const auto prime = object(fmt::format("{}_prime", kName), policies.prime);
    const auto non_prime = object(fmt::format("{}_non_prime", kName), policies.non_prime);
    if (const auto done = state.scheduler.set_sched_config(sched, all_time, prime, non_prime); !done)
        return done.error().message;
    file.in_force = true;
    file.unsupported.clear();
    file.policies = {all_time, prime, non_prime};
    for (const auto& policy : file.policies) {
        if (!policy) continue;
        for (std::string& line : objects::unsupported_lines(*policy))
            file.unsupported.push_back(std::move(line));
        if (policy->boolean("fairshare"))
            file.unsupported.push_back(
                fmt::format("policy {}: fairshare has no effect: without a policy object there is no tree of "
                            "shares; pbs_migrate makes both of sched_config and resource_group",
                            policy->name()));
    }
    return {};
}

// Logs the notes on a file that weren't logged before.
void tell_notes(State& state, std::string_view sched, SchedConfigFile& file, std::vector<std::string> notes) {
    notes.insert(notes.end(), file.unsupported.begin(), file.unsupported.end());
    for (const std::string& note : notes)
        if (!file.said.contains(note)) state.host.log(PBS_LOG_WARNING, sched, note);
    file.said = {notes.begin(), notes.end()};
}

void tell_problems(State& state, std::string_view sched, SchedConfigFile& file,
                   const migrate::Problems& problems) {
    for (const migrate::Problem& problem : problems)
        state.host.log(PBS_LOG_ERROR, sched, migrate::to_text(problem));
    file.error = migrate::to_text(problems.front());
    if (problems.size() > 1) file.error += fmt::format(" (and {} more in the log)", problems.size() - 1);
    if (!file.in_force) {
        migrate::Problems none;
        if (auto defaults = policies_of(state, file.path, {}, none)) {
            put_directives(state, sched, *defaults, none);
            adopt(state, sched, file, *defaults);
        }
        file.there = false;
    }
    state.host.log(PBS_LOG_ERROR, sched,
                   fmt::format("{} isn't used: {} in force", file.path,
                               file.there ? "what it said before stays" : "the defaults of PBS are"));
}

void read_sched_config(State& state, std::string_view sched, SchedConfigFile& file) {
    const bool there = file.version != FileVersion{};
    const auto text = there ? read_file(file.path, std::string(state.host.home())) : std::string();
    if (!text) return tell_problems(state, sched, file, {{file.path, 0, 0, "", text.error()}});
    migrate::Problems mistakes;
    auto policies = policies_of(state, file.path, *text, mistakes);
    if (!policies) return tell_problems(state, sched, file, policies.error());
    put_directives(state, sched, *policies, mistakes);
    if (std::string why = adopt(state, sched, file, *policies); !why.empty())
        return tell_problems(state, sched, file, {{file.path, 0, 0, "", std::move(why)}});
    file.there = there;
    file.error = mistakes.empty() ? std::string() : migrate::note_of(mistakes.front());
    if (mistakes.size() > 1) file.error += fmt::format(" (and {} more in the log)", mistakes.size() - 1);
    state.host.log(PBS_LOG_INFO, sched,
                   there
                       ? fmt::format("No policy is assigned: {} is in force", file.path)
                       : fmt::format("No policy is assigned, and there is no {}: the defaults of PBS are in "
                                     "force",
                                     file.path));
    std::vector<std::string> notes;
    for (const migrate::Problem& mistake : mistakes) notes.push_back(migrate::note_of(mistake));
    notes.insert(notes.end(), policies->notes.begin(), policies->notes.end());
    tell_notes(state, sched, file, std::move(notes));
}

}  // namespace

migrate::Surroundings SchedConfigs::surroundings() const {
    migrate::Surroundings known;
    for (const auto& [handle, name] : queues) known.queues.push_back(name);
    known.consumables.assign(consumables.begin(), consumables.end());
    known.others.assign(others.begin(), others.end());
    known.vnode_booleans.assign(vnode_booleans.begin(), vnode_booleans.end());
    return known;
}

void refresh_sched_config(State& state, std::string_view sched) {
    auto& files = state.sched_configs.files;
    const auto folder = state.sched_priv.find(std::string(sched));
    const bool needed =
        folder != state.sched_priv.end() && state.store->snapshot()->policy_slots(sched).empty();
    if (!needed) {
        if (files.erase(std::string(sched)) != 0) state.scheduler.clear_sched_config(sched);
        return;
    }
    const std::string base =
        folder->second.empty() ? fmt::format("{}/sched_priv", state.host.home()) : folder->second;
    const std::string path = fmt::format("{}/{}", base, kName);
    const auto [entry, is_new] = files.try_emplace(std::string(sched));
    SchedConfigFile& file = entry->second;
    const auto version = version_of(path);
    const std::uint64_t names = state.sched_configs.names;
    if (!is_new && file.path == path && file.version == version && file.names == names) return;
    file.path = path;
    file.version = version;
    file.names = names;
    read_sched_config(state, sched, file);
}

}  // namespace pbs::plugin
