// Fuzz target: parse_grid_engine() must read any input as a whole folder of Grid Engine's files, in the form
// in which pbs_migrate sends it to a server, or refuse it with messages that name the files.
#include "tests/fuzz/grid_engine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto read = pbs::migrate::parse_grid_engine(pbs::migrate::fuzz::text_of(data, size), "/ge");
    if (read) return 0;
    for (const auto& problem : read.error())
        if (problem.message.empty() || problem.file.empty()) std::abort();
    return 0;
}
