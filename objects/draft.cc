#include "objects/draft.h"

#include <algorithm>

namespace pbs::objects {

ObjectPtr Draft::find(ObjectType type, std::string_view name) const {
    const auto found = pending_.find(std::pair<ObjectType, std::string_view>(type, name));
    return found != pending_.end() ? found->second : base_->find_shared(type, name);
}

void Draft::put(Object object) {
    Key key(object.type(), object.name());
    pending_[std::move(key)] = std::make_shared<const Object>(std::move(object));
}

void Draft::erase(ObjectType type, std::string_view name) {
    pending_[Key(type, std::string(name))] = nullptr;
}

std::vector<ObjectChange> Draft::changes() const {
    std::vector<ObjectChange> result;
    for (const auto& [key, after] : pending_) {
        ObjectPtr before = base_->find_shared(key.first, key.second);
        const bool same = before && after ? *before == *after : before == after;
        if (!same) result.push_back({key.first, key.second, std::move(before), after});
    }
    return result;
}

// Merges what is pending of each type into that type's sorted vector; types without changes are shared.
std::shared_ptr<const Snapshot> Draft::finish(std::uint64_t revision) const {
    auto snapshot = std::make_shared<Snapshot>(*base_);
    snapshot->revision_ = revision;
    auto next = pending_.begin();
    while (next != pending_.end()) {
        const ObjectType type = next->first.first;
        const std::span<const ObjectPtr> old = base_->objects(type);
        auto merged = std::make_shared<Snapshot::Objects>();
        merged->reserve(old.size() + 1);
        auto from = old.begin();
        for (; next != pending_.end() && next->first.first == type; ++next) {
            while (from != old.end() && (*from)->name() < next->first.second) merged->push_back(*from++);
            if (from != old.end() && (*from)->name() == next->first.second) ++from;
            if (next->second) merged->push_back(next->second);
        }
        merged->insert(merged->end(), from, old.end());
        snapshot->objects_[Snapshot::position(type)] = std::move(merged);
    }
    return snapshot;
}

}  // namespace pbs::objects
