// Fuzz target of the reader of Grid Engine's files. It must convert a folder whose file of a calendar, or of
// a queue that may use a calendar, is any input, or refuse it with the place of each mistake.
#include "tests/fuzz/grid_engine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pbs::migrate::fuzz;  // NOLINT(google-build-using-namespace): this is a program
    convert_grid_files({{"scal/c", text_of(data, size)}});
    convert_grid_files({{"scal/c", "calendar_name c\nweek sat=6-20\n"}, {"sq/q", text_of(data, size)}});
    return 0;
}
