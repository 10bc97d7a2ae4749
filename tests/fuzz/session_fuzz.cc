// Fuzz target of a session (session.h): each byte of the input is a choice.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/fuzz/session.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace fs = std::filesystem;
    using namespace pbs::host::session;
    // Prefer a folder in memory, as the server makes many syncs.
    const fs::path folder = fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    Site site(Choices(data, size), folder / ("pbs-session-" + std::to_string(getpid())));
    site.run();
    return 0;
}
