// Job identifiers as clients give them: "12", "12.server@server", of a job array "12[]", of subjobs "12[7]",
// "12[1-9:2,12]".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/state/array_indices.h"

namespace pbs::host {

struct JobName {
    enum class Kind : uint8_t { job, array, subjob, subjobs };
    uint64_t number = 0;
    Kind kind = Kind::job;
    std::vector<IndexRange> indices;  // of subjobs; of one subjob a range with one index
    std::string_view server;          // behind the dot; empty: not given
};

// nullopt: it isn't one. What follows an '@' is left out of account. Views of the text.
std::optional<JobName> parse_job_name(std::string_view text);

// The number by which the server knows a job, a row of the database: that of its id, with a mark if it is an
// array's. Subjobs have numbers of their own, which say nothing.
inline constexpr uint64_t kArrayMark = uint64_t{1} << 61U;
inline constexpr uint64_t kSubjobMark = uint64_t{1} << 62U;
constexpr uint64_t array_number(uint64_t number) {
    return number | kArrayMark;
}
constexpr uint64_t number_in_id(uint64_t sequence) {
    return sequence & ~kArrayMark;
}

// A job of another server, which has a number of its own here too.
inline constexpr uint64_t kForeignMark = uint64_t{1} << 60U;
constexpr bool is_foreign(uint64_t sequence) {
    return (sequence & (kForeignMark | kArrayMark | kSubjobMark)) == kForeignMark;
}

// "12.server", "12[].server"
std::string job_id(uint64_t sequence, std::string_view server);

}  // namespace pbs::host
