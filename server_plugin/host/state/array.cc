#include "server_plugin/host/state/array.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

constexpr int64_t kDefaultArraySize = 10000;

int64_t live(const Subjobs& subjobs) {
    return subjobs.running + subjobs.exiting + subjobs.waiting;
}

}  // namespace

void set_subjobs(Job& array, Subjobs subjobs) {
    set_attribute(array, "array_indices_remaining", subjobs.queued.text());
    array.subjobs = std::make_shared<const Subjobs>(std::move(subjobs));
}

bool is_done(const Subjobs& subjobs) {
    return subjobs.queued.empty() && live(subjobs) == 0;
}

void tally(Subjobs& subjobs, const Job& job, int64_t by) {
    if (job.state == job_state::kRunning || job.state == job_state::kSuspended) subjobs.running += by;
    if (job.state == job_state::kExiting) subjobs.exiting += by;
    if (job.state == job_state::kHeld || job.state == job_state::kWaiting) subjobs.waiting += by;
}

Result<void> make_array(Job& job, const State& state) {
    if (!job.attributes.has("array_indices_submitted")) {
        if (job.attributes.has("max_run_subjobs")) return fail(PBSE_NOTARRAY_ATTR, {});
        return {};
    }
    if (job.attributes.has("interactive"))
        return fail(PBSE_NOSUP, "No support for requested service: an interactive job array");
    const auto range = parse_index_range(job.attributes.text("array_indices_submitted"));
    if (!range) return tl::unexpected(range.error());
    if (range->count() > state.server.integer("max_array_size", kDefaultArraySize))
        return fail(PBSE_MaxArraySize, {});
    job.sequence = array_number(job.sequence);
    job.id = state.job_id(job.sequence);
    set_subjobs(job, {*range, IndexSet(*range)});
    return {};
}

Result<void> check_array_request(const Job& job) {
    if (!job.is_array() || job.attributes.text("Resource_List", "select_range").empty() ||
        job.is_defaulted("select_range"))
        return {};
    return fail(PBSE_NOSUP,
                fmt::format("No support for requested service: a job array with select_range={}: expected "
                            "one number of chunks in its select",
                            job.attributes.text("Resource_List", "select_range")));
}

Result<void> fits_array_size(const Job& job, const Queue& queue) {
    if (!job.is_array() || !queue.attributes.has("max_array_size")) return {};
    if (job.subjobs->submitted.count() > queue.attributes.integer("max_array_size", 0))
        return fail(PBSE_MaxArraySize, {});
    return {};
}

bool restore_array(Job& job, State& state) {
    const Attributes& a = job.attributes;
    if (a.has("array_id")) {
        const auto array = state.sequence_in(a.text("array_id"));
        if (!array) return false;
        job.array = *array;
        job.index = a.integer("array_index", 0);
        job.id = fmt::format("{}[{}].{}", number_in_id(job.array), job.index, state.server_name);
        return true;
    }
    if (!a.has("array_indices_submitted")) return true;
    const auto range = parse_index_range(a.text("array_indices_submitted"));
    if (!range) return false;
    auto queued = IndexSet::parse(*range, a.text("array_indices_remaining"));
    if (!queued) return false;
    job.told = state.new_handle();
    job.subjobs = std::make_shared<const Subjobs>(Subjobs{*range, *std::move(queued)});
    return true;
}

void count_subjobs(State& state) {
    std::vector<Job> arrays;
    for (const auto& [handle, job] : state.jobs()) {
        if (!job.is_array() || job.history()) continue;
        Subjobs subjobs = *job.subjobs;
        for (const auto& [index, subjob] : state.subjobs(job.sequence)) tally(subjobs, *state.job(subjob), 1);
        if (live(subjobs) == 0) continue;
        Job counted = job;
        counted.subjobs = std::make_shared<const Subjobs>(std::move(subjobs));
        arrays.push_back(std::move(counted));
    }
    for (Job& job : arrays) state.put(std::move(job));
}

std::string subjob_id(const Job& array, int64_t index) {
    const auto bracket = array.id.find(']');
    return fmt::format("{}{}{}", std::string_view(array.id).substr(0, bracket), index,
                       std::string_view(array.id).substr(bracket));
}

bool may_start_subjob(const Job& array, int64_t before) {
    const Subjobs& subjobs = *array.subjobs;
    if (subjobs.queued.count() <= before) return false;
    // If max_run_subjobs is 0, no subjob starts, as in OpenPBS.
    return !array.attributes.has("max_run_subjobs") ||
           subjobs.running + subjobs.exiting + before < array.attributes.integer("max_run_subjobs", 0);
}

char shown_state(const Job& job, const State& state) {
    if (!job.is_subjob() || !job.history()) return job.state;
    const Job* array = state.job_of_sequence(job.array);
    return array == nullptr || array->history() ? job.state : job_state::kExpired;
}

char state_for_plugin(const Job& job) {
    if (!job.is_array() || (job.state != job_state::kQueued && job.state != job_state::kBegun))
        return job.state;
    return may_start_subjob(job) ? job_state::kQueued : job_state::kBegun;
}

char subjob_state(const Job& array, int64_t index, const State& state) {
    if (!array.subjobs->submitted.contains(index)) return '\0';
    if (const Job* subjob = state.subjob(array.sequence, index)) return shown_state(*subjob, state);
    if (array.history()) return array.state;
    return array.subjobs->queued.contains(index) ? job_state::kQueued : job_state::kExpired;
}

std::string array_state_count(const Job& array) {
    const Subjobs& subjobs = *array.subjobs;
    const int64_t queued = subjobs.queued.count();
    return fmt::format("Queued:{} Running:{} Exiting:{} Expired:{}", queued, subjobs.running, subjobs.exiting,
                       subjobs.submitted.count() - queued - live(subjobs));
}

}  // namespace pbs::host
