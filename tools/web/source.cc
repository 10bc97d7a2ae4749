#include "tools/web/source.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "ifl/pbs_ifl.h"
#include "tools/web/metrics.h"

namespace pbs::web {

template <class Ask>
std::optional<std::string> Source::reach(Ask ask) {
    const values::Lock lock(mutex_);
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (!link_.open()) break;
        ask(link_);
        if (!link_.was_lost()) return std::nullopt;
    }
    return link_.why();
}

std::string Source::metrics() {
    std::string text;
    const auto unreachable = reach([&](Link& link) {
        const cmds::StatusList scheds = link.take(pbs_statsched(link.handle(), nullptr, nullptr));
        if (!scheds) return;
        // Go on if this request is refused, as by a server without counters.
        const cmds::StatusList counters = link.take(pbs_statdiagnosis(link.handle(), "counters", nullptr));
        std::vector<cmds::StatusList> lists;
        std::vector<std::pair<std::string, const batch_status*>> quotas;
        for (const batch_status* sched = scheds.get(); sched != nullptr; sched = sched->next) {
            lists.push_back(link.take(pbs_statquotause(link.handle(), sched->name, nullptr)));
            quotas.emplace_back(cmds::view(sched->name), lists.back().get());
        }
        text = web::metrics(counters.get(), scheds.get(), quotas);
    });
    return !unreachable && !text.empty() ? text : web::metrics(nullptr, nullptr);
}

Answer Source::ask(const Page& page, const Query& query) {
    Answer answer;
    const auto unreachable = reach([&](Link& link) { answer = page.ask(link, query); });
    if (unreachable) return refusal(502, fmt::format("the PBS server can't be reached: {}", *unreachable));
    return answer;
}

}  // namespace pbs::web
