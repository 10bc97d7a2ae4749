// What a migration did, line by line.
#pragma once

#include <string>
#include <vector>

namespace pbs::migrate {

struct Report {
    struct Line {
        std::string source;    // "config:12 PRIME_TIME_START"
        std::string target;    // "policy default_policy prime_time_start"
        std::string value;     // "08:00:00"; empty: it is taken back
        bool changed = true;   // false: it was so already
        std::string before{};  // the value that it replaces; empty: there was none
    };
    std::vector<Line> lines;
    std::vector<std::string> notes;  // remarks on the files, and what the administrator may want to do

    // Whether anything was changed.
    bool changed() const;
};

// As it is kept in HOME/server_priv/migration_report: the lines "source -> target = value", or "source ->
// target is taken back" for what an earlier migration made and the files no longer say, then the notes. When
// nothing was changed it says so.
std::string to_text(const Report& report);

}  // namespace pbs::migrate
