// Fuzz target: series() must refuse any input with a message, or compute from it, as a standing
// reservation's rule, a series of limited length.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "rrule/series.h"

namespace {

using namespace pbs::rrule;

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The first two bytes choose the hour of the start, within about seven years; the other bytes are the
    // rule.
    if (size < 2) return 0;
    const Zone zone = *Zone::find("America/Los_Angeles");
    const Instant start = Instant{Seconds{1795248000}} + std::chrono::hours(data[0] * 256 + data[1]);
    constexpr std::size_t kMost = 366;
    const auto found = series(std::string(data + 2, data + size), start, zone, kMost);
    if (!found) {
        require(!found.error().message.empty());
        return 0;
    }
    require(!found->starts.empty() && found->starts.size() <= kMost);
    require(found->starts.size() == found->readings.size());
    require(found->starts.front() >= start && found->period > Seconds{0});
    for (std::size_t i = 1; i < found->starts.size(); ++i) require(found->starts[i - 1] < found->starts[i]);
    return 0;
}
