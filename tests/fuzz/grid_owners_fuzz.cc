// Fuzz target of Grid Engine's files: any text as a user, a project, an access list or the configuration is
// converted, or refused with the places of its mistakes.
#include "tests/fuzz/grid_engine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pbs::migrate::fuzz;  // NOLINT(google-build-using-namespace): this is a program
    for (const std::string_view path : {"suser/ann", "sprj/ann", "su/deadlineusers", "sconf"})
        convert_grid_files({{path, text_of(data, size)}});
    return 0;
}
