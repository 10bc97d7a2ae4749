// Replaces strings by small numbers, which tables store and compare.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pbs::sched {

// Gives each string a number, from 0, and finds it again by the number. Number 0 is the empty string. Numbers
// are never reused, because users, groups, hosts and partitions are few.
class Interner {
  public:
    Interner() { id(""); }

    std::uint32_t id(std::string_view text) {
        if (auto found = ids_.find(text); found != ids_.end()) return found->second;
        const auto number = static_cast<std::uint32_t>(texts_.size());
        ids_.emplace(texts_.emplace_back(text), number);
        return number;
    }
    std::string_view text(std::uint32_t id) const { return texts_[id]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(texts_.size()); }

  private:
    std::deque<std::string> texts_;  // a deque, because the keys of ids_ point into its strings
    std::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace pbs::sched
