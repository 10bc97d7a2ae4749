#include "server_plugin/plugin/cycle.h"

#include <fmt/format.h>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/dump_file.h"
#include "server_plugin/plugin/sched_config.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

std::string folder_of(const State& state, std::string_view sched) {
    const auto folder = state.sched_priv.find(std::string(sched));
    return folder == state.sched_priv.end() ? std::string{} : folder->second;
}

using PutFile = std::string (*)(const DumpTarget& target, std::string_view text);

// What fails is told once, until it works again.
void put_policy_file(State& state, std::string_view sched, std::string_view what,
                     const sched::FileToWrite& file, PutFile put) {
    const DumpTarget target{std::string(state.host.home()), folder_of(state, sched), file.path};
    const std::string why = put(target, file.text);
    if (why.empty()) {
        state.said_unwritable.erase(file.path);
    } else if (state.said_unwritable.insert(file.path).second) {
        state.host.log(PBS_LOG_WARNING, sched, fmt::format("{} isn't written: {}", what, why));
    }
}

}  // namespace

void write_policy_file(State& state, std::string_view sched, std::string_view what,
                       const sched::FileToWrite& file) {
    put_policy_file(state, sched, what, file, write_dump_file);
}

void append_schedule(State& state, std::string_view sched, const sched::FileToWrite& records) {
    put_policy_file(state, sched, "The schedule log", records, append_dump_file);
}

void append_ended(State& state) {
    for (const sched::ScheduleRecords& records : state.scheduler.take_schedule())
        append_schedule(state, records.sched, records.file);
}

void read_allocations(State& state, std::string_view sched, sched::Instant now, bool anew) {
    std::string folder = folder_of(state, sched);
    if (folder.empty()) folder = fmt::format("{}/sched_priv", state.host.home());
    state.allocation_files.refresh(state.scheduler, state.host, sched, folder, now, anew);
}

int32_t cycle(State& state, const pbs_cycle_request* request, pbs_cycle_result* result) {
    if (!request || !result || request->size < sizeof(pbs_cycle_request) ||
        result->size < sizeof(pbs_cycle_result)) {
        return PBSE_INTERNAL;
    }
    result->decisions = nullptr;
    result->decision_count = 0;
    result->jobs_considered = 0;
    state.decisions.clear();
    if (!state.store) return PBSE_INTERNAL;

    const std::string_view sched = view(request->sched);
    refresh_sched_config(state, sched);
    read_allocations(state, sched, instant(request->now), request->trigger == PBS_SCH_CONFIGURE);
    state.dedicated_times.ask(state.scheduler, state.host, sched, instant(request->now),
                              request->trigger == PBS_SCH_CONFIGURE);
    sched::Decisions decided = state.scheduler.cycle(instant(request->now), sched,
                                                     static_cast<sched::CycleTrigger>(request->trigger));
    for (const std::string& line : decided.log) state.host.log(PBS_LOG_INFO, sched, line);
    if (decided.sorted_jobs) write_policy_file(state, sched, "The sorted job list", *decided.sorted_jobs);
    if (decided.schedule) append_schedule(state, sched, *decided.schedule);
    state.hpm_switch.after_cycle(state.scheduler, state.host, sched, instant(request->now),
                                 decided.hpm_wanted);
    result->jobs_considered = decided.jobs_considered;
    state.decisions.assign(std::move(decided));
    result->decisions = state.decisions.list().data();
    result->decision_count = state.decisions.list().size();
    return PBSE_NONE;
}

}  // namespace pbs::plugin
