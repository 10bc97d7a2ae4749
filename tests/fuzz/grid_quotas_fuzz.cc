// Fuzz target of the reader of Grid Engine's files. It must convert a folder whose file of resource quota
// sets is any input, or refuse it with the place of each mistake.
#include "tests/fuzz/grid_engine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pbs::migrate::fuzz;  // NOLINT(google-build-using-namespace): this is a program
    convert_grid_files({{"srqs", text_of(data, size)},
                        {"shgrp/@g", "hostlist n1 n2 @g\n"},
                        {"su/l", "name l\nentries ann,bob\n"}});
    return 0;
}
