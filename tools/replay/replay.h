// Running a recorded cycle again.
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
    std::size_t decisions = 0;             // that the record has
    std::vector<std::string> differences;  // a text each, in the order of the record; empty: the same
};

// Runs the cycle of a record. `time_zone` stands in for the record's, which may be the path of a file of the
// recording machine. Errors as those of read_record().
Result<Replayed> replay(std::string_view text, std::string_view name,
                        const std::optional<std::string>& time_zone = std::nullopt);

// Runs the cycle of a record and returns what it decides, in lines as a record has them. Errors as those of
// read_record().
Result<std::string> decide_again(std::string_view text, std::string_view name,
                                 const std::optional<std::string>& time_zone = std::nullopt);

}  // namespace pbs::replay
