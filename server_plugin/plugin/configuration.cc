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

void tell_unsupported(State& state, const objects::Snapshot& snapshot) {
    static const ObjectList none;
    const auto tell = [&state](const ObjectPtr& was, const ObjectPtr& is) {
        const objects::Object& object = is ? *is : *was;
        tell_unsupported(state, {object.type(), object.name()},
                         is ? objects::unsupported_lines(*is) : std::vector<std::string>{});
    };
    for (const ObjectType type : objects::own_types())
        ObjectList::for_each_difference(state.adopted ? state.adopted->objects(type) : none,
                                        snapshot.objects(type), tell);
}

void forget_mistake(State& state) {
    if (const auto kept = forget_corrected_mistake(state); !kept) {
        state.host.log(PBS_LOG_ERROR, "migration", kept.error().message);
    }
}

// What came of giving the snapshot to the scheduler.
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
    const std::vector<std::string> said = std::exchange(state.unsupported[key], lines);
    if (lines.empty()) state.unsupported.erase(key);
    for (const std::string& line : lines)
        if (std::ranges::find(said, line) == said.end())
            state.host.log(PBS_LOG_WARNING, "configuration", line);
}

std::string adopt_configuration(State& state) {
    const std::shared_ptr<const objects::Snapshot> snapshot = state.store->snapshot();
    if (!state.host.has_pbs_sched()) tell_unsupported(state, *snapshot);
    return note_adopted(state, snapshot, state.scheduler.set_configuration(snapshot));
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
