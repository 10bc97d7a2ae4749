#include "cluster/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "server_plugin/plugin/pbs_plugin.h"
#include "text/variable_list.h"
#include "values/indices.h"

namespace pbs::cluster {
namespace {

// OpenPBS's substates of a queued job whose files are being staged in, with vnodes assigned to it.
constexpr std::int32_t kStagesIn = 14;
constexpr std::int32_t kStagesInToRun = 15;

// The substate of a running job of which mom has told that its processes have begun.
constexpr std::int32_t kBegun = 42;

// The substate of a job that a scheduler has suspended; one that an operator has suspended has another.
constexpr std::int32_t kSuspendedByScheduler = 45;

std::int64_t soft_of(const Job& job) {
    const auto soft = job.requested.find("soft_walltime");
    return soft == job.requested.end() ? 0 : amount_of(PBS_RES_DURATION, soft->second);
}

auto lasting(const Job& job) {
    return std::tie(job.id, job.owner, job.group, job.account, job.project, job.origin_queue, job.queue,
                    job.state, job.priority, job.interactive, job.rerunnable, job.checkpointable, job.ctime,
                    job.qtime, job.etime, job.requested, job.chunks, job.released, job.preempted_at,
                    job.accrue_type, job.array, job.queued, job.most_running);
}

// The owner is the user that the job runs as, where that is known.
void read_submitter(Job& job, const ifl::AttributeView& attribute) {
    job.submitter = attribute.value;
    if (job.owner.empty()) job.owner = attribute.value.substr(0, attribute.value.find('@'));
}
void read_user(Job& job, const ifl::AttributeView& attribute) {
    if (!attribute.value.empty()) job.owner = attribute.value;
}

void read_origin(Job& job, const ifl::AttributeView& attribute) {
    job.origin_queue = text::find_variable(attribute.value, "PBS_O_QUEUE").value_or("");
}

void read_state(Job& job, const ifl::AttributeView& attribute) {
    if (!attribute.value.empty()) job.state = attribute.value.front();
}

void read_interactive(Job& job, const ifl::AttributeView& attribute) {
    job.interactive = !attribute.value.empty() && attribute.value != "False" && attribute.value != "0";
}

void read_rerunnable(Job& job, const ifl::AttributeView& attribute) {
    job.rerunnable = attribute.value != "False";
}

void read_checkpoint(Job& job, const ifl::AttributeView& attribute) {
    job.checkpointable = attribute.value != "n";
}

void read_eligible_time(Job& job, const ifl::AttributeView& attribute) {
    job.eligible_time = amount_of(PBS_RES_DURATION, attribute.value);
}

// "-" for none.
void read_remaining(Job& job, const ifl::AttributeView& attribute) {
    if (attribute.value != "-") job.queued = attribute.value;
}

void read_most_running(Job& job, const ifl::AttributeView& attribute) {
    if (!attribute.value.empty()) job.most_running = number_of(attribute.value, 0);
}

constexpr Field<Job> kJobFields[] = {
    {"Account_Name", read_text<&Job::account>},
    {"Checkpoint", read_checkpoint},
    {"Job_Owner", read_submitter},
    {"Priority", read_number<&Job::priority>},
    {"Rerunable", read_rerunnable},
    {"Resource_List", read_list<&Job::requested>},
    {"Variable_List", read_origin},
    {"accrue_type", read_number<&Job::accrue_type>},
    {"array", read_truth<&Job::array>},
    {"array_indices_remaining", read_remaining},
    {"comment", read_text<&Job::comment>},
    {"ctime", read_number<&Job::ctime>},
    {"egroup", read_text<&Job::group>},
    {"eligible_time", read_eligible_time},
    {"etime", read_number<&Job::etime>},
    {"euser", read_user},
    {"exec_vnode", read_text<&Job::exec_vnode>},
    {"interactive", read_interactive},
    {"job_state", read_state},
    {"max_run_subjobs", read_most_running},
    {"mtime", read_number<&Job::mtime>},
    {"project", read_text<&Job::project>},
    {"ptime", read_number<&Job::preempted_at>},
    {"qtime", read_number<&Job::qtime>},
    {"queue", read_text<&Job::queue>},
    {"resources_released", read_text<&Job::released>},
    {"resources_used", read_list<&Job::used>},
    {"schedselect", read_text<&Job::chunks>},
    {"stime", read_number<&Job::stime>},
    {"substate", read_number<&Job::substate>},
};
static_assert(std::ranges::is_sorted(kJobFields, {}, &Field<Job>::name));

}  // namespace

bool Job::runs() const {
    if (array) return false;
    if (state == 'R' || state == 'E' || state == 'S' || state == 'U') return true;
    return !exec_vnode.empty() && (substate == kStagesIn || substate == kStagesInToRun);
}

bool Job::begun() const {
    return runs() && substate == kBegun;
}

bool Job::preempted() const {
    return state == 'S' && substate == kSuspendedByScheduler;
}

bool Job::is_extended(std::int64_t now) const {
    const std::int64_t soft = soft_of(*this);
    return soft > 0 && state == 'R' && stime > 0 && now - stime > soft;
}

std::int64_t Job::soft_walltime(std::int64_t now) const {
    const std::int64_t soft = soft_of(*this);
    if (soft <= 0) return 0;
    const std::int64_t expected = is_extended(now) ? soft * ((now - stime) / soft + 1) : soft;
    const auto hard = requested.find("walltime");
    if (hard == requested.end()) return expected;
    return std::min(expected, amount_of(PBS_RES_DURATION, hard->second));
}

std::int64_t Job::walltime() const {
    constexpr std::int64_t kWithoutMaximum = std::int64_t{5} * 365 * 24 * 3600;  // as pbs_sched has it
    const auto asked = [this](const char* name, std::int64_t otherwise) {
        const auto found = requested.find(name);
        return found == requested.end() ? otherwise : amount_of(PBS_RES_DURATION, found->second);
    };
    if (!runs() && requested.contains("min_walltime")) return asked("max_walltime", kWithoutMaximum);
    return asked("walltime", -1);
}

bool Job::is_like(const Job& other) const {
    return runs() == other.runs() && preempted() == other.preempted() && lasting(*this) == lasting(other);
}

Job job_of(std::string_view id, AttributeViews attributes, std::int64_t asked_at) {
    Job job;
    job.id = id;
    job.accrues_since = asked_at;
    read_fields<Job>(job, attributes, kJobFields);
    if (!job.array) {
        job.queued.clear();
        job.most_running.reset();
    }
    return job;
}

ifl::Attributes job_attributes() {
    return names_of<Job>(kJobFields);
}

std::string first_index(std::string_view indices) {
    return std::string(indices.substr(0, indices.find_first_of(",-:")));
}

std::string without_first(std::string_view indices) {
    auto ranges = values::parse_index_list(indices).value_or(std::vector<values::IndexRange>());
    if (ranges.empty()) return {};
    values::IndexRange& range = ranges.front();
    range.first += range.step;
    if (range.first == range.last) range.step = 1;
    if (range.first > range.last) ranges.erase(ranges.begin());
    return values::index_list_text(ranges);
}

bool has_index(std::string_view indices, std::int64_t index) {
    const auto ranges = values::parse_index_list(indices).value_or(std::vector<values::IndexRange>());
    return std::ranges::any_of(ranges, [index](const auto& range) { return range.contains(index); });
}

std::string subjob_id(std::string_view array, std::string_view index) {
    const auto bracket = array.find("[]");
    if (bracket == std::string_view::npos) return std::string(array);
    return fmt::format("{}[{}]{}", array.substr(0, bracket), index, array.substr(bracket + 2));
}

std::string array_of(std::string_view id) {
    const auto open = id.find('[');
    const auto close = id.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close <= open + 1) return {};
    return fmt::format("{}[]{}", id.substr(0, open), id.substr(close + 1));
}

std::int64_t index_in(std::string_view id) {
    if (array_of(id).empty()) return -1;
    const auto open = id.find('[');
    return values::parse_index(id.substr(open + 1, id.find(']') - open - 1)).value_or(-1);
}

std::uint64_t number_in(std::string_view id) {
    return values::take_number<std::uint64_t>(id).value_or(0);
}

}  // namespace pbs::cluster
