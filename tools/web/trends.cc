#include "tools/web/trends.h"

namespace pbs::web {

void Trends::note(const std::string& key, std::int64_t now, double part) {
    auto at = samples_.find(key);
    if (at == samples_.end()) {
        if (samples_.size() >= kMostElements) return;
        at = samples_.emplace(key, Samples()).first;
    }
    Samples& samples = at->second;
    // Drop samples with a later time: the server's clock was set back.
    while (!samples.empty() && samples.back().first > now) samples.pop_back();
    while (!samples.empty() && samples.front().first < now - kKept) samples.pop_front();
    if (samples.empty() || now - samples.back().first >= kBetween) samples.emplace_back(now, part);
}

void Trends::tell(Answer& answer) {
    const auto groups = answer.json.find("groups");
    if (groups == answer.json.end() || !answer.time) return;
    const values::Lock lock(mutex_);
    // Drop elements without a recent sample, which are in no tree any more.
    std::erase_if(samples_, [now = *answer.time](const auto& one) {
        return one.second.empty() || one.second.back().first < now - kKept;
    });
    for (Json& group : *groups) {
        for (Json& tree : group["usage"]) {
            for (Json& element : tree["elements"]) {
                const std::string key = tree["sched"].get<std::string>() + '\n' +
                                        group["name"].get<std::string>() + '\n' +
                                        element["name"].get<std::string>();
                note(key, *answer.time, element["actual"].get<double>());
                Json trend = Json::array();
                if (const auto at = samples_.find(key); at != samples_.end())
                    for (const auto& [time, part] : at->second)
                        trend.push_back({{"time", time}, {"actual", part}});
                element["trend"] = std::move(trend);
            }
        }
    }
}

}  // namespace pbs::web
