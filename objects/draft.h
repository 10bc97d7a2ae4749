// A configuration in the course of a change: a snapshot, and the effect of commands on it. Only its owner
// sees a draft; when it is written to the disk, it becomes a snapshot for all.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "objects/error.h"
#include "objects/snapshot.h"

namespace pbs::objects {

// An object before and after a change. Null: the object didn't exist before, or doesn't exist afterwards.
struct ObjectChange {
    ObjectType type;
    std::string name;
    ObjectPtr before;
    ObjectPtr after;
};

// Calls `visit(attribute, before, after)` for each attribute whose value the change altered, in the order of
// the table. A null pointer means that the attribute isn't set. Stops at the first error.
template <class Visit>
Result<void> for_each_difference(const ObjectChange& change, Visit visit) {
    using Values = std::span<const std::pair<std::size_t, Value>>;
    const Values was = change.before ? change.before->values() : Values{};
    const Values is = change.after ? change.after->values() : Values{};
    for (auto b = was.begin(), a = is.begin(); b != was.end() || a != is.end();) {
        const bool in_before = b != was.end() && (a == is.end() || b->first <= a->first);
        const bool in_after = a != is.end() && (b == was.end() || a->first <= b->first);
        const std::size_t at = in_before ? b->first : a->first;
        const Value* const before = in_before ? &(b++)->second : nullptr;
        const Value* const after = in_after ? &(a++)->second : nullptr;
        if (before && after && *before == *after) continue;
        if (Result<void> done = visit(attributes(change.type)[at], before, after); !done) return done;
    }
    return {};
}

class Draft {
  public:
    explicit Draft(std::shared_ptr<const Snapshot> base) : base_(std::move(base)) {}

    // Returns an object as it is in the draft; null if it doesn't exist.
    ObjectPtr find(ObjectType type, std::string_view name) const;
    // Calls `visit` with every object of a type, in no particular order.
    template <class Visit>
    void for_each(ObjectType type, Visit visit) const;

    // Puts an object into the draft, in place of any object of its name.
    void put(Object object);
    void erase(ObjectType type, std::string_view name);

    // Returns the differences from the snapshot with which the draft began.
    std::vector<ObjectChange> changes() const;

    // Marks the present state, to which revert_to_mark() returns. A draft takes many commands, each of which
    // begins with a mark.
    void mark() { undo_.clear(); }
    // Returns the differences from the state at the mark.
    std::vector<ObjectChange> changes_since_mark() const;
    // Takes the draft back to the mark.
    void revert_to_mark();

    // Makes a snapshot with this revision from the draft.
    std::shared_ptr<const Snapshot> finish(std::uint64_t revision) const;

  private:
    using Key = std::pair<ObjectType, std::string>;
    struct Less {
        using is_transparent = void;
        template <class A, class B>
        bool operator()(const A& a, const B& b) const {
            return std::pair<ObjectType, std::string_view>(a) < std::pair<ObjectType, std::string_view>(b);
        }
    };

    // The objects at the mark, by key. nullopt: the draft had no change of the object.
    using Undo = std::map<Key, std::optional<ObjectPtr>, Less>;

    void change(Key key, ObjectPtr object);

    std::shared_ptr<const Snapshot> base_;
    std::map<Key, ObjectPtr, Less> pending_;  // changed objects; null: erased
    Undo undo_;                               // objects that were changed since the mark
};

template <class Visit>
void Draft::for_each(ObjectType type, Visit visit) const {
    for (const ObjectPtr& object : base_->objects(type)) {
        if (pending_.empty() ||
            !pending_.contains(std::pair<ObjectType, std::string_view>(type, object->name()))) {
            visit(*object);
        }
    }
    for (const auto& [key, object] : pending_) {
        if (key.first == type && object) visit(*object);
    }
}

}  // namespace pbs::objects
