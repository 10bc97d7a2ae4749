// Facts that programs of the site tell in one line: amounts of the server (server_dyn_res), or the word
// that a rule asks for.
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

// The facts, by element of server_dyn_res or by the name of a rule.
class ToldAmounts {
  public:
    struct Known {
        std::string value{};  // as it was told (Resources::parse_told); a program that fails tells 0
        // For an amount that isn't consumable: the part of it that jobs started since then have taken. For
        // a consumable one the server knows the use by running jobs.
        std::int64_t taken = 0;
    };
    // Takes a program's report. Returns false if nothing changes for jobs that were refused for the amount.
    bool set(std::string_view element, std::string value);
    void set_taken(std::string_view element, std::int64_t amount) {
        known_[std::string(element)].taken = amount;
    }
    // Null: there is no answer, or never will be one (in a simulation).
    const Known* find(std::string_view element) const;

    const auto& all() const { return known_; }
    void restore(std::string_view element, Known known) { known_[std::string(element)] = std::move(known); }

  private:
    std::map<std::string, Known, std::less<>> known_;
};

}  // namespace pbs::sched
