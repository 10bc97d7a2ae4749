#include "tools/web/metrics.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/quota_counter.h"
#include "tools/web/exposition.h"
#include "values/counts.h"

namespace pbs::web {
namespace {

using cmds::value_of;
using cmds::view;

// An attribute of the part "counters" of the server's diagnosis, and the metric that it becomes. The
// attribute's resource becomes the value of `label`.
struct Row {
    std::string_view attribute;
    std::string_view name;
    std::string_view type;
    std::string_view label;   // empty: the attribute has no resource
    std::string_view bounds;  // for a histogram: the attribute with its bounds
    std::string_view help;
};
constexpr std::array kRows = {
    Row{"started", "pbs_start_time_seconds", "gauge", "", "", "Start of the server, in seconds since 1970."},
    Row{"cycles", "pbs_cycle_duration_seconds", "histogram", "trigger", "duration_bounds",
        "Scheduling cycles, from their beginning until their decisions were carried out."},
    Row{"decisions", "pbs_cycle_decisions_total", "counter", "kind", "",
        "Decisions of cycles that were carried out: run is a started job."},
    Row{"decisions_dropped", "pbs_cycle_decisions_dropped_total", "counter", "", "",
        "Decisions that were dropped, as jobs or vnodes had changed before they were carried out."},
    Row{"jobs_considered", "pbs_cycle_jobs_considered_total", "counter", "", "",
        "Jobs that cycles looked at."},
    Row{"cycles_failed", "pbs_cycle_failures_total", "counter", "", "", "Cycles that failed."},
    Row{"waits", "pbs_job_wait_duration_seconds", "histogram", "", "wait_bounds",
        "How long jobs that started had been eligible to start."},
    Row{"jobs_ended", "pbs_jobs_ended_total", "counter", "", "", "Runs of jobs that ended."},
    Row{"vnodes", "pbs_vnodes", "gauge", "state", "", "Vnodes by state; free ones may be busy."},
    Row{"requests", "pbs_request_duration_seconds", "histogram", "request", "duration_bounds",
        "Requests of clients, from when the server had them until the answer was made."},
    Row{"requests_refused", "pbs_requests_refused_total", "counter", "request", "",
        "Requests that were answered with an error."},
    Row{"commits", "pbs_database_commit_duration_seconds", "histogram", "", "duration_bounds",
        "Transactions of the server's database, until they were durable."},
    Row{"log_lines_lost", "pbs_log_lines_lost_total", "counter", "", "",
        "Lines that couldn't be written to the server's log."}};

void add(Exposition& out, const Row& row, const attrl* counters) {
    bool begun = false;
    for (const attrl* at = counters; at != nullptr; at = at->next) {
        if (view(at->name) != row.attribute) continue;
        if (!begun) out.begin(row.name, row.type, row.help);
        begun = true;
        Labels labels;
        if (!row.label.empty()) labels.emplace_back(row.label, view(at->resource));
        if (row.bounds.empty())
            out.sample(view(at->value), labels);
        else
            out.histogram(view(at->value), value_of(counters, row.bounds).value_or(""), labels);
    }
}

void add_queues(Exposition& out, const attrl* counters) {
    bool begun = false;
    for (const attrl* at = counters; at != nullptr; at = at->next) {
        if (view(at->name) != "queue") continue;
        if (!begun) out.begin("pbs_jobs", "gauge", "Jobs by queue and state, without those that have ended.");
        begun = true;
        for (const auto& [state, count] : values::counts(view(at->value)))
            out.sample(std::to_string(count), {{"queue", view(at->resource)}, {"state", state}});
    }
}

// A metric that is 1 or 0 for each scheduler, depending on the value of an attribute.
struct Truth {
    std::string_view attribute;
    std::string_view expected;  // value that counts as 1; empty: any
    std::string_view name;
    std::string_view help;
};
constexpr std::array kTruths = {
    Truth{"scheduling", "True", "pbs_sched_scheduling", "Whether cycles of the scheduler run."},
    Truth{"prime_time", "True", "pbs_sched_prime_time", "Whether it is prime time."},
    Truth{"dedicated_time", "True", "pbs_sched_dedicated_time", "Whether it is dedicated time."},
    Truth{"configuration_error", "", "pbs_sched_configuration_error",
          "Whether something keeps the policy from being used as it is."}};

void add_scheds(Exposition& out, const batch_status* scheds) {
    if (scheds == nullptr) return;
    for (const Truth& truth : kTruths) {
        out.begin(truth.name, "gauge", truth.help);
        for (const batch_status* sched = scheds; sched != nullptr; sched = sched->next) {
            const auto value = value_of(sched->attribs, truth.attribute);
            const bool holds = value && (truth.expected.empty() || *value == truth.expected);
            out.sample(holds ? "1" : "0", {{"sched", view(sched->name)}});
        }
    }
    out.begin("pbs_sched_policy_info", "gauge", "The policy in force.");
    for (const batch_status* sched = scheds; sched != nullptr; sched = sched->next)
        out.sample("1", {{"sched", view(sched->name)},
                         {"policy", value_of(sched->attribs, "active_policy").value_or("")}});
}

// Adds the counters of quotas that are in force and have a limit, by scheduler.
void add_quotas(Exposition& out, std::span<const std::pair<std::string, const batch_status*>> quotas) {
    const auto add = [&](const char* name, const char* help, std::string cmds::QuotaCounter::*amount) {
        bool begun = false;
        for (const auto& [sched, objects] : quotas)
            for (const batch_status* object = objects; object != nullptr; object = object->next) {
                const cmds::QuotaCounter counter = cmds::quota_counter(*object);
                const auto number = cmds::number_of_amount(counter.*amount);
                if (!number || !counter.in_force) continue;
                if (!std::exchange(begun, true)) out.begin(name, "gauge", help);
                const std::string whose = counter.whose(",");
                out.sample(fmt::format("{:.17g}", *number), {{"sched", sched},
                                                             {"quota", counter.quota},
                                                             {"rule", counter.rule},
                                                             {"key", whose},
                                                             {"resource", counter.resource}});
            }
    };
    add("pbs_quota_used",
        "What running jobs use of a counter of a quota: sizes in bytes, durations in seconds.",
        &cmds::QuotaCounter::used);
    add("pbs_quota_limit", "The limit of a counter of a quota.", &cmds::QuotaCounter::limit);
}

}  // namespace

std::string metrics(const batch_status* counters, const batch_status* scheds,
                    std::span<const std::pair<std::string, const batch_status*>> quotas) {
    Exposition out;
    out.begin("pbs_up", "gauge", "Whether the server answers.");
    out.sample(counters != nullptr || scheds != nullptr ? "1" : "0");
    if (counters != nullptr) {
        out.begin("pbs_info", "gauge", "The server's version.");
        out.sample("1", {{"version", value_of(counters->attribs, "version").value_or("")}});
        for (const Row& row : kRows) add(out, row, counters->attribs);
        add_queues(out, counters->attribs);
    }
    add_scheds(out, scheds);
    add_quotas(out, quotas);
    return out.text();
}

}  // namespace pbs::web
