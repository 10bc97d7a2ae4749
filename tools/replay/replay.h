// Runs a recorded cycle again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/record/record_file.h"

namespace pbs::replay {

using record::CycleAsked;
using record::Error;
using record::Result;

struct Replayed {
    CycleAsked cycle;
    std::size_t jobs = 0;
    std::size_t decisions = 0;             // decisions in the record
    std::vector<std::string> differences;  // one text each, in the order of the record; empty: the same
                                           // decisions
};

// Runs the cycle of a record again and compares the decisions. `time_zone` replaces the record's zone, whose
// rules may be only on the recording machine. Errors: those of read_record().
Result<Replayed> replay(std::string_view text, std::string_view name,
                        const std::optional<std::string>& time_zone = std::nullopt);

// Runs the cycle of a record again and returns its decisions, in lines as in a record. Errors: those of
// read_record().
Result<std::string> decide_again(std::string_view text, std::string_view name,
                                 const std::optional<std::string>& time_zone = std::nullopt);

}  // namespace pbs::replay
