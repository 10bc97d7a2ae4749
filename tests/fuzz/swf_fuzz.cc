// Fuzz target: read_swf() must refuse any input with a message that names a line, or make a trace of valid
// jobs from it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/simulate/swf.h"

using namespace pbs::simulate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto trace = read_swf(text, "fuzz");
    if (!trace) {
        if (!trace.error().starts_with("fuzz: line ")) std::abort();
        return 0;
    }
    Instant last{};
    for (const TraceJob& job : trace->jobs) {
        if (job.cpus < 1 || job.run_time < Seconds(0) || job.submit < last) std::abort();
        if (job.user >= trace->users.size() || job.group >= trace->groups.size() ||
            job.queue >= trace->queues.size())
            std::abort();
        last = job.submit;
    }
    return 0;
}
