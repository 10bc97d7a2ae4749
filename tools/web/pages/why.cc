// The page Why: why a job starts or waits. Without a job it lists jobs.

#include <array>
#include <chrono>

#include "ifl/cmds/explain_format.h"
#include "ifl/cmds/text.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "text/json_document.h"
#include "tools/web/jobs.h"
#include "tools/web/pages/pages.h"

namespace pbs::web {
namespace {

using cmds::value_of;
using cmds::view;

// The most jobs that are listed. If there are more, only running jobs and jobs with an expected start are
// listed.
constexpr std::int64_t kMostListed = 2000;

constexpr std::size_t kLongestId = 600;
constexpr std::array kWhyParameters = {Parameter{"job", kLongestId}};

// Attributes of a job that are shown beside those of job_json(). The job's environment, files and scripts
// aren't shown.
constexpr std::array kWhyShown = {ATTR_comment,       ATTR_qtime,    ATTR_etime,       ATTR_a,
                                  ATTR_eligible_time, ATTR_p,        ATTR_A,           ATTR_project,
                                  ATTR_depend,        ATTR_h,        ATTR_r,           ATTR_array_state_count,
                                  ATTR_execvnode,     ATTR_runcount, ATTR_exit_status, "obittime"};

Json resources_json(const attrl* attributes, std::string_view name) {
    Json out = Json::object();
    for (const attrl* at = attributes; at != nullptr; at = at->next)
        if (view(at->name) == name) out[std::string(view(at->resource))] = view(at->value);
    return out;
}

cmds::StatusList ask_job(Link& server, const std::string& job) {
    cmds::StatusList found = server.take(pbs_statjob(server.handle(), job.c_str(), nullptr, "x"));
    // A server that keeps no history of jobs refuses to look there: ask without the history.
    if (!found && server.error() == PBSE_JOBHISTNOTSET)
        found = server.take(pbs_statjob(server.handle(), job.c_str(), nullptr, nullptr));
    return found;
}

Answer ask_why(Link& server, const SiteView& site, const std::string& job) {
    const cmds::StatusList found = ask_job(server, job);
    if (!found) return refused(server);
    const cmds::StatusList explanation =
        server.take(pbs_statexplanation(server.handle(), job.c_str(), nullptr));
    return why_answer(site, *found, explanation.get(), server.why());
}

Answer ask_list(Link& server, const SiteView& site) {
    const std::int64_t total = integer_of(site.server->attribs, ATTR_total).value_or(0);
    if (total <= kMostListed) {
        const cmds::StatusList all = ask_all(server);
        if (server.error() != PBSE_NONE) return refused(server);
        return jobs_answer(site, {all.get()}, total);
    }
    const cmds::StatusList running = ask_running(server);
    if (server.error() != PBSE_NONE) return refused(server);
    const cmds::StatusList expected = ask_expected(server);
    if (server.error() != PBSE_NONE) return refused(server);
    return jobs_answer(site, {running.get(), expected.get()}, total);
}

Answer ask_why(Link& server, const Query& query) {
    const auto replies = ask_site(server);
    if (!replies) return replies.error();
    const auto job = query.find("job");
    return job == query.end() ? ask_list(server, replies->view())
                              : ask_why(server, replies->view(), job->second);
}

}  // namespace

Answer why_answer(const SiteView& site, const batch_status& job, const batch_status* explanation,
                  const std::string& error) {
    constexpr int kForbidden = 403;
    if (!may_show(site.server->attribs, value_of(job.attribs, ATTR_owner).value_or("")))
        return refusal(kForbidden, "users don't see the jobs of others here (query_other_jobs is False)");
    Answer answer = answer_of(site, calendar_of(site));
    answer.json["server_name"] = view(site.server->name);
    Json told = job_json(job);
    told["asked"] = resources_json(job.attribs, ATTR_l);
    told["used"] = resources_json(job.attribs, ATTR_used);
    Json others = Json::object();
    for (const char* name : kWhyShown)
        if (const auto value = value_of(job.attribs, name)) others[name] = *value;
    told["attributes"] = std::move(others);
    answer.json["job"] = std::move(told);
    answer.json["explanation"] = text::parse_ordered_json(cmds::explanation_json(explanation));
    answer.json["explanation_error"] = explanation == nullptr ? Json(error) : Json(nullptr);
    return answer;
}

Answer jobs_answer(const SiteView& site, std::initializer_list<const batch_status*> lists,
                   std::int64_t total) {
    Answer answer = answer_of(site, calendar_of(site));
    answer.json["server_name"] = view(site.server->name);
    Json jobs = Json::array();
    for (const batch_status* list : lists) {
        for (; list != nullptr; list = list->next)
            if (may_show(site.server->attribs, value_of(list->attribs, ATTR_owner).value_or("")))
                jobs.push_back(job_json(*list));
    }
    answer.json["total_jobs"] = total;
    answer.json["whole"] = total <= kMostListed;
    answer.json["jobs"] = std::move(jobs);
    return answer;
}

// Keep an answer longer than on other pages: an explanation costs the server as much as a cycle.
const Page kWhyPage{.name = "why",
                    .title = "Why",
                    .parameters = kWhyParameters,
                    .good_for = std::chrono::seconds(10),
                    .ask = ask_why};

}  // namespace pbs::web
