#include "server_plugin/openpbs/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "server_plugin/openpbs/amount.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "text/variable_list.h"

namespace pbs::openpbs {
namespace {

// OpenPBS's substates of a queued job whose files are being staged in, with vnodes assigned to it.
constexpr std::int32_t kStagesIn = 14;
constexpr std::int32_t kStagesInToRun = 15;

// The substate of a running job of which mom has told that its processes have begun.
constexpr std::int32_t kBegun = 42;

// The substate of a job that a scheduler has suspended; one that an operator has suspended has another.
constexpr std::int32_t kSuspendedByScheduler = 45;

std::int64_t soft_of(const SiteJob& job) {
    const auto soft = job.requested.find("soft_walltime");
    return soft == job.requested.end() ? 0 : amount_of(PBS_RES_DURATION, soft->second);
}

auto lasting(const SiteJob& job) {
    return std::tie(job.id, job.owner, job.group, job.account, job.project, job.origin_queue, job.queue,
                    job.state, job.priority, job.interactive, job.rerunnable, job.checkpointable, job.ctime,
                    job.qtime, job.etime, job.requested, job.chunks, job.released, job.preempted_at,
                    job.accrue_type, job.array, job.queued, job.most_running);
}

std::int64_t time_in(const ifl::ObjectView& object, std::string_view name) {
    return number_of(value_of(object, name), 0);
}

}  // namespace

bool SiteJob::runs() const {
    if (array) return false;
    if (state == 'R' || state == 'E' || state == 'S' || state == 'U') return true;
    return !exec_vnode.empty() && (substate == kStagesIn || substate == kStagesInToRun);
}

bool SiteJob::begun() const {
    return runs() && substate == kBegun;
}

bool SiteJob::preempted() const {
    return state == 'S' && substate == kSuspendedByScheduler;
}

bool SiteJob::is_extended(std::int64_t now) const {
    const std::int64_t soft = soft_of(*this);
    return soft > 0 && state == 'R' && stime > 0 && now - stime > soft;
}

std::int64_t SiteJob::soft_walltime(std::int64_t now) const {
    const std::int64_t soft = soft_of(*this);
    if (soft <= 0) return 0;
    const std::int64_t expected = is_extended(now) ? soft * ((now - stime) / soft + 1) : soft;
    const auto hard = requested.find("walltime");
    if (hard == requested.end()) return expected;
    return std::min(expected, amount_of(PBS_RES_DURATION, hard->second));
}

std::int64_t SiteJob::walltime() const {
    constexpr std::int64_t kWithoutMaximum = std::int64_t{5} * 365 * 24 * 3600;  // as pbs_sched has it
    const auto asked = [this](const char* name, std::int64_t otherwise) {
        const auto found = requested.find(name);
        return found == requested.end() ? otherwise : amount_of(PBS_RES_DURATION, found->second);
    };
    if (!runs() && requested.contains("min_walltime")) return asked("max_walltime", kWithoutMaximum);
    return asked("walltime", -1);
}

bool SiteJob::is_like(const SiteJob& other) const {
    return runs() == other.runs() && preempted() == other.preempted() && lasting(*this) == lasting(other);
}

SiteJob job_of(const ifl::ObjectView& object, std::int64_t asked_at) {
    SiteJob job;
    job.asked_at = asked_at;
    job.id = object.name;
    const std::string_view owner = value_of(object, "Job_Owner");
    const std::string_view euser = value_of(object, "euser");
    job.submitter = owner;
    job.owner = euser.empty() ? owner.substr(0, owner.find('@')) : euser;
    job.group = value_of(object, "egroup");
    job.account = value_of(object, "Account_Name");
    job.project = value_of(object, "project");
    job.origin_queue = text::find_variable(value_of(object, "Variable_List"), "PBS_O_QUEUE").value_or("");
    job.queue = value_of(object, "queue");
    job.comment = value_of(object, "comment");
    const std::string_view state = value_of(object, "job_state");
    job.state = state.empty() ? 'Q' : state.front();
    job.substate = static_cast<std::int32_t>(number_of(value_of(object, "substate"), 0));
    job.priority = static_cast<std::int32_t>(number_of(value_of(object, "Priority"), 0));
    const std::string_view interactive = value_of(object, "interactive");
    job.interactive = !interactive.empty() && interactive != "False" && interactive != "0";
    job.rerunnable = value_of(object, "Rerunable") != "False";
    job.checkpointable = value_of(object, "Checkpoint") != "n";
    job.ctime = time_in(object, "ctime");
    job.qtime = time_in(object, "qtime");
    job.etime = time_in(object, "etime");
    job.stime = time_in(object, "stime");
    job.mtime = time_in(object, "mtime");
    job.requested = resources_of(object, "Resource_List");
    job.chunks = value_of(object, "schedselect");
    job.exec_vnode = value_of(object, "exec_vnode");
    job.used = resources_of(object, "resources_used");
    job.released = value_of(object, "resources_released");
    job.preempted_at = time_in(object, "ptime");
    job.accrue_type = static_cast<std::int32_t>(number_of(value_of(object, "accrue_type"), 0));
    const std::string_view eligible = value_of(object, "eligible_time");
    job.eligible_time = eligible.empty() ? 0 : amount_of(PBS_RES_DURATION, eligible);
    job.array = truth_of(value_of(object, "array"));
    if (job.array) {
        const std::string_view left = value_of(object, "array_indices_remaining");
        // "-" for none.
        if (left != "-") job.queued = left;
        if (const std::string_view most = value_of(object, "max_run_subjobs"); !most.empty())
            job.most_running = number_of(most, 0);
    }
    return job;
}

ifl::Attributes job_attributes() {
    constexpr std::array kNames{"Job_Owner",       "euser",       "egroup",
                                "Account_Name",    "project",     "Variable_List",
                                "queue",           "comment",     "job_state",
                                "substate",        "Priority",    "interactive",
                                "Rerunable",       "ctime",       "qtime",
                                "etime",           "stime",       "mtime",
                                "Resource_List",   "schedselect", "exec_vnode",
                                "resources_used",  "array",       "array_indices_remaining",
                                "max_run_subjobs", "Checkpoint",  "resources_released",
                                "ptime",           "accrue_type", "eligible_time"};
    ifl::Attributes out;
    for (const char* name : kNames) out.push_back({name, {}, {}, ifl::Op::set});
    return out;
}

std::string first_index(std::string_view indices) {
    return std::string(indices.substr(0, indices.find_first_of(",-:")));
}

std::string without_first(std::string_view indices) {
    const auto comma = indices.find(',');
    const std::string_view rest =
        comma == std::string_view::npos ? std::string_view() : indices.substr(comma + 1);
    const std::string_view range = indices.substr(0, comma);
    const auto dash = range.find('-');
    if (dash == std::string_view::npos) return std::string(rest);
    const auto colon = range.find(':');
    const std::int64_t step = colon == std::string_view::npos ? 1 : number_of(range.substr(colon + 1), 1);
    const std::int64_t next = number_of(range.substr(0, dash), 0) + step;
    const std::int64_t last = number_of(range.substr(dash + 1, colon - dash - 1), 0);
    std::string out;
    if (next == last) out = fmt::format("{}", next);
    if (next < last) {
        out = fmt::format("{}-{}", next, last);
        if (step != 1) out += fmt::format(":{}", step);
    }
    if (!out.empty() && !rest.empty()) out += ',';
    out += rest;
    return out;
}

bool has_index(std::string_view indices, std::int64_t index) {
    while (!indices.empty()) {
        const auto comma = indices.find(',');
        const std::string_view range = indices.substr(0, comma);
        indices = comma == std::string_view::npos ? std::string_view() : indices.substr(comma + 1);
        const auto dash = range.find('-');
        const auto colon = range.find(':');
        const std::int64_t first = number_of(range.substr(0, dash), -1);
        const std::int64_t last =
            dash == std::string_view::npos ? first : number_of(range.substr(dash + 1, colon - dash - 1), -1);
        const std::int64_t step = colon == std::string_view::npos
                                      ? 1
                                      : std::max<std::int64_t>(number_of(range.substr(colon + 1), 1), 1);
        if (index >= first && index <= last && (index - first) % step == 0) return true;
    }
    return false;
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
    return number_of(id.substr(open + 1, id.find(']') - open - 1), -1);
}

std::uint64_t number_in(std::string_view id) {
    return static_cast<std::uint64_t>(number_of(id.substr(0, id.find_first_not_of("0123456789")), 0));
}

std::vector<VnodeShare> shares_of(std::string_view exec_vnode) {
    std::vector<VnodeShare> out;
    while (!exec_vnode.empty()) {
        const auto plus = exec_vnode.find('+');
        std::string_view part = exec_vnode.substr(0, plus);
        exec_vnode = plus == std::string_view::npos ? std::string_view() : exec_vnode.substr(plus + 1);
        while (!part.empty() && part.front() == '(') part.remove_prefix(1);
        while (!part.empty() && part.back() == ')') part.remove_suffix(1);
        auto colon = part.find(':');
        VnodeShare share{std::string(part.substr(0, colon)), {}};
        while (colon != std::string_view::npos) {
            part.remove_prefix(colon + 1);
            colon = part.find(':');
            const std::string_view amount = part.substr(0, colon);
            if (const auto equals = amount.find('='); equals != std::string_view::npos)
                share.amounts.emplace(amount.substr(0, equals), amount.substr(equals + 1));
        }
        if (!share.vnode.empty()) out.push_back(std::move(share));
    }
    return out;
}

}  // namespace pbs::openpbs
