#include "server_plugin/host/change/server.h"

#include <sys/wait.h>

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/mom_config.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr std::string_view kDefaultSched = "default";

}  // namespace

void Server::reap() {
    std::erase_if(killed_children, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

Server::Server(State initial, ServerParts server_parts, ServerOptions server_options)
    : state(std::move(initial)),
      parts(server_parts),
      options(std::move(server_options)),
      registrations(now(), [this](std::string_view sched, std::string_view who) {
          parts.log.write(LogEvent::sched, LogClass::sched, sched,
                          fmt::format("{} is no longer registered as the scheduler", who));
          return now();
      }) {
    // Jobs are in the order of queueing, so the last job has the largest queue_rank.
    if (!state.jobs().empty()) last_rank = state.jobs().rbegin()->second.queue_rank;
}

int64_t Server::now() const {
    return parts.clock.now().time_since_epoch().count();
}

Identity Server::identity() const {
    return {"pbs_server", state.server_name, privilege_operator | privilege_manager | privilege_root};
}

std::string Server::state_text() const {
    if (closing == Closing::delayed) return "Terminating_Delayed";
    if (winding_down()) return "Terminating";
    return state.server.boolean("scheduling", false) ? "Active" : "Idle";
}

Result<void> Server::make_first_objects() {
    Change change(*this, now());
    const auto empty = parts.store.empty();
    if (!empty) return tl::unexpected(empty.error());
    if (*empty) {
        Attributes& server = change.server_attributes();
        for (const AttributeDef& row : server_table().rows()) {
            if (!row.has(preset)) continue;
            // The default of a resource list is written as "ncpus=1"; for any other attribute the text is the
            // value.
            const std::string_view value = row.default_value;
            const size_t equals = row.type == Type::resources ? value.find('=') : std::string_view::npos;
            const bool whole = equals == std::string_view::npos;
            server.set(row, whole ? "" : value.substr(0, equals),
                       std::string(whole ? value : value.substr(equals + 1)));
        }
    }
    if (state.sched(kDefaultSched) == nullptr) {
        Sched sched;
        sched.handle = state.new_handle();
        if (sched.handle == 1) sched.handle = state.new_handle();  // 1 is the handle of the server object
        sched.name = kDefaultSched;
        const auto set = [&](std::string_view name, std::string value) {
            sched.attributes.set(*sched_table().find(name), {}, value);
        };
        set("sched_priv", options.home + "/sched_priv");
        set("sched_log", options.home + "/sched_logs");
        set("scheduling", state.server.boolean("scheduling", true) ? "True" : "False");
        set("scheduler_iteration", "600");
        change.add(std::move(sched));
    }
    return change.commit();
}

Result<void> Server::start_plugin() {
    Plugin& plugin = *parts.plugin;
    const int64_t at = now();
    state.checkpoints = read_mom_config(options.home).checkpoint.has_value();
    for (const Resource* resource : state.resources.all()) plugin.resource_defined(*resource);
    plugin.server_changed(state);
    for (const auto& [name, sched] : state.scheds()) plugin.sched_changed(sched, state);
    for (const auto& [name, queue] : state.queues()) plugin.queue_changed(queue, state);
    for (const auto& [name, node] : state.nodes()) plugin.node_changed(node, state);
    for (const auto& [number, reservation] : state.reservations())
        plugin.reservation_changed(reservation, state);
    for (const auto& [handle, job] : state.jobs())
        if (!job.history()) plugin.tell(at, job, state);
    return plugin.start(at);
}

int Server::more_telling(int trigger, int other) {
    const auto rank = [](int code) {
        switch (code) {
            case PBS_SCH_POLICY_SWITCH:
                return 3;
            case PBS_SCH_CONFIGURE:
            case PBS_SCH_SCHEDULE_FIRST:
                return 2;
            case PBS_SCH_SCHEDULE_NEW:
            case PBS_SCH_SCHEDULE_TERM:
                return 0;
            default:
                return 1;
        }
    };
    return rank(other) > rank(trigger) ? other : trigger;
}

void Server::want_cycle(int trigger, std::string_view sched) noexcept {
    if (trigger == PBS_SCH_CONFIGURE && changed) changed->configuration = true;
    int* wanted = &wanted_of_all_;
    try {
        if (!sched.empty()) wanted = &wanted_.try_emplace(std::string(sched), 0).first->second;
    } catch (const std::bad_alloc&) {
    }
    *wanted = *wanted == 0 ? trigger : more_telling(*wanted, trigger);
}

std::map<std::string, int, std::less<>> Server::take_wanted_cycles() {
    if (wanted_of_all_ != 0) wanted_[{}] = wanted_of_all_;
    wanted_of_all_ = 0;
    return std::exchange(wanted_, {});
}

uint64_t next_sequence(const Server& server) {
    const int64_t largest = server.state.server.integer("max_job_sequence_id", 9999999);
    int64_t next = std::max<int64_t>(server.state.next_sequence, 0);
    const auto taken = [&](int64_t number) {
        const auto sequence = static_cast<uint64_t>(number);
        return server.state.job_of_sequence(sequence) != nullptr ||
               server.state.job_of_sequence(array_number(sequence)) != nullptr ||
               server.state.reservations().contains(sequence);
    };
    while (next > largest || taken(next)) next = next > largest ? 0 : next + 1;
    return static_cast<uint64_t>(next);
}

}  // namespace pbs::host
