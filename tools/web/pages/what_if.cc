#include "tools/web/pages/pages.h"

#include <chrono>
#include <set>
#include <string>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"

namespace pbs::web {
namespace {

using cmds::view;

constexpr std::size_t kMonthDigits = 6;  // the length of the year and month in YYYYMMDD

Answer ask_what_if(Link& server, const Query&) {
    const auto replies = ask_site(server);
    if (!replies) return replies.error();
    const cmds::StatusList days = server.take(pbs_stataccounting(server.handle(), nullptr, nullptr));
    const bool forbidden = server.error() == PBSE_PERM;
    return what_if_answer(
        replies->view(), days.get(),
        forbidden ? "The server gives its accounting to managers and operators alone, and pbs_web is none: "
                    "pbs_web(8), PRIVILEGES, says what to do."
                  : server.why());
}

}  // namespace

Answer what_if_answer(const SiteView& site, const batch_status* days, const std::string& error) {
    Answer answer = answer_of(site, calendar_of(site));
    answer.json["server_name"] = view(site.server->name);
    answer.json["jobs_of_others"] = shows_jobs_of_others(site.server->attribs);
    std::set<std::string, std::greater<>> months;
    for (; days != nullptr; days = days->next) {
        const std::string_view day = view(days->name);
        if (day.size() > kMonthDigits)
            months.insert(std::string(day.substr(0, 4)) + "-" + std::string(day.substr(4, 2)));
    }
    answer.json["months"] = months;
    answer.json["months_error"] = error.empty() ? Json(nullptr) : Json(error);
    Json policies = Json::array();
    for (const batch_status* policy = site.policies; policy != nullptr; policy = policy->next)
        policies.push_back(view(policy->name));
    answer.json["policies"] = std::move(policies);
    return answer;
}

const Page kWhatIfPage{.name = "what-if",
                       .title = "What if",
                       .parameters = {},
                       .good_for = std::chrono::seconds(2),
                       .ask = ask_what_if};

}  // namespace pbs::web
