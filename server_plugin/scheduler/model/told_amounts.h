// Facts that programs of the site tell in a line: amounts of the server (server_dyn_res), or the word that a
// rule goes by.
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

// The facts known of each element, or by the name of a rule.
class ToldAmounts {
  public:
    struct Known {
        std::string value{};  // as it was told (Resources::parse_told); a program that fails tells 0
        // Of an amount: what jobs that were started since then have taken of it, if the resource isn't
        // consumable: of a consumable one the server knows what running jobs use.
        std::int64_t taken = 0;
    };
    // Takes a program's report. Returns false if jobs that were refused for the amount are refused still.
    bool set(std::string_view element, std::string value);
    void set_taken(std::string_view element, std::int64_t amount) {
        known_[std::string(element)].taken = amount;
    }
    // Null: the program was never asked, and none will be (in a simulation).
    const Known* find(std::string_view element) const;

    const auto& all() const { return known_; }
    void restore(std::string_view element, Known known) { known_[std::string(element)] = std::move(known); }

  private:
    std::map<std::string, Known, std::less<>> known_;
};

}  // namespace pbs::sched
