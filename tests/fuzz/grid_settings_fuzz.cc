// Fuzz target of the reader of Grid Engine's files. It must convert a folder whose ssconf (the scheduler's
// settings) is any input, or refuse it with the place of each mistake.
#include "tests/fuzz/grid_engine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pbs::migrate::fuzz;  // NOLINT(google-build-using-namespace): this is a program
    // The settings that the reader expects are behind the input, in case it lacks them.
    const std::string settings =
        std::string(text_of(data, size)) + "\nalgorithm default\ndefault_duration INFINITY\n";
    convert_grid_files({{"ssconf", text_of(data, size)}});
    convert_grid_files(
        {{"ssconf", settings}, {"sstree", "id=0\nname=Root\nchildnodes=1\nid=1\nname=ann\nshares=3\n"}});
    return 0;
}
