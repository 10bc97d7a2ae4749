#include "objects/draft.h"

namespace pbs::objects {

ObjectPtr Draft::find(ObjectType type, std::string_view name) const {
    const auto found = pending_.find(std::pair<ObjectType, std::string_view>(type, name));
    return found != pending_.end() ? found->second : base_->find_shared(type, name);
}

void Draft::change(Key key, ObjectPtr object) {
    const auto known = pending_.find(key);
    undo_.try_emplace(key, known != pending_.end() ? std::optional(known->second) : std::nullopt);
    if (known != pending_.end()) {
        known->second = std::move(object);
    } else {
        pending_.emplace(std::move(key), std::move(object));
    }
}

void Draft::put(Object object) {
    Key key(object.type(), object.name());
    change(std::move(key), std::make_shared<const Object>(std::move(object)));
}

void Draft::erase(ObjectType type, std::string_view name) {
    change(Key(type, std::string(name)), nullptr);
}

namespace {

bool same(const ObjectPtr& a, const ObjectPtr& b) {
    return a && b ? a == b || *a == *b : a == b;
}

}  // namespace

std::vector<ObjectChange> Draft::changes() const {
    std::vector<ObjectChange> result;
    for (const auto& [key, after] : pending_) {
        ObjectPtr before = base_->find_shared(key.first, key.second);
        if (!same(before, after)) result.push_back({key.first, key.second, std::move(before), after});
    }
    return result;
}

std::vector<ObjectChange> Draft::changes_since_mark() const {
    std::vector<ObjectChange> result;
    for (const auto& [key, was] : undo_) {
        ObjectPtr before = was ? *was : base_->find_shared(key.first, key.second);
        const ObjectPtr& after = pending_.find(key)->second;
        if (!same(before, after)) result.push_back({key.first, key.second, std::move(before), after});
    }
    return result;
}

void Draft::revert_to_mark() {
    for (auto& [key, was] : undo_) {
        if (was) {
            pending_[key] = std::move(*was);
        } else {
            pending_.erase(key);
        }
    }
    undo_.clear();
}

// Makes a snapshot. It shares the lists of object types without changes with the base.
std::shared_ptr<const Snapshot> Draft::finish(std::uint64_t revision) const {
    auto snapshot = std::make_shared<Snapshot>(*base_);
    snapshot->revision_ = revision;
    std::vector<ObjectList::Change> changes;
    for (auto next = pending_.begin(); next != pending_.end();) {
        const ObjectType type = next->first.first;
        changes.clear();
        for (; next != pending_.end() && next->first.first == type; ++next) {
            changes.emplace_back(next->first.second, next->second);
        }
        snapshot->objects_[Snapshot::position(type)] = base_->objects(type).with(changes);
    }
    return snapshot;
}

}  // namespace pbs::objects
