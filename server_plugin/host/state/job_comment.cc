#include "server_plugin/host/state/job_comment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "server_plugin/host/run/runner.h"
#include "server_plugin/host/state/array.h"

namespace pbs::host {
namespace {

std::tm local_time(int64_t at) {
    const std::time_t seconds = at;
    std::tm tm{};
    localtime_r(&seconds, &tm);
    return tm;
}

// Returns the date as a text such as "Mon Nov 23 10:00:00 2026".
std::string date_text(int64_t at) {
    return fmt::format("{:%a %b %e %T %Y}", local_time(at));
}

}  // namespace

void set_comment(Job& job, std::string_view text) {
    if (text.empty()) {
        unset_attribute(job, "comment");
    } else {
        set_attribute(job, "comment", text);
    }
}

void set_began_comment(Job& array) {
    set_comment(array, fmt::format("Job Array Began at {:%a %b %d at %H:%M}", local_time(array.stime)));
}

void set_held_comment(Job& job, std::string_view by, int64_t now) {
    set_comment(job, fmt::format("Job held by {} on {}", by, date_text(now)));
}

std::string run_comment(const Job& job, int64_t now) {
    constexpr std::size_t kLongest = 255;
    std::string text =
        fmt::format("Job run at {:%a %b %d at %H:%M} on {}", local_time(now), job.exec_vnode.text());
    if (text.size() > kLongest) text.replace(kLongest - 3, std::string::npos, "...");
    return text;
}

void comment_on_state(Job& job, char before) {
    const bool depends = job.substate == substate::kHeldByDepend;  // gets no comment, as in PBS
    if (job.state == job_state::kHeld && !depends) {
        if (before != job_state::kHeld || job.attributes.text("comment").empty())
            set_comment(job, fmt::format("Not Running: Job is held (Hold_Types = {})", job.hold_types()));
    } else if (job.state == job_state::kWaiting) {
        set_comment(job, fmt::format("Not Running: Job waits for its Execution_Time, {}",
                                     date_text(job.attributes.integer("Execution_Time", 0))));
    } else if (job.is_array() && !depends && !job.subjobs->queued.empty() && !may_start_subjob(job)) {
        set_comment(job, "Not Running: Number of concurrent running subjobs limit reached");
    } else if (depends || before == job_state::kHeld || before == job_state::kWaiting) {
        if (job.begun()) return set_began_comment(job);
        set_comment(job, {});
    }
}

void set_end_comment(Job& job, JobEvent event, std::string_view by) {
    const std::string before(job.attributes.text("comment"));
    if (before.empty() || before.find(" and terminated") != std::string::npos) return;
    std::string end = "failed";
    if (event == JobEvent::finished) end = "finished";
    if (event == JobEvent::terminated) end = by.empty() ? "terminated" : fmt::format("terminated by {}", by);
    if (event == JobEvent::failed) {
        switch (job.attributes.integer("Exit_status", 0)) {
            case exit_status::kKilledVmem:
                end = "exceeded resource vmem";
                break;
            case exit_status::kKilledMem:
                end = "exceeded resource mem";
                break;
            case exit_status::kKilledCput:
                end = "exceeded resource cput";
                break;
            case exit_status::kKilledWalltime:
                end = "exceeded resource walltime";
                break;
            default:
                break;
        }
    }
    set_comment(job, fmt::format("{} and {}", before, end));
}

}  // namespace pbs::host
