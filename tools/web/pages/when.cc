#include "tools/web/pages/pages.h"

#include <array>
#include <chrono>
#include <unordered_map>

#include "ifl/cmds/text.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "tools/web/jobs.h"

namespace pbs::web {
namespace {

using cmds::value_of;
using cmds::view;

constexpr std::int64_t kUsualDays = 7;
constexpr std::int64_t kMostDays = 31;
constexpr std::size_t kMostBars = 20000;
constexpr std::array kWhenParameters = {Parameter{"days", 2}};

// Gives vnodes numbers: their indices in the list. A vnode that isn't in the list is appended.
class Rows {
  public:
    explicit Rows(const batch_status* vnodes) {
        for (; vnodes != nullptr; vnodes = vnodes->next)
            add(std::string(view(vnodes->name)),
                integer_of(vnodes->attribs, ATTR_rescavail, "ncpus").value_or(0));
    }
    std::size_t of(const std::string& name) {
        const auto found = places_.find(name);
        return found == places_.end() ? add(name, 0) : found->second;
    }
    Json json() && { return {{"names", std::move(names_)}, {"ncpus", std::move(ncpus_)}}; }

  private:
    std::size_t add(const std::string& name, std::int64_t ncpus) {
        const std::size_t place = places_.size();
        places_.emplace(name, place);
        names_.push_back(name);
        ncpus_.push_back(ncpus);
        return place;
    }
    std::unordered_map<std::string, std::size_t> places_;
    Json names_ = Json::array();
    Json ncpus_ = Json::array();
};

// Returns the place of a job as JSON: [[vnode, CPUs], ...], with vnodes by index.
Json places_json(std::string_view exec_vnode, Rows& rows) {
    Json out = Json::array();
    for (const Place& place : parse_exec_vnode(exec_vnode))
        out.push_back({rows.of(place.vnode), place.ncpus});
    return out;
}

// Returns a job as a bar. The bar has no end if the job has no walltime or has exceeded it. nullopt: it has
// no start.
std::optional<Json> bar_of(const batch_status& job, bool running, Rows& rows) {
    Json bar = job_json(job);
    const Json start = bar[running ? "start" : "estimated_start"];
    if (!start.is_number()) return std::nullopt;
    const Json& walltime = bar["walltime"];
    const auto exec =
        running ? value_of(job.attribs, ATTR_execvnode) : value_of(job.attribs, ATTR_estimated, "exec_vnode");
    return Json{{"id", bar["id"]},
                {"name", bar["name"]},
                {"owner", bar["owner"]},
                {"queue", bar["queue"]},
                {"state", running ? "running" : "expected"},
                {"from", start},
                {"to", walltime.is_number() ? Json(start.get<std::int64_t>() + walltime.get<std::int64_t>())
                                            : Json(nullptr)},
                {"ncpus", bar["ncpus"]},
                {"vnodes", places_json(exec.value_or(""), rows)}};
}

// Returns the running and the expected jobs as bars. Adds the number of jobs for which there was no room to
// `left_out`.
Json bars_json(const SiteView& site, const Schedule& schedule, Rows& rows, std::size_t& left_out) {
    Json out = Json::array();
    for (const bool running : {true, false}) {
        const batch_status* job = running ? schedule.running : schedule.expected;
        for (; job != nullptr; job = job->next) {
            if (!may_show(site.server->attribs, value_of(job->attribs, ATTR_owner).value_or(""))) continue;
            auto bar = bar_of(*job, running, rows);
            if (!bar) continue;
            if (out.size() < kMostBars)
                out.push_back(std::move(*bar));
            else
                ++left_out;
        }
    }
    return out;
}

Json reservations_json(const SiteView& site, const batch_status* list, std::int64_t until, Rows& rows) {
    Json out = Json::array();
    for (; list != nullptr; list = list->next) {
        const attrl* attributes = list->attribs;
        const auto owner = value_of(attributes, ATTR_resv_owner).value_or("");
        if (!may_show(site.server->attribs, owner)) continue;
        for (const auto& [when, vnodes] : times_of(attributes)) {
            const std::int64_t from = when.start.time_since_epoch().count();
            if (from >= until) continue;
            out.push_back({{"id", view(list->name)},
                           {"name", value_of(attributes, ATTR_resv_name).value_or("")},
                           {"owner", owner},
                           {"state", value_of(attributes, ATTR_resv_state).value_or("")},
                           {"from", from},
                           {"to", when.end.time_since_epoch().count()},
                           {"vnodes", places_json(vnodes, rows)}});
        }
    }
    return out;
}

Answer ask_when(Link& server, const Query& query) {
    std::int64_t days = kUsualDays;
    if (const auto asked = query.find("days"); asked != query.end()) {
        const auto number = cmds::parse_integer(asked->second);
        if (!number || *number < 1 || *number > kMostDays) return refusal(kBad, "bad days: expected 1 to 31");
        days = *number;
    }
    const auto replies = ask_site(server);
    if (!replies) return replies.error();
    cmds::AttrList wanted;
    wanted.add(ATTR_rescavail, "", "");
    const cmds::StatusList vnodes =
        server.take(pbs_statvnode(server.handle(), "", wanted.attributes(), nullptr));
    if (server.error() != PBSE_NONE && server.error() != PBSE_NONODES) return refused(server);
    const cmds::StatusList running = ask_running(server);
    if (server.error() != PBSE_NONE) return refused(server);
    const cmds::StatusList expected = ask_expected(server);
    if (server.error() != PBSE_NONE) return refused(server);
    // Go on if this request is refused, as by a server without reservations.
    const cmds::StatusList reservations = server.take(pbs_statresv(server.handle(), "", nullptr, nullptr));
    return when_answer(replies->view(), {vnodes.get(), running.get(), expected.get(), reservations.get()},
                       days);
}

}  // namespace

Answer when_answer(const SiteView& site, const Schedule& schedule, std::int64_t days) {
    const auto known = calendar_of(site);
    Answer answer = answer_of(site, known);
    answer.json["server_name"] = view(site.server->name);
    // Begin at a full hour, so that the answer stays the same for a while.
    constexpr std::int64_t kHour = 3600;
    const rrule::Instant from{rrule::Seconds(*answer.time / kHour * kHour) - std::chrono::days(1)};
    const rrule::Instant to = from + std::chrono::days(days + 1);
    answer.json["from"] = from.time_since_epoch().count();
    answer.json["to"] = to.time_since_epoch().count();
    auto spans = known ? calendar::spans(*known, from, to) : std::vector<calendar::Span>();
    if (spans.size() > kMostSpans) spans.resize(kMostSpans);
    answer.json["background"] = spans_json(spans);
    answer.json["calendar_error"] = known ? Json(nullptr) : Json(known.error());
    Rows rows(schedule.vnodes);
    std::size_t left_out = 0;
    Json jobs = bars_json(site, schedule, rows, left_out);
    Json reservations = reservations_json(site, schedule.reservations, to.time_since_epoch().count(), rows);
    answer.json["jobs"] = std::move(jobs);
    answer.json["jobs_left_out"] = left_out;
    answer.json["reservations"] = std::move(reservations);
    answer.json["vnodes"] = std::move(rows).json();
    return answer;
}

const Page kWhenPage{.name = "when",
                     .title = "When",
                     .parameters = kWhenParameters,
                     .good_for = std::chrono::seconds(5),
                     .ask = ask_when};

}  // namespace pbs::web
