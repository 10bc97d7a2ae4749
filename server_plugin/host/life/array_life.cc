#include "server_plugin/host/life/array_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/state/array.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr std::string_view kIndexTag = "^array_index^";

// Attributes of an array that its subjobs don't have.
constexpr std::array kOnlyOfArrays = {"array_indices_submitted",
                                      "array_indices_remaining",
                                      "max_run_subjobs",
                                      "array_runs",
                                      "depend",
                                      "block",
                                      "comment",
                                      "Exit_status",
                                      "Submit_arguments"};

void put_index(Job& job, std::string_view attribute) {
    std::string text(job.attributes.text(attribute));
    const auto at = text.find(kIndexTag);
    if (at == std::string::npos) return;
    text.replace(at, kIndexTag.size(), std::to_string(job.index));
    set_attribute(job, attribute, text);
}

Job new_subjob(const Job& array, int64_t index, State& state, int64_t now) {
    Job job = array;
    job.handle = state.new_handle();
    job.sequence = state.new_subjob();
    job.id = subjob_id(array, index);
    advance(job, JobEvent::made_subjob, state, now);
    job.subjobs.reset();
    job.array = array.sequence;
    job.index = index;
    for (const char* name : kOnlyOfArrays) unset_attribute(job, name);
    set_attribute(job, "Hold_Types", "n");
    set_attribute(job, "array_id", array.id);
    set_attribute(job, "array_index", std::to_string(index));
    for (const char* name : {"Output_Path", "Error_Path", "stagein", "stageout"}) put_index(job, name);
    return job;
}

// Marks an array as begun, when the first of its subjobs runs.
void begin_array(Change& change, Job& array) {
    Server& server = change.server();
    advance(array, JobEvent::began, server.state, change.now());
    set_began_comment(array);
    dependencies_when_running(change, array);
    change.then([&server, handle = array.handle] {
        const Job* begun = server.state.job(handle);
        if (begun == nullptr) return;
        server.parts.accounting.started(accounted(*begun, server.state));
        mail_job(server, *begun, 'b', "Begun execution");
    });
}

// Merges a subjob's exit status into the array's, which is 0 if all subjobs ended with 0, 1 if one ended with
// another status, and 2 if one couldn't be run. A deleted subjob counts only if the array was deleted, too.
void add_exit_status(Job& array, const Job& subjob) {
    if ((subjob.deleted && !array.deleted) || !subjob.attributes.has("Exit_status")) return;
    const int64_t status = subjob.attributes.integer("Exit_status", 0);
    const int64_t worst = std::max<int64_t>(array.attributes.integer("Exit_status", 0), status < 0   ? 2
                                                                                        : status > 0 ? 1
                                                                                                     : 0);
    set_attribute(array, "Exit_status", std::to_string(worst));
}

// Records the largest run count of the array's subjobs in `array_runs`. When a subjob runs again after its
// job was removed, the count goes on from there, so that no two runs have the same number.
void note_runs(Job& array, const Job& subjob) {
    const int64_t runs = subjob.attributes.integer("run_count", 0);
    if (runs > array.attributes.integer("array_runs", 0))
        set_attribute(array, "array_runs", std::to_string(runs));
}

// Moves an array to the history when the last of its subjobs has ended.
void end_array(Change& change, Job& array) {
    Server& server = change.server();
    const bool ran = array.stime != 0;
    if (ran) {
        array.obittime = change.now();
        if (!array.attributes.has("Exit_status")) set_attribute(array, "Exit_status", "0");
        // Write the record before the commit, as for a job (end_job).
        server.parts.accounting.ended(accounted(array, server.state));
        change.then([&server, ended = array] {
            const std::string text =
                fmt::format("Exit_status={}", ended.attributes.integer("Exit_status", 0));
            server.parts.log.job(ended.id, text);
            mail_job(server, ended, 'e', fmt::format("Execution terminated\n{}", text));
        });
    }
    // The array's comment may say why its last queued subjob waited. Replace it, because no subjob waits any
    // more.
    if (ran && array.attributes.text("comment").find(" and terminated") == std::string::npos)
        set_began_comment(array);
    set_end_comment(array, end_of(array), {});
    retire(change, array, end_of(array));
}

}  // namespace

Result<Job> subjob_to_start(Change& change, const Job& array, int64_t index) {
    State& state = change.server().state;
    if (!array.subjobs->queued.contains(index)) return fail(PBSE_BADSTATE, {});
    if (const Job* again = state.subjob(array.sequence, index)) return *again;
    Job job = new_subjob(array, index, state, change.now());
    // Earlier runs of this subjob, whose job was removed, have had numbers up to the array's run_count.
    set_attribute(job, "run_count", std::to_string(array.attributes.integer("run_count", 0)));
    return job;
}

Result<void> add_started_subjob(Change& change, Job& array, Job subjob) {
    if (!array.begun())
        if (auto ok = dependencies_at_start(change, array); !ok) return ok;
    subjob.told = array.told_as();
    array.told = change.server().state.new_handle();
    Subjobs subjobs = *array.subjobs;
    subjobs.queued.erase(subjob.index);
    set_subjobs(array, std::move(subjobs));
    change.put(std::move(subjob));
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
    return {};
}

void follow_subjobs(Change& change, uint64_t number, const std::vector<SubjobStep>& steps) {
    const Job* current = change.current(number);
    if (current == nullptr || current->history()) return;
    Job& array = change.job(*current);
    Subjobs subjobs = *array.subjobs;
    for (const SubjobStep& step : steps) {
        const bool was_there = step.before != nullptr && !step.before->history();
        const bool is_there = !step.gone && !step.after->history();
        if (was_there) tally(subjobs, *step.before, -1);
        if (is_there) tally(subjobs, *step.after, 1);
        if (is_there && step.after->state == job_state::kQueued) {
            subjobs.queued.insert(step.after->index);
        } else if (is_there || was_there) {
            subjobs.queued.erase(step.after->index);
        }
        if (!was_there || is_there) continue;
        note_runs(array, *step.after);
        if (step.before->running()) add_exit_status(array, *step.after);
    }
    set_subjobs(array, std::move(subjobs));
    array.mtime = change.now();
    if (!array.begun() && array.subjobs->running > 0) begin_array(change, array);
    if (is_done(*array.subjobs)) return end_array(change, array);
    advance(array, JobEvent::settled, change.server().state, change.now());
}

void expire_queued(Change& change, Job& array, const std::vector<IndexRange>& of) {
    Subjobs subjobs = *array.subjobs;
    // A queued subjob that has run before is a job of its own: remove that job, too.
    const State& state = change.server().state;
    for (const auto& [index, handle] : state.subjobs(array.sequence)) {
        const bool named =
            of.empty() || std::any_of(of.begin(), of.end(),
                                      [&, at = index](const auto& range) { return range.contains(at); });
        const Job& job = *state.job(handle);
        if (named && !job.running() && !job.history()) change.remove(job);
    }
    if (of.empty()) subjobs.queued.clear();
    for (const IndexRange& range : of) subjobs.queued.erase(range);
    set_subjobs(array, std::move(subjobs));
    array.mtime = change.now();
    take_up(change, array);
}

bool close_array(Change& change, Job& array) {
    Server& server = change.server();
    if (is_done(*array.subjobs)) return true;
    expire_queued(change, array, {});
    bool running = false;
    for (const auto& [index, handle] : server.state.subjobs(array.sequence)) {
        const Job& current = *server.state.job(handle);
        if (!current.running()) continue;
        running = true;
        if (current.deleted) continue;
        Job& job = change.job(current);
        advance(job, JobEvent::deleted, server.state, change.now());
        kill_after(change, job);
    }
    if (running) advance(array, JobEvent::deleted, server.state, change.now());
    return !running;
}

void requeue_ended(Change& change, Job& array) {
    const State& state = change.server().state;
    int64_t runs = array.attributes.integer("array_runs", 0);
    Subjobs subjobs = *array.subjobs;
    subjobs.queued = IndexSet(subjobs.submitted);
    for (const auto& [index, handle] : state.subjobs(array.sequence)) {
        const Job& job = *state.job(handle);
        runs = std::max(runs, job.attributes.integer("run_count", 0));
        if (job.history()) {
            change.remove(job);
        } else if (job.state != job_state::kQueued) {
            subjobs.queued.erase(index);
        }
    }
    set_attribute(array, "run_count", std::to_string(runs));
    unset_attribute(array, "Exit_status");
    set_subjobs(array, std::move(subjobs));
    array.mtime = change.now();
}

}  // namespace pbs::host
