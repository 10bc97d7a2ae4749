// Facts that programs of the site report in one line: amounts of the server (server_dyn_res), or a word that
// a rule needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "server_plugin/scheduler/model/resources.h"

namespace pbs::sched {

// An element of server_dyn_res: "resource !/path/of/program arguments".
struct DynamicResource {
    std::string_view resource;
    std::string_view command;
    static DynamicResource of(std::string_view element);
};

// The facts that programs have reported, by element of server_dyn_res or by name of a rule.
class ToldAmounts {
  public:
    struct Report {
        std::string value{};  // as reported (Resources::parse_told); a failing program reports 0
        // For an amount that isn't consumable: the part that jobs have taken since the report. For a
        // consumable one the server knows the use by running jobs.
        std::int64_t taken = 0;
    };
    // Stores a program's report. Returns false if nothing changes for jobs that were refused because of the
    // amount.
    bool set(std::string_view element, std::string value);
    void set_taken(std::string_view element, std::int64_t amount) {
        known_[std::string(element)].taken = amount;
    }
    // Returns the report of an element or for a rule; null: there is none yet, or never will be (in a
    // simulation).
    const Report* find(std::string_view element) const;

    const auto& all() const { return known_; }
    void restore(std::string_view element, Report known) { known_[std::string(element)] = std::move(known); }

  private:
    std::map<std::string, Report, std::less<>> known_;
};

}  // namespace pbs::sched
