// Formats reports as JSON, in the form that pbs_simulate(8) describes.
#include <nlohmann/json.hpp>

#include "text/json_document.h"
#include "tools/simulate/report.h"

namespace pbs::simulate {
namespace {

using Json = nlohmann::ordered_json;

Json of(const Distribution& d) {
    return {{"mean", d.mean}, {"median", d.median}, {"p90", d.p90}, {"p99", d.p99}, {"max", d.max}};
}

Json of(const Group& group) {
    return {{"jobs", group.jobs},
            {"cpu_seconds", group.cpu_seconds},
            {"wait", of(group.wait)},
            {"bounded_slowdown", of(group.slowdown)}};
}

Json of(const Part& part) {
    Json json = of(part.jobs);
    json["cpu_seconds_used"] = part.usage.used;
    json["cpu_seconds_available"] = part.usage.available;
    json["utilisation"] = part.usage.share();
    return json;
}

Json of(const std::vector<Group>& groups, const char* key) {
    Json list = Json::array();
    for (const Group& group : groups) {
        if (group.jobs == 0) continue;
        Json json = {{key, group.name}};
        json.update(of(group));
        list.push_back(std::move(json));
    }
    return list;
}

Json of(const std::vector<std::pair<std::string, std::int64_t>>& reasons, const char* key = "reason",
        const char* number = "jobs") {
    Json list = Json::array();
    for (const auto& [reason, times] : reasons) list.push_back({{key, reason}, {number, times}});
    return list;
}

Json of(const ShareReport& shares) {
    Json groups = Json::array();
    for (const ShareGroup& group : shares.groups) {
        Json json = {{"name", group.jobs.name},    {"parent", group.parent}, {"target", group.target},
                     {"cpu_part", group.cpu_part}, {"actual", group.actual}, {"usage", group.usage}};
        json.update(of(group.jobs));
        groups.push_back(std::move(json));
    }
    return {{"sched", shares.sched}, {"fs_group", shares.group}, {"groups", std::move(groups)}};
}

Json of(const std::vector<ShareReport>& all) {
    Json list = Json::array();
    for (const ShareReport& shares : all) list.push_back(of(shares));
    return list;
}

Json of(const Preempted& one) {
    return {{"jobs", one.jobs},
            {"suspended", one.by[0]},
            {"checkpointed", one.by[1]},
            {"requeued", one.by[2]},
            {"deleted", one.by[3]},
            {"not_run_again", one.stopped},
            {"cpu_seconds_lost", one.cpu_seconds_lost},
            {"seconds_suspended", one.suspended},
            {"seconds_queued_again", one.queued_again}};
}

Json of(const std::vector<Preempted>& all, const char* key) {
    Json list = Json::array();
    for (const Preempted& one : all) {
        Json json = {{key, one.name}};
        json.update(of(one));
        list.push_back(std::move(json));
    }
    return list;
}

Json of(const PreemptionReport& preemption) {
    Json json = of(preemption.all);
    json["queues"] = of(preemption.queues, "queue");
    json["groups"] = of(preemption.groups, "group");
    json["users"] = of(preemption.users, "user");
    return json;
}

Json of(const std::vector<TicketPart>& parts, const char* key) {
    Json list = Json::array();
    for (const TicketPart& part : parts)
        list.push_back({{key, part.name},
                        {"tickets", part.tickets},
                        {"running", part.running},
                        {"override", part.by_override},
                        {"functional", part.functional},
                        {"share", part.share},
                        {"cpu_part", part.cpu}});
    return list;
}

Json of(const EstimateError& error) {
    return {{"off", of(error.off)}, {"later", error.later}};
}

Json of(const EstimateReport& estimates) {
    return {{"jobs", estimates.told},
            {"started", estimates.started},
            {"first", of(estimates.first)},
            {"last", of(estimates.last)}};
}

Json of(const std::vector<QuotaReport>& quotas) {
    Json list = Json::array();
    for (const QuotaReport& quota : quotas)
        list.push_back({{"quota", quota.name},
                        {"limit", quota.limit},
                        {"most", quota.most},
                        {"seconds_full", quota.full},
                        {"jobs", quota.jobs},
                        {"seconds_held", quota.held},
                        {"cpu_seconds_idle", quota.idle}});
    return list;
}

Json of(const Report& r, const rrule::Zone& zone) {
    Json prime = Json::array();
    for (const Period& period : r.prime_periods)
        prime.push_back({{"start", period.start.time_since_epoch().count()},
                         {"end", period.end.time_since_epoch().count()}});
    Json json = {{"title", r.title},
                 {"policies", r.policies},
                 {"begin", r.begin.time_since_epoch().count()},
                 {"begin_text", time_text(r.begin, zone)},
                 {"end", r.end.time_since_epoch().count()},
                 {"end_text", time_text(r.end, zone)},
                 {"vnodes", r.vnodes},
                 {"cpus", r.cpus},
                 {"submitted", r.submitted},
                 {"started", r.started},
                 {"killed", r.killed},
                 {"rejected", r.rejected},
                 {"never_started", r.never_started},
                 {"refused", r.refused},
                 {"cycles", r.cycles},
                 {"why_rejected", of(r.why_rejected)},
                 {"why_never_started", of(r.why_waiting)},
                 {"why_refused", of(r.why_refused)},
                 {"queues_not_there", of(r.elsewhere, "queue")},
                 {"all", of(r.all)},
                 {"prime", of(r.prime)},
                 {"non_prime", of(r.non_prime)},
                 {"sizes", of(r.sizes, "cpus")},
                 {"users", of(r.users, "user")},
                 {"prime_periods", std::move(prime)},
                 {"series",
                  {{"begin", r.series.begin.time_since_epoch().count()},
                   {"step", r.series.step},
                   {"cpus_in_use", r.series.cpus_in_use},
                   {"jobs_waiting", r.series.jobs_waiting}}}};
    if (r.refused_starts > 0) {
        json["refused_starts"] = r.refused_starts;
        json["why_refused_starts"] = of(r.why_refused_starts, "reason", "starts");
    }
    if (!r.shares.empty()) json["shares"] = of(r.shares);
    if (!r.quotas.empty()) json["quotas"] = of(r.quotas);
    if (r.tickets.given)
        json["tickets"] = {{"users", of(r.tickets.users, "user")},
                           {"groups", of(r.tickets.groups, "group")},
                           {"projects", of(r.tickets.projects, "project")}};
    if (r.preemption.all.times > 0) json["preemption"] = of(r.preemption);
    if (r.at_close.all.times > 0) json["at_close"] = of(r.at_close);
    if (r.deadlines.jobs > 0)
        json["deadlines"] = {{"jobs", r.deadlines.jobs},
                             {"in_time", r.deadlines.in_time},
                             {"never_started", r.deadlines.never},
                             {"late", of(r.deadlines.late)}};
    if (r.ranges.jobs > 0)
        json["ranges"] = {{"jobs", r.ranges.jobs},
                          {"never_started", r.ranges.never},
                          {"fewer", r.ranges.fewer},
                          {"chunks_asked", r.ranges.chunks_asked},
                          {"chunks_had", r.ranges.chunks_had},
                          {"cpus_asked", r.ranges.cpus_asked},
                          {"cpus_had", r.ranges.cpus_had}};
    if (r.preferences.jobs > 0)
        json["preferences"] = {{"jobs", r.preferences.jobs},
                               {"never_started", r.preferences.never},
                               {"all_met", r.preferences.all},
                               {"missed", r.preferences.missed}};
    if (r.estimates.told > 0) json["estimates"] = of(r.estimates);
    return json;
}

}  // namespace

std::string to_json(const Heading& heading, const std::vector<Report>& reports) {
    Json left_out = of(heading.left_out);
    Json list = Json::array();
    for (const Report& report : reports) list.push_back(of(report, heading.zone));
    const Json json = {{"trace", heading.trace}, {"jobs", heading.jobs},
                       {"left_out", left_out},   {"time_zone", heading.zone.name()},
                       {"notes", heading.notes}, {"simulations", std::move(list)}};
    // JSON can't have bytes that aren't UTF-8: write_json() replaces such bytes in names.
    return text::write_json(json, 2) + '\n';
}

}  // namespace pbs::simulate
