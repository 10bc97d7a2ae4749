#include "server_plugin/host/state/dependencies.h"

#include <fmt/format.h>

#include <algorithm>

#include "server_plugin/host/state/job_name.h"

namespace pbs::host {

void Dependencies::add(const Link& link) {
    last_id_ = std::max(last_id_, link.id);
    by_job_[{link.job, link.kind, link.other}] = link.id;
    by_other_[{link.other, link.kind, link.job}] = link.id;
    if (is_work(link.kind)) work_[link.id] = link;
}

void Dependencies::remove(const Link& link) {
    by_job_.erase({link.job, link.kind, link.other});
    by_other_.erase({link.other, link.kind, link.job});
    work_.erase(link.id);
}

std::optional<Link> Dependencies::find(uint64_t job, LinkKind kind, uint64_t other) const {
    const auto at = by_job_.find({job, kind, other});
    if (at == by_job_.end()) return std::nullopt;
    return Link{at->second, job, kind, other};
}

template <typename Do>
void Dependencies::for_each(const std::map<Key, uint64_t>& map, uint64_t first, LinkKind kind, Do&& visit) {
    for (auto at = map.lower_bound({first, kind, 0}); at != map.end(); ++at) {
        const auto& [one, its_kind, last] = at->first;
        if (one != first || its_kind != kind) return;
        visit(at->second, last);
    }
}

std::vector<Link> Dependencies::of(uint64_t job, LinkKind kind) const {
    std::vector<Link> links;
    for_each(by_job_, job, kind, [&](uint64_t id, uint64_t other) {
        links.push_back({id, job, kind, other});
    });
    return links;
}

std::optional<Link> Dependencies::next_to(uint64_t other, LinkKind kind, std::optional<uint64_t> job) const {
    const auto at =
        job ? by_other_.upper_bound({other, kind, *job}) : by_other_.lower_bound({other, kind, 0});
    if (at == by_other_.end() || std::get<0>(at->first) != other || std::get<1>(at->first) != kind)
        return std::nullopt;
    return Link{at->second, std::get<2>(at->first), kind, other};
}

bool Dependencies::waits(uint64_t job) const {
    const auto at = by_job_.lower_bound({job, LinkKind::after, 0});
    return at != by_job_.end() && std::get<0>(at->first) == job && std::get<1>(at->first) <= LinkKind::on;
}

std::optional<Link> Dependencies::work() const {
    if (work_.empty()) return std::nullopt;
    return work_.begin()->second;
}

std::string Dependencies::text(uint64_t job, std::string_view server) const {
    struct ShownLink {
        uint64_t id;
        DependType type;
        uint64_t other;
    };
    std::vector<ShownLink> links;
    for (const LinkKind kind :
         {LinkKind::after, LinkKind::afterok, LinkKind::afternotok, LinkKind::afterany}) {
        const auto type = static_cast<DependType>(kind);
        for_each(by_job_, job, kind, [&](uint64_t id, uint64_t other) {
            links.push_back({id, type, other});
        });
        for_each(by_other_, job, kind, [&](uint64_t id, uint64_t child) {
            links.push_back({id, mirrored(type), child});
        });
    }
    for_each(by_job_, job, LinkKind::on, [&](uint64_t id, uint64_t count) {
        links.push_back({id, DependType::on, count});
    });
    for_each(by_job_, job, LinkKind::runone, [&](uint64_t, uint64_t set) {
        for_each(by_other_, set, LinkKind::runone, [&](uint64_t id, uint64_t member) {
            if (member != job) links.push_back({id, DependType::runone, member});
        });
    });
    std::sort(links.begin(), links.end(), [](const ShownLink& a, const ShownLink& b) { return a.id < b.id; });
    std::vector<DependItem> items;
    for (const ShownLink& link : links) {
        auto item = std::find_if(items.begin(), items.end(),
                                 [&](const DependItem& one) { return one.type == link.type; });
        if (item == items.end()) item = items.insert(items.end(), DependItem{link.type, 0, {}});
        if (link.type == DependType::on) {
            item->count = static_cast<int64_t>(link.other);
        } else {
            item->jobs.push_back(fmt::format("{}@{}", job_id(link.other, server), server));
        }
    }
    return depend_text(items);
}

}  // namespace pbs::host
