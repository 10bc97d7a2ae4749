// Objects that rules keep of their own. An object of a rule's own type is made when the rule asks for it
// first, so that nothing but the rule names it. The state of a cycle has a store (CycleState::own), which
// ends with the cycle, and what a scheduler remembers from cycle to cycle has another one (EventMemory::own).
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace pbs::sched {

class OwnStates {
  public:
    OwnStates() = default;
    OwnStates(const OwnStates&) = delete;
    OwnStates& operator=(const OwnStates&) = delete;
    OwnStates(OwnStates&&) = default;
    OwnStates& operator=(OwnStates&&) = default;
    ~OwnStates() = default;

    // Returns the object of this type, and makes it first if there is none. It stays where it is.
    template <class T>
    T& of() {
        if (T* known = lookup<T>()) return *known;
        auto made = std::make_shared<T>();
        T& object = *made;
        list_.emplace_back(&kKey<T>, std::move(made));
        return object;
    }
    // Returns the same without making it; null: there is none.
    template <class T>
    const T* find() const {
        return lookup<T>();
    }

  private:
    template <class T>
    static constexpr char kKey = 0;  // its address stands for the type
    template <class T>
    T* lookup() const {
        for (const auto& [key, object] : list_)
            if (key == &kKey<T>) return static_cast<T*>(object.get());
        return nullptr;
    }
    std::vector<std::pair<const void*, std::shared_ptr<void>>> list_;  // a handful
};

}  // namespace pbs::sched
