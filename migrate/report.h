// The report of a migration: a line for each value, and notes.
#pragma once

#include <string>
#include <vector>

namespace pbs::migrate {

// The source of a line about a value or an object that is taken back.
inline constexpr const char* kGone = "(not in the files any more)";

struct Report {
    struct Line {
        std::string source;    // file, line and option: "config:12 PRIME_TIME_START"
        std::string target;    // the attribute: "policy default_policy prime_time_start"
        std::string value;     // the new value, "08:00:00"; empty: the value is taken back
        bool changed = true;   // false: the attribute had this value already
        std::string before{};  // the replaced value; empty: none
    };
    std::vector<Line> lines;
    std::vector<std::string> notes;  // remarks on the files, and hints for the administrator

    // Returns whether any line has changed something.
    bool changed() const;
};

// Returns the text of a report, for HOME/server_priv/migration_report: lines "source -> target = value", or
// "source -> target is taken back" for values of an earlier migration that the files no longer have, and then
// the notes. If nothing was changed, the text says so.
std::string to_text(const Report& report);

}  // namespace pbs::migrate
