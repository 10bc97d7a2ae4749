// Reads job identifiers of requests: "12", "12.server@server"; "12[]" for a job array; "12[7]" and
// "12[1-9:2,12]" for subjobs.
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
    std::vector<IndexRange> indices;  // of subjobs; a single subjob is a range with one index
    std::string_view server;          // the part after the dot; empty: missing
};

// Reads an identifier, up to an '@'. Returns nullopt if it is malformed. `server` of the result is a view of
// the text.
std::optional<JobName> parse_job_name(std::string_view text);

// A job's number (Job::sequence) in the server and the database is the number in its id. An array has that
// number with kArrayMark, a subjob an arbitrary number with kSubjobMark.
inline constexpr uint64_t kArrayMark = uint64_t{1} << 61U;
inline constexpr uint64_t kSubjobMark = uint64_t{1} << 62U;
constexpr uint64_t array_number(uint64_t number) {
    return number | kArrayMark;
}
constexpr uint64_t number_in_id(uint64_t sequence) {
    return sequence & ~kArrayMark;
}

// The mark in the number of a job that has another server's id. The other bits of this number are arbitrary.
inline constexpr uint64_t kForeignMark = uint64_t{1} << 60U;
constexpr bool is_foreign(uint64_t sequence) {
    return (sequence & (kForeignMark | kArrayMark | kSubjobMark)) == kForeignMark;
}

// Returns the id of a job or an array: "12.server", "12[].server".
std::string job_id(uint64_t sequence, std::string_view server);

}  // namespace pbs::host
