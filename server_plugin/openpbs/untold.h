// Comments and estimates of jobs that still have to be sent to the server, the oldest first.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "server_plugin/openpbs/records.h"

namespace pbs::openpbs {

class Untold {
  public:
    Untold() = default;
    Untold(const Untold&) = delete;  // the places are in its own list
    Untold& operator=(const Untold&) = delete;

    bool empty() const { return decisions_.empty(); }

    // Adds a decision. If there is an older decision of its kind about the same job, replaces that one, at
    // its place in the order.
    void put(Decision decision) {
        const auto [known, is_new] = places_.try_emplace({decision.kind, decision.job}, decisions_.end());
        if (is_new) known->second = decisions_.emplace(decisions_.end());
        *known->second = std::move(decision);
    }
    void erase(Decision::Kind kind, const std::string& job) { (void)take(kind, job); }
    void clear() {
        decisions_.clear();
        places_.clear();
    }

    // Removes and returns the oldest decision; nullopt: there is none.
    std::optional<Decision> take() {
        if (empty()) return std::nullopt;
        return take(decisions_.front().kind, decisions_.front().job);
    }
    // Removes and returns the decision of this kind about the job; nullopt: there is none.
    std::optional<Decision> take(Decision::Kind kind, const std::string& job) {
        const auto known = places_.find({kind, job});
        if (known == places_.end()) return std::nullopt;
        std::optional<Decision> decision(std::move(*known->second));
        decisions_.erase(known->second);
        places_.erase(known);
        return decision;
    }

  private:
    std::list<Decision> decisions_;
    std::map<std::pair<Decision::Kind, std::string>, std::list<Decision>::iterator> places_;
};

}  // namespace pbs::openpbs
