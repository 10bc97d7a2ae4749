#include "server_plugin/plugin/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "objects/unsupported.h"
#include "server_plugin/plugin/first_start.h"

namespace pbs::plugin {
namespace {

using objects::ObjectList;
using objects::ObjectPtr;
using objects::ObjectType;

// Replaces the stored lines about an object's settings that have no effect. Returns the new lines among them.
std::vector<std::string> note_unsupported(State& state, const UnsupportedKey& key,
                                          std::vector<std::string> lines) {
    const std::vector<std::string> said = std::exchange(state.unsupported[key], lines);
    if (lines.empty()) state.unsupported.erase(key);
    std::erase_if(lines,
                  [&](const std::string& line) { return std::ranges::find(said, line) != said.end(); });
    return lines;
}

// Calls `note` for each object of these types that differs between the adopted configuration and `snapshot`;
// for a removed object, with its last state.
template <class Types, class Note>
void for_each_changed(const State& state, const objects::Snapshot& snapshot, const Types& types, Note note) {
    static const ObjectList none;
    for (const ObjectType type : types)
        ObjectList::for_each_difference(
            state.adopted ? state.adopted->objects(type) : none, snapshot.objects(type),
            [&](const ObjectPtr& was, const ObjectPtr& is) { note(is ? *is : *was); });
}

void note_changed(State& state, const objects::Snapshot& snapshot) {
    for_each_changed(state, snapshot, objects::kConfiguredTypes, [&](const objects::Object& object) {
        state.changes.note({sched::ObjectRef::Kind::configured, static_cast<std::uint64_t>(object.type()),
                            std::string(object.name())});
    });
    if (state.has_pbs_sched_alone()) return;
    for_each_changed(state, snapshot, objects::own_types(), [&](const objects::Object& object) {
        state.changed_settings.objects.emplace_back(object.type(), object.name());
    });
}

void forget_mistake(State& state) {
    if (const auto kept = forget_corrected_mistake(state); !kept) {
        state.host.log(PBS_LOG_ERROR, "migration", kept.error().message);
    }
}

// Notes that `snapshot` is adopted, or why the scheduler can't use it. Returns that reason, or an empty
// string.
std::string note_adopted(State& state, const std::shared_ptr<const objects::Snapshot>& snapshot,
                         const sched::Result<void>& adopted) {
    state.adopted = snapshot;
    state.configuration_error = adopted ? std::string{} : adopted.error().message;
    if (adopted) return {};
    state.host.log(
        PBS_LOG_ERROR, "configuration",
        fmt::format(
            "Revision {} of the configuration can't be scheduled by, the one before stays in force: {}",
            snapshot->revision(), adopted.error().message));
    return adopted.error().message;
}

}  // namespace

void tell_unsupported(State& state, const UnsupportedKey& key, std::vector<std::string> lines) {
    for (const std::string& line : note_unsupported(state, key, std::move(lines)))
        state.host.log(PBS_LOG_WARNING, "configuration", line);
}

void tell_of_changed(State& state) {
    // The most lines that are logged about one change of the configuration: nobody reads more.
    constexpr std::size_t kMostLines = 100;
    // The most objects that one call handles, in a few milliseconds.
    constexpr std::size_t kAtOnce = 1000;
    ChangedSettings& changed = state.changed_settings;
    if (changed.objects.empty()) return;
    for (std::size_t i = 0; i < kAtOnce && !changed.objects.empty(); ++i) {
        const UnsupportedKey key = std::move(changed.objects.front());
        changed.objects.pop_front();
        const ObjectPtr object = state.adopted->objects(key.first).find(key.second);
        for (const std::string& line : note_unsupported(
                 state, key, object ? objects::unsupported_lines(*object) : std::vector<std::string>{}))
            if (++changed.lines <= kMostLines) state.host.log(PBS_LOG_WARNING, "configuration", line);
    }
    if (!changed.objects.empty()) return;
    if (changed.lines > kMostLines)
        state.host.log(PBS_LOG_WARNING, "configuration",
                       fmt::format("and {} more settings that have no effect", changed.lines - kMostLines));
    changed.lines = 0;
}

std::string adopt_configuration(State& state) {
    const std::shared_ptr<const objects::Snapshot> snapshot = state.store->snapshot();
    note_changed(state, *snapshot);
    std::string why = note_adopted(state, snapshot, state.scheduler.set_configuration(snapshot));
    tell_of_changed(state);
    load_shares(state);
    return why;
}

void load_shares(State& state) {
    if (!state.store || state.scheduler.at_work()) return;
    if (std::exchange(state.shares_came, false)) state.scheduler.load_shares_again();
    UsageSaver::load_shares(*state.store, state.scheduler, state.host);
}

void follow_zones(State& state, sched::Instant now) {
    if (!state.store || !state.adopted || state.scheduler.zones_are_current(now)) return;
    state.host.log(PBS_LOG_INFO, "configuration",
                   "files of the time zone database have changed: time windows are worked out again");
    note_adopted(state, state.adopted, state.scheduler.renew_zones(state.adopted));
    state.zone = state.scheduler.zone();
    state.store->set_zone(state.zone);
}

void settle(State& state) {
    if (!state.store || !state.failure.empty()) return;
    state.store->settle();
    if (!state.adopted || state.adopted == state.store->snapshot()) return;
    forget_mistake(state);
    adopt_configuration(state);
}

std::string commit(State& state) {
    if (!state.store || !state.store->staged()) return {};
    const auto done = state.store->commit();
    return done ? std::string{} : done.error().message;
}

}  // namespace pbs::plugin
