// Stores objects for rules. An object of a rule's type is made when the rule first calls of(), so that only
// the rule names the type. There are three stores: CycleState::own, which ends with the cycle;
// SchedMemory::own, a scheduler's memory from cycle to cycle; and EventMemory::own, which only cycles after
// single events read.
#pragma once

#include <any>
#include <memory>
#include <vector>

namespace pbs::sched {

// A store of such objects, at most one of each type. Copying the store copies the objects.
class OwnStates {
  public:
    OwnStates() = default;
    OwnStates(const OwnStates& other) {
        for (const auto& object : other.list_) list_.push_back(std::make_unique<std::any>(*object));
    }
    OwnStates& operator=(const OwnStates& other) { return *this = OwnStates(other); }
    OwnStates(OwnStates&&) = default;
    OwnStates& operator=(OwnStates&&) = default;
    ~OwnStates() = default;

    // Returns the object of this type; makes it if there is none. Its address doesn't change.
    template <class T>
    T& of() {
        if (T* known = lookup<T>()) return *known;
        return list_.emplace_back(std::make_unique<std::any>())->template emplace<T>();
    }
    // Returns the object, if there is one; else null.
    template <class T>
    const T* find() const {
        return lookup<T>();
    }

  private:
    template <class T>
    T* lookup() const {
        for (const auto& object : list_)
            if (T* own = std::any_cast<T>(object.get())) return own;
        return nullptr;
    }
    std::vector<std::unique_ptr<std::any>> list_;  // a list, because there are only a few objects
};

}  // namespace pbs::sched
