// Fuzz target: parse_outages() must refuse any input with a message, or read it as the output of a
// dedicated_time_command. Then the times are in ascending order, and each ends after its start.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server_plugin/scheduler/model/outages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto zone = pbs::rrule::Zone::utc();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto outages = pbs::sched::parse_outages(text, "SLEEPY", zone);
    if (!outages) {
        if (outages.error().message.empty() || outages.error().message.size() > 1000) std::abort();
        return 0;
    }
    pbs::sched::Instant before{};
    for (const auto& outage : *outages) {
        if (outage.start >= outage.end || outage.start < before) std::abort();
        before = outage.start;
    }
    // merging a list of times with itself must give as many times
    const auto merged = pbs::sched::merge_outages(*outages, *outages);
    if (merged.size() != outages->size()) std::abort();
    return 0;
}
