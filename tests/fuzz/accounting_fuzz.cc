// Fuzz target: read_accounting() must refuse any input with a message that names a line, or make a trace of
// valid jobs from it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/simulate/accounting.h"

using namespace pbs::simulate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto trace = read_accounting({{"fuzz", std::string(reinterpret_cast<const char*>(data), size)}});
    if (!trace) {
        if (!trace.error().starts_with("fuzz: line ")) std::abort();
        return 0;
    }
    Instant last{};
    for (const TraceJob& job : trace->jobs) {
        if (job.cpus < 0 || job.run_time < Seconds(0) || job.submit < last ||
            job.request >= trace->requests.size() || job.user >= trace->users.size() ||
            job.queue >= trace->queues.size())
            std::abort();
        last = job.submit;
    }
    return 0;
}
