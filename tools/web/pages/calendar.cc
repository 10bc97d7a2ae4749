#include "tools/web/pages/pages.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "ifl/pbs_ifl.h"
#include "tools/calendar/dates.h"
#include "tools/calendar/month.h"
#include "tools/web/jobs.h"

namespace pbs::web {
namespace {

using cmds::value_of;
using cmds::view;

constexpr std::array kCalendarParameters = {Parameter{"month", 7}};
constexpr std::array<std::string_view, 3> kPhases = {"non_prime", "prime", "dedicated"};

std::string day_text(rrule::LocalDay day) {
    const std::chrono::year_month_day date(day);
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

Json days_json(const calendar::Month& month) {
    Json out = Json::array();
    for (const calendar::MonthDay& day : month.days) {
        Json parts = Json::array();
        for (const calendar::DayPart& part : day.parts)
            parts.push_back({{"from", part.from},
                             {"to", part.to},
                             {"phase", kPhases.at(static_cast<std::size_t>(part.phase))}});
        out.push_back({{"date", day_text(day.day)},
                       {"non_work", day.non_work},
                       {"name", day.name},
                       {"clock", day.clock},
                       {"parts", std::move(parts)}});
    }
    return out;
}

Json queues_json(const calendar::Month& month) {
    Json out = Json::array();
    for (const calendar::QueueMonth& queue : month.queues) {
        Json days = Json::array();
        for (const auto& day : queue.days) {
            Json open = Json::array();
            for (const calendar::OpenTime& time : day) open.push_back({{"from", time.from}, {"to", time.to}});
            days.push_back(std::move(open));
        }
        out.push_back({{"name", queue.name}, {"time_windows", queue.windows}, {"days", std::move(days)}});
    }
    return out;
}

Json policies_json(const calendar::Month& month) {
    Json out = Json::array();
    for (const calendar::PhasePolicies& sched : month.policies) {
        Json one = {{"sched", sched.sched}};
        for (std::size_t phase = 0; phase < kPhases.size(); ++phase)
            one[std::string(kPhases.at(phase))] = sched.policies.at(phase);
        out.push_back(std::move(one));
    }
    return out;
}

Json reservations_json(const SiteView& site, const batch_status* list, std::int64_t from, std::int64_t to) {
    Json out = Json::array();
    for (; list != nullptr; list = list->next) {
        const attrl* attributes = list->attribs;
        const auto owner = value_of(attributes, ATTR_resv_owner).value_or("");
        if (!may_show(site.server->attribs, owner)) continue;
        for (const auto& [when, vnodes] : times_of(attributes)) {
            const std::int64_t begin = when.start.time_since_epoch().count();
            const std::int64_t end = when.end.time_since_epoch().count();
            if (begin >= to || end <= from) continue;
            out.push_back({{"id", view(list->name)},
                           {"name", value_of(attributes, ATTR_resv_name).value_or("")},
                           {"owner", owner},
                           {"from", begin},
                           {"to", end}});
        }
    }
    return out;
}

std::string month_text(std::chrono::year_month month) {
    return fmt::format("{:04}-{:02}", static_cast<int>(month.year()), static_cast<unsigned>(month.month()));
}

Answer ask_calendar(Link& server, const Query& query) {
    const auto replies = ask_site(server);
    if (!replies) return replies.error();
    // Go on if this request is refused, as by a server without reservations.
    const cmds::StatusList reservations = server.take(pbs_statresv(server.handle(), "", nullptr, nullptr));
    const auto month = query.find("month");
    return calendar_answer(replies->view(), reservations.get(), month == query.end() ? "" : month->second);
}

}  // namespace

Answer calendar_answer(const SiteView& site, const batch_status* reservations, const std::string& month) {
    constexpr int kUnusable = 502;
    const auto known = calendar_of(site);
    if (!known) return refusal(kUnusable, known.error());
    Answer answer = answer_of(site, known);
    const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(
        known->zone.local(rrule::Instant(rrule::Seconds(*answer.time)))));
    calendar::Result<std::chrono::year_month> asked = std::chrono::year_month(today.year(), today.month());
    if (!month.empty()) asked = calendar::parse_month(month);
    if (!asked) return refusal(kBad, asked.error());
    const calendar::Month made = calendar::make_month(*known, *asked);
    const rrule::Instant from = known->zone.instant(std::chrono::local_days(*asked / 1));
    const rrule::Instant to =
        known->zone.instant(std::chrono::local_days((*asked + std::chrono::months(1)) / 1));
    auto spans = calendar::spans(*known, from, to);
    if (spans.size() > kMostSpans) spans.resize(kMostSpans);
    answer.json["server_name"] = view(site.server->name);
    answer.json["month"] = month_text(*asked);
    answer.json["before"] = month_text(*asked - std::chrono::months(1));
    answer.json["after"] = month_text(*asked + std::chrono::months(1));
    answer.json["today"] = day_text(std::chrono::local_days(today));
    answer.json["days"] = days_json(made);
    answer.json["policies"] = policies_json(made);
    answer.json["queues"] = queues_json(made);
    answer.json["spans"] = spans_json(spans);
    answer.json["reservations"] =
        reservations_json(site, reservations, from.time_since_epoch().count(), to.time_since_epoch().count());
    return answer;
}

const Page kCalendarPage{.name = "calendar",
                         .title = "Calendar",
                         .parameters = kCalendarParameters,
                         .good_for = std::chrono::seconds(15),
                         .ask = ask_calendar};

}  // namespace pbs::web
