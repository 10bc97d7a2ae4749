#include "tools/web/source.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "tools/web/metrics.h"

namespace pbs::web {

template <class Ask>
bool Source::reach(Ask ask) {
    const std::lock_guard lock(mutex_);
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (!link_.open()) return false;
        ask();
        if (!link_.was_lost()) return true;
    }
    return false;
}

std::string Source::metrics() {
    std::string text;
    const bool reached = reach([&] {
        const cmds::StatusList scheds = link_.take(pbs_statsched(link_.handle(), nullptr, nullptr));
        if (!scheds) return;
        // Go on if this request is refused, as by a server without counters.
        const cmds::StatusList counters = link_.take(pbs_statdiagnosis(link_.handle(), "counters", nullptr));
        std::vector<cmds::StatusList> lists;
        std::vector<std::pair<std::string, const batch_status*>> quotas;
        for (const batch_status* sched = scheds.get(); sched != nullptr; sched = sched->next) {
            lists.push_back(link_.take(pbs_statquotause(link_.handle(), sched->name, nullptr)));
            quotas.emplace_back(cmds::view(sched->name), lists.back().get());
        }
        text = web::metrics(counters.get(), scheds.get(), quotas);
    });
    return reached && !text.empty() ? text : web::metrics(nullptr, nullptr);
}

Answer Source::ask(const Page& page, const Query& query) {
    Answer answer;
    if (reach([&] { answer = page.ask(link_, query); })) return answer;
    return refusal(502, fmt::format("the PBS server can't be reached: {}", link_.why()));
}

}  // namespace pbs::web
