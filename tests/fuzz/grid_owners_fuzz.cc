// Fuzz target of the reader of Grid Engine's files. It must convert a folder in which a user, a project, an
// access list or the configuration is any input, or refuse it with the place of each mistake.
#include "tests/fuzz/grid_engine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pbs::migrate::fuzz;  // NOLINT(google-build-using-namespace): this is a program
    for (const std::string_view path : {"suser/ann", "sprj/ann", "su/deadlineusers", "sconf"})
        convert_grid_files({{path, text_of(data, size)}});
    // The settings that the reader expects are behind the input, in case it lacks them.
    convert_grid_files(
        {{"sconf", std::string(text_of(data, size)) + "\nenforce_user auto\nauto_user_fshare 0\n"}});
    return 0;
}
