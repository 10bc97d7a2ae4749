#include "tools/web/pages/pages.h"

#include <chrono>
#include <vector>

#include "ifl/cmds/quota_counter.h"
#include "ifl/pbs_ifl.h"

namespace pbs::web {
namespace {

Answer ask_quotas(Link& server, const Query&) {
    const auto replies = ask_site(server);
    if (!replies) return replies.error();
    const SiteView site = replies->view();
    std::vector<cmds::StatusList> lists;
    std::vector<std::pair<std::string, const batch_status*>> counters;
    for (const batch_status* sched = site.scheds; sched != nullptr; sched = sched->next) {
        lists.push_back(server.take(pbs_statquotause(server.handle(), sched->name, nullptr)));
        counters.emplace_back(cmds::view(sched->name), lists.back().get());
    }
    return quotas_answer(site, counters);
}

}  // namespace

Answer quotas_answer(const SiteView& site,
                     std::span<const std::pair<std::string, const batch_status*>> counters) {
    Answer answer = answer_of(site, calendar_of(site));
    Json list = Json::array();
    for (const auto& [sched, objects] : counters)
        for (const batch_status* object = objects; object != nullptr; object = object->next) {
            const cmds::QuotaCounter counter = cmds::quota_counter(*object);
            const auto used = cmds::number_of_amount(counter.used);
            const auto limit = cmds::number_of_amount(counter.limit);
            Json of = Json::object();
            for (const auto& [filter, value] : counter.of) of[filter] = value;
            list.push_back({{"sched", sched},
                            {"quota", counter.quota},
                            {"rule", counter.rule},
                            {"of", of},
                            {"resource", counter.resource},
                            {"used", counter.used},
                            {"limit", counter.limit},
                            {"part", used && limit && *limit > 0 ? Json(*used / *limit) : Json(nullptr)},
                            {"enabled", counter.enabled},
                            {"in_force", counter.in_force}});
        }
    answer.json["counters"] = std::move(list);
    return answer;
}

const Page kQuotasPage{.name = "quotas",
                       .title = "Quotas",
                       .parameters = {},
                       .good_for = std::chrono::seconds(2),
                       .ask = ask_quotas};

}  // namespace pbs::web
