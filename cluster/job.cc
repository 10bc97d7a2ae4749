#include "cluster/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "server_plugin/plugin/pbs_plugin.h"
#include "text/variable_list.h"
#include "values/indices.h"

namespace pbs::cluster {
namespace {

// OpenPBS's substates of a queued job that has vnodes and whose files are being staged in.
constexpr std::int32_t kStagesIn = 14;
constexpr std::int32_t kStagesInToRun = 15;

// The substate of a running job once mom has reported that its processes have begun.
constexpr std::int32_t kBegun = 42;

// The substate of a job that a scheduler has suspended. One that an operator has suspended has another
// substate.
constexpr std::int32_t kSuspendedByScheduler = 45;

template <class Text>
std::int64_t soft_of(const BasicJob<Text>& job) {
    return amount_of(PBS_RES_DURATION, value_in(job.requested, "soft_walltime"));
}

template <class Text>
auto lasting(const BasicJob<Text>& job) {
    return std::tie(job.id, job.owner, job.group, job.account, job.project, job.origin_queue, job.queue,
                    job.state, job.priority, job.interactive, job.rerunnable, job.checkpointable,
                    job.topjob_ineligible, job.ctime, job.qtime, job.rank, job.etime, job.requested,
                    job.chunks, job.released, job.preempted_at, job.accrue_type, job.array, job.queued,
                    job.most_running);
}

// The attributes that are read into a job, for a Job (strings) and for a JobView (views).
template <class Text>
constexpr Field<BasicJob<Text>> kJobFields[] = {
    {"Account_Name", read_text<&BasicJob<Text>::account>},
    {"Checkpoint", [](auto& job, const auto& attribute) { job.checkpointable = attribute.value != "n"; }},
    // Job_Owner is the owner only if euser, the user that the job runs as, isn't known.
    {"Job_Owner",
     [](auto& job, const auto& attribute) {
         job.submitter = attribute.value;
         if (job.owner.empty()) job.owner = attribute.value.substr(0, attribute.value.find('@'));
     }},
    {"Priority", read_number<&BasicJob<Text>::priority>},
    {"Rerunable", [](auto& job, const auto& attribute) { job.rerunnable = attribute.value != "False"; }},
    {"Resource_List", read_list<&BasicJob<Text>::requested>},
    {"Variable_List",
     [](auto& job, const auto& attribute) {
         job.origin_queue = text::find_variable(attribute.value, "PBS_O_QUEUE").value_or("");
     }},
    {"accrue_type", read_number<&BasicJob<Text>::accrue_type>},
    {"array", read_truth<&BasicJob<Text>::array>},
    {"array_indices_remaining",
     [](auto& job, const auto& attribute) {
         if (attribute.value != "-") job.queued = attribute.value;  // "-": none
     }},
    {"comment", read_text<&BasicJob<Text>::comment>},
    {"ctime", read_number<&BasicJob<Text>::ctime>},
    {"egroup", read_text<&BasicJob<Text>::group>},
    {"eligible_time",
     [](auto& job, const auto& attribute) {
         job.eligible_time = amount_of(PBS_RES_DURATION, attribute.value);
     }},
    {"etime", read_number<&BasicJob<Text>::etime>},
    {"euser",
     [](auto& job, const auto& attribute) {
         if (!attribute.value.empty()) job.owner = attribute.value;
     }},
    {"exec_vnode", read_text<&BasicJob<Text>::exec_vnode>},
    {"interactive",
     [](auto& job, const auto& attribute) {
         job.interactive = !attribute.value.empty() && attribute.value != "False" && attribute.value != "0";
     }},
    {"job_state",
     [](auto& job, const auto& attribute) {
         if (!attribute.value.empty()) job.state = attribute.value.front();
     }},
    {"max_run_subjobs",
     [](auto& job, const auto& attribute) {
         if (!attribute.value.empty()) job.most_running = number_of(attribute.value, 0);
     }},
    {"mtime", read_number<&BasicJob<Text>::mtime>},
    {"project", read_text<&BasicJob<Text>::project>},
    {"ptime", read_number<&BasicJob<Text>::preempted_at>},
    {"qtime", read_number<&BasicJob<Text>::qtime>},
    {"queue", read_text<&BasicJob<Text>::queue>},
    {"queue_rank", read_number<&BasicJob<Text>::rank>},
    {"resources_released", read_text<&BasicJob<Text>::released>},
    {"resources_used", read_list<&BasicJob<Text>::used>},
    {"schedselect", read_text<&BasicJob<Text>::chunks>},
    {"stime", read_number<&BasicJob<Text>::stime>},
    {"substate", read_number<&BasicJob<Text>::substate>},
    {"topjob_ineligible", read_truth<&BasicJob<Text>::topjob_ineligible>},
};
static_assert(std::ranges::is_sorted(kJobFields<std::string>, {}, &Field<Job>::name));

template <class Text>
BasicJob<Text> read_job(std::string_view id, AttributeViews attributes, std::int64_t asked_at) {
    BasicJob<Text> job;
    job.id = id;
    job.accrues_since = asked_at;
    read_fields<BasicJob<Text>>(job, attributes, kJobFields<Text>);
    if (!job.array) {
        job.queued = {};
        job.most_running.reset();
    }
    return job;
}

}  // namespace

template <class Text>
bool BasicJob<Text>::runs() const {
    if (array) return false;
    if (state == 'R' || state == 'E' || state == 'S' || state == 'U') return true;
    return !exec_vnode.empty() && (substate == kStagesIn || substate == kStagesInToRun);
}

template <class Text>
bool BasicJob<Text>::begun() const {
    return runs() && substate == kBegun;
}

template <class Text>
bool BasicJob<Text>::preempted() const {
    return state == 'S' && substate == kSuspendedByScheduler;
}

template <class Text>
bool BasicJob<Text>::is_extended(std::int64_t now) const {
    const std::int64_t soft = soft_of(*this);
    return soft > 0 && state == 'R' && stime > 0 && now - stime > soft;
}

template <class Text>
std::int64_t BasicJob<Text>::soft_walltime(std::int64_t now) const {
    const std::int64_t soft = soft_of(*this);
    if (soft <= 0) return 0;
    const std::int64_t expected = is_extended(now) ? soft * ((now - stime) / soft + 1) : soft;
    const std::string_view hard = value_in(requested, "walltime");
    return hard.empty() ? expected : std::min(expected, amount_of(PBS_RES_DURATION, hard));
}

template <class Text>
std::int64_t BasicJob<Text>::walltime() const {
    constexpr std::int64_t kWithoutMaximum = std::int64_t{5} * 365 * 24 * 3600;  // as pbs_sched has it
    const auto asked = [this](const char* name, std::int64_t otherwise) {
        const std::string_view value = value_in(requested, name);
        return value.empty() ? otherwise : amount_of(PBS_RES_DURATION, value);
    };
    if (!runs() && !value_in(requested, "min_walltime").empty())
        return asked("max_walltime", kWithoutMaximum);
    return asked("walltime", -1);
}

template <class Text>
bool BasicJob<Text>::is_like(const BasicJob& other) const {
    return runs() == other.runs() && preempted() == other.preempted() && lasting(*this) == lasting(other);
}

template struct BasicJob<std::string>;
template struct BasicJob<std::string_view>;

Job job_of(std::string_view id, AttributeViews attributes, std::int64_t asked_at) {
    return read_job<std::string>(id, attributes, asked_at);
}

JobView view_of_job(std::string_view id, AttributeViews attributes, std::int64_t asked_at) {
    return read_job<std::string_view>(id, attributes, asked_at);
}

ifl::Attributes job_attributes() {
    return names_of<Job>(kJobFields<std::string>);
}

std::string first_index(std::string_view indices) {
    return std::string(indices.substr(0, indices.find_first_of(",-:")));
}

std::string without_index(std::string_view indices, std::int64_t index) {
    std::vector<values::IndexRange> left;
    const auto add = [&left](values::IndexRange range) {
        if (range.first > range.last) return;
        range.last = range.first + (range.count() - 1) * range.step;
        if (range.first == range.last) range.step = 1;
        left.push_back(range);
    };
    for (const values::IndexRange& range :
         values::parse_index_list(indices).value_or(std::vector<values::IndexRange>())) {
        if (!range.contains(index)) {
            add(range);
            continue;
        }
        add({range.first, index - range.step, range.step});
        add({index + range.step, range.last, range.step});
    }
    return values::index_list_text(left);
}

std::int64_t number_of_indices(std::string_view indices) {
    std::int64_t number = 0;
    for (const values::IndexRange& range :
         values::parse_index_list(indices).value_or(std::vector<values::IndexRange>()))
        number += range.count();
    return number;
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

std::uint64_t number_in(std::string_view id) {
    return values::take_number<std::uint64_t>(id).value_or(0);
}

}  // namespace pbs::cluster
