// The value of a job's `depend`: "type:job[:job...][,type:job...]" and "on:count", as described in qsub(1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

// Types of dependencies. The database stores these numbers.
enum class DependType : uint8_t {
    after = 0,
    afterok = 1,
    afternotok = 2,
    afterany = 3,
    before = 4,
    beforeok = 5,
    beforenotok = 6,
    beforeany = 7,
    on = 8,
    runone = 9
};

// Returns the type by which the other of the two jobs shows the same dependency: before* for after*, and the
// reverse.
constexpr DependType mirrored(DependType type) {
    return static_cast<DependType>(static_cast<uint8_t>(type) ^ 4U);
}
constexpr bool is_after(DependType type) {
    return type <= DependType::afterany;
}
constexpr bool is_before(DependType type) {
    return type >= DependType::before && type <= DependType::beforeany;
}

std::string_view depend_name(DependType type);

// An item of a `depend`: one type, and the jobs that it names, in order.
struct DependItem {
    DependType type{};
    int64_t count = 0;              // only for `on`
    std::vector<std::string> jobs;  // for the other types: ids as given, without backslashes
};

// Reads a value of `depend`. Items of the same type are merged. PBSE_BADATVAL: the value is malformed.
Result<std::vector<DependItem>> parse_depend(std::string_view text);
std::string depend_text(const std::vector<DependItem>& items);

}  // namespace pbs::host
