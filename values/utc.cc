#include "values/utc.h"

#include <fmt/chrono.h>

#include <ctime>

namespace pbs::values {

std::string utc_text(std::chrono::sys_seconds t) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(t)));
}

std::optional<std::chrono::sys_seconds> utc_time(const std::string& text) {
    std::tm fields{};
    const char* const end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &fields);
    if (end != text.c_str() + text.size()) return std::nullopt;  // null if it can't be read
    return std::chrono::sys_seconds(std::chrono::seconds(timegm(&fields)));
}

}  // namespace pbs::values
