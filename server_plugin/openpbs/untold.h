// Comments and estimates of jobs that still have to be sent to the server, the oldest first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "server_plugin/openpbs/records.h"

namespace pbs::openpbs {

class Untold {
  public:
    bool empty() const { return decisions_.empty(); }

    // Adds a decision. If there is an older decision of its kind about the same job, replaces that one, at
    // its place in the order.
    void put(Decision decision) {
        const auto [known, is_new] = places_.try_emplace({decision.kind, decision.job}, next_);
        if (is_new) ++next_;
        decisions_.insert_or_assign(known->second, std::move(decision));
    }
    void erase(Decision::Kind kind, const std::string& job) { (void)take(kind, job); }
    void clear() {
        decisions_.clear();
        places_.clear();
    }

    // Removes and returns the oldest decision; nullopt: there is none.
    std::optional<Decision> take() {
        if (empty()) return std::nullopt;
        const Decision& first = decisions_.begin()->second;
        return take(first.kind, std::string(first.job));
    }
    // Removes and returns the decision of this kind about the job; nullopt: there is none.
    std::optional<Decision> take(Decision::Kind kind, const std::string& job) {
        const auto known = places_.find({kind, job});
        if (known == places_.end()) return std::nullopt;
        const auto decision = decisions_.extract(known->second);
        places_.erase(known);
        return std::move(decision.mapped());
    }

  private:
    std::map<std::uint64_t, Decision> decisions_;  // by their place in the order
    std::map<std::pair<Decision::Kind, std::string>, std::uint64_t> places_;
    std::uint64_t next_ = 0;
};

}  // namespace pbs::openpbs
