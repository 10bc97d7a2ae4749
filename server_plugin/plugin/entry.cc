// The entry point of the shared object: checks that host and plugin fit together, and fills in the table of
// the plugin's functions.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/configuration.h"
#include "server_plugin/plugin/cycle.h"
#include "server_plugin/plugin/events.h"
#include "server_plugin/plugin/guard.h"
#include "server_plugin/plugin/lifecycle.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "server_plugin/plugin/queue_settings.h"
#include "server_plugin/plugin/requests/manager.h"
#include "server_plugin/plugin/requests/show.h"
#include "server_plugin/plugin/requests/status.h"
#include "server_plugin/plugin/text.h"
#include "server_plugin/plugin/timer.h"
#include "values/text.h"

namespace pbs::plugin {
namespace {

constexpr std::string_view kName = "pbs_policy";

// Writes a text into the caller's buffer, cut to fit, with a NUL at its end.
void tell(char* error, size_t error_size, std::string_view text) noexcept {
    if (!error || error_size == 0) return;
    const size_t length = std::min(text.size(), error_size - 1);
    std::copy_n(text.data(), length, error);
    error[length] = '\0';
}

constexpr std::string_view kInternal = "internal error, see the server's log";

// Calls a function that answers a request. If it fails by an exception, the reply says so.
template <class Ask>
int32_t replied(void* self, const char* name, pbs_reply* reply, Ask ask) {
    constexpr int32_t kFailed = -1;
    const int32_t result = guarded(self, name, kFailed, ask);
    if (result != kFailed) return result;
    return static_cast<State*>(self)->host.reply(reply).error(PBSE_INTERNAL, kInternal);
}

void set_life(pbs_plugin& table) {
    table.start = [](void* self, int64_t now, char* error, size_t error_size) -> int32_t {
        tell(error, error_size, kInternal);
        return guarded(self, "start", static_cast<int32_t>(PBSE_INTERNAL), [&](State& state) -> int32_t {
            const std::string why = start(state, instant(now));
            tell(error, error_size, why);
            return why.empty() ? PBSE_NONE : PBSE_SYSTEM;
        });
    };
    table.stop = [](void* self, int64_t now) {
        guarded(self, "stop", [&](State& state) {
            state.long_change.stop();
            state.queries.stop();
            settle(state);
            save_all(state, instant(now));
        });
        delete static_cast<State*>(self);
    };
    table.commit = [](void* self, int64_t, char* error, size_t error_size) -> int32_t {
        tell(error, error_size, kInternal);
        return guarded(self, "commit", static_cast<int32_t>(PBSE_INTERNAL), [&](State& state) -> int32_t {
            const std::string why = commit(state);
            tell(error, error_size, why);
            return why.empty() ? PBSE_NONE : PBSE_SYSTEM;
        });
    };
}

void set_requests(pbs_plugin& table) {
    table.owns_attribute = [](void* self, int32_t object_type, pbs_str attribute) -> int32_t {
        return guarded(self, "owns_attribute", static_cast<int32_t>(0), [&](State& state) -> int32_t {
            const auto type = static_cast<objects::ObjectType>(object_type);
            if (type == objects::ObjectType::queue && values::same_word(view(attribute), "execution_type"))
                return state.host.has_pbs_sched() ? 1 : 0;
            return objects::find_attribute(type, view(attribute)) || is_shown_only(type, view(attribute)) ? 1
                                                                                                          : 0;
        });
    };
    table.manager = [](void* self, const pbs_manager_request* request, pbs_reply* reply) -> int32_t {
        return replied(self, "manager", reply,
                       [&](State& state) { return manager(state, request, state.host.reply(reply)); });
    };
    table.status = [](void* self, const pbs_status_request* request, pbs_reply* reply) -> int32_t {
        return replied(self, "status", reply, [&](State& state) {
            settle(state);
            return status(state, request, state.host.reply(reply));
        });
    };
    table.status_attrs = [](void* self, int64_t now, int32_t object_type, pbs_str name, pbs_reply* reply) {
        guarded(self, "status_attrs", [&](State& state) {
            settle(state);
            status_attrs(state, instant(now), object_type, view(name), state.host.reply(reply));
        });
    };
    table.not_acted_on = [](void* self, int64_t now, int32_t object_type, pbs_str name, pbs_str partition,
                            const pbs_attr* attrs, size_t attr_count, pbs_reply* reply) {
        guarded(self, "not_acted_on", [&](State& state) {
            if (object_type != PBS_OBJ_QUEUE || !state.store || (attr_count != 0 && attrs == nullptr)) return;
            settle(state);
            warn_of_queue(state, instant(now), view(name), view(partition), std::span(attrs, attr_count),
                          state.host.reply(reply));
        });
    };
    table.peer_queues = [](void* self, int64_t now, pbs_str sched, pbs_reply* reply) {
        guarded(self, "peer_queues", [&](State& state) {
            if (!state.store) return;
            settle(state);
            if (is_external(state, instant(now), view(sched))) return;
            tell_peer_queues(state, instant(now), view(sched), state.host.reply(reply));
        });
    };
    table.scheduled_by = [](void* self, int64_t now, pbs_str sched) -> int32_t {
        return guarded(
            self, "scheduled_by", static_cast<int32_t>(PBS_BY_OTHERS), [&](State& state) -> int32_t {
                settle(state);
                if (!state.store) return PBS_BY_OTHERS;
                if (state.host.has_pbs_sched() && ExternalFiles::external(state, view(sched)))
                    return PBS_BY_OTHERS;
                return is_external(state, instant(now), view(sched)) ? PBS_BY_PROGRAM : PBS_BY_PLUGIN;
            });
    };
    table.last_change = [](void* self) -> int64_t {
        return guarded(self, "last_change", int64_t{0},
                       [&](State& state) -> int64_t { return state.changes.version(); });
    };
    table.busy = [](void* self) -> int32_t {
        return guarded(self, "busy", 0, [&](State& state) { return state.long_change.busy() ? 1 : 0; });
    };
    table.abandon = [](void* self, uint64_t ticket) {
        guarded(self, "abandon", [&](State& state) {
            state.long_change.abandon(ticket);
            state.queries.abandon(ticket);
        });
    };
}

void set_events(pbs_plugin& table) {
    table.resource_defined = [](void* self, const pbs_resource_record* record) {
        guarded(self, "resource_defined", [&](State& state) { resource_defined(state, record); });
    };
    table.resource_removed = [](void* self, pbs_str name) {
        guarded(self, "resource_removed", [&](State& state) { resource_removed(state, view(name)); });
    };
    table.server_changed = [](void* self, const pbs_server_record* record) {
        guarded(self, "server_changed", [&](State& state) { server_changed(state, record); });
    };
    table.sched_changed = [](void* self, const pbs_sched_record* record) {
        guarded(self, "sched_changed", [&](State& state) { sched_changed(state, record); });
    };
    table.sched_removed = [](void* self, pbs_str name) {
        guarded(self, "sched_removed", [&](State& state) { sched_removed(state, view(name)); });
    };
    table.queue_changed = [](void* self, const pbs_queue_record* record) {
        guarded(self, "queue_changed", [&](State& state) { queue_changed(state, record); });
    };
    table.queue_removed = [](void* self, uint64_t queue) {
        guarded(self, "queue_removed", [&](State& state) { queue_removed(state, queue); });
    };
    table.vnode_changed = [](void* self, const pbs_vnode_record* record) {
        guarded(self, "vnode_changed", [&](State& state) { vnode_changed(state, record); });
    };
    table.vnode_removed = [](void* self, uint64_t vnode) {
        guarded(self, "vnode_removed", [&](State& state) { vnode_removed(state, vnode); });
    };
    table.job_changed = [](void* self, int64_t now, const pbs_job_record* record) {
        told(self, "job_changed", [&](State& state) {
            settle(state);
            job_changed(state, instant(now), record);
        });
    };
    table.job_removed = [](void* self, int64_t now, uint64_t job) {
        told(self, "job_removed", [&](State& state) {
            settle(state);
            job_removed(state, instant(now), job);
        });
    };
    table.reservation_changed = [](void* self, const pbs_reservation_record* record) {
        told(self, "reservation_changed", [&](State& state) {
            settle(state);
            reservation_changed(state, record);
        });
    };
    table.reservation_removed = [](void* self, uint64_t reservation) {
        told(self, "reservation_removed", [&](State& state) {
            settle(state);
            reservation_removed(state, reservation);
        });
    };
}

void set_cycles(pbs_plugin& table) {
    table.next_deadline = [](void* self, int64_t now) -> int64_t {
        return guarded(self, "next_deadline", INT64_MAX, [&](State& state) {
            settle(state);
            return next_deadline(state, instant(now));
        });
    };
    table.tick = [](void* self, int64_t now) -> uint32_t {
        return guarded(self, "tick", static_cast<uint32_t>(PBS_WANT_NOTHING), [&](State& state) {
            settle(state);
            return tick(state, instant(now));
        });
    };
    table.wanted = [](void* self, pbs_str sched) -> uint32_t {
        return guarded(self, "wanted", static_cast<uint32_t>(PBS_WANT_NOTHING),
                       [&](State& state) { return wanted(state, view(sched)); });
    };
    table.start_cycle = [](void* self, const pbs_cycle_request* request, int32_t* running) -> int32_t {
        return guarded(self, "start_cycle", static_cast<int32_t>(PBSE_INTERNAL), [&](State& state) {
            settle(state);
            return start_cycle(state, request, running);
        });
    };
    table.finish_cycle = [](void* self, int64_t now, pbs_cycle_result* result) -> int32_t {
        return guarded(self, "finish_cycle", static_cast<int32_t>(PBSE_INTERNAL),
                       [&](State& state) { return finish_cycle(state, instant(now), result); });
    };
    table.forget_decisions = [](void* self) {
        guarded(self, "forget_decisions", [&](State& state) { state.decisions.clear(); });
    };
    table.place_job = [](void* self, const pbs_place_request* request, pbs_cycle_result* result) -> int32_t {
        return guarded(self, "place_job", static_cast<int32_t>(PBSE_INTERNAL), [&](State& state) {
            settle(state);
            return place_job(state, request, result);
        });
    };
    table.test_start = [](void* self, const pbs_start_request* request, pbs_cycle_result* result,
                          pbs_reply* reply) -> int32_t {
        return guarded(self, "test_start", static_cast<int32_t>(PBSE_INTERNAL), [&](State& state) {
            settle(state);
            return test_start(state, request, result, reply);
        });
    };
}

pbs_plugin table_of(State* state) {
    pbs_plugin table{};
    table.size = sizeof(pbs_plugin);
    table.abi_version = PBS_PLUGIN_ABI_VERSION;
    table.self = state;
    table.name = c_str(kName);
    table.version = c_str(PBSPOLICY_VERSION);
    set_life(table);
    set_requests(table);
    set_events(table);
    set_cycles(table);
    return table;
}

// Returns the reason why host and plugin don't fit together, or an empty string. It may read `size` and
// `abi_version` of any host's table, since these are the first two members in every version of the interface.
std::string misfit(const pbs_host* host, const pbs_plugin* plugin) {
    if (!host || !plugin) return "the server gave no table of functions";
    if (host->size < offsetof(pbs_host, reserved) || host->abi_version != PBS_PLUGIN_ABI_VERSION) {
        return fmt::format("the server speaks version {} of the plugin interface, expected {}",
                           host->size < offsetof(pbs_host, reserved) ? 0 : host->abi_version,
                           PBS_PLUGIN_ABI_VERSION);
    }
    constexpr std::string_view kOtherRelease = "server and plugin are of different releases";
    if (!fits(host)) {
        return fmt::format("the server's table has {} bytes, expected {}: {}", host->size, sizeof(pbs_host),
                           kOtherRelease);
    }
    if (!fits(plugin)) {
        return fmt::format("the server has {} bytes for the plugin's table, expected {}: {}", plugin->size,
                           sizeof(pbs_plugin), kOtherRelease);
    }
    if (!host->log || !host->reply_error || !host->reply_warning || !host->reply_object ||
        !host->reply_attr) {
        return "a function is missing in the server's table";
    }
    if (host->home.len == 0 || !host->home.ptr || host->home.ptr[0] != '/') {
        return "the server's home is missing, expected an absolute path";
    }
    return {};
}

rrule::Result<rrule::Zone> zone_of(const pbs_host& host) {
    const std::string_view name = view(host.time_zone);
    if (name.empty()) return rrule::Zone::system();
    return rrule::Zone::find(name);
}

int32_t init(const pbs_host* host, pbs_plugin* plugin, char* error, size_t error_size) {
    if (const std::string why = misfit(host, plugin); !why.empty()) {
        tell(error, error_size, why);
        return PBSE_NOSUP;
    }
    auto zone = zone_of(*host);
    if (!zone) {
        tell(error, error_size, fmt::format("the server's time zone: {}", zone.error().message));
        return PBSE_BADATVAL;
    }
    auto state = std::make_unique<State>(*host, std::move(*zone));
    *plugin = table_of(state.release());
    return PBSE_NONE;
}

}  // namespace
}  // namespace pbs::plugin

extern "C" __attribute__((visibility("default"))) int32_t pbs_policy_plugin_init(const pbs_host* host,
                                                                                 pbs_plugin* plugin,
                                                                                 char* error,
                                                                                 size_t error_size) {
    try {
        return pbs::plugin::init(host, plugin, error, error_size);
    } catch (const std::exception& escaped) {
        pbs::plugin::tell(error, error_size, escaped.what());
    } catch (...) {
        pbs::plugin::tell(error, error_size, "an unknown exception");
    }
    return PBSE_INTERNAL;
}
