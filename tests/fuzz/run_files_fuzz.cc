// Fuzz target of the files by which the server and its shepherds communicate, and which a crash or a full
// disk may damage. Their readers must refuse the input, or give data that are written and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server_plugin/host/base/key_value.h"
#include "server_plugin/host/run/job_env.h"
#include "server_plugin/host/run/process_tree.h"
#include "server_plugin/host/run/run_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace pbs::host;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto values = parse_key_values(text, "fuzz")) {
        const auto again = parse_key_values(write_key_values(*values), "fuzz");
        if (!again || *again != *values) std::abort();
    }
    if (const auto spec = parse_job_spec(text, "fuzz")) {
        const auto written = write_job_spec(*spec);
        const auto again = parse_job_spec(written, "fuzz");
        if (!again || write_job_spec(*again) != written) std::abort();
        static_cast<void>(output_file(spec->start, {"u", "/home/u", ""}, 'o'));
        static_cast<void>(job_environment(spec->start, {"u", "/home/u", ""}, {}, {}));
    }
    if (const auto exit = parse_exit(text, "fuzz")) {
        const auto written = write_exit(*exit);
        const auto again = parse_exit(written, "fuzz");
        if (!again || write_exit(*again) != written) std::abort();
        static_cast<void>(exit->resources_used(1));
    }
    static_cast<void>(parse_session(text, "fuzz"));
    static_cast<void>(parse_stat(text));
    static_cast<void>(parse_environment_file(text));
    if (const auto run = run_of_file(text); run && !is_file_safe(run->job)) std::abort();
    return 0;
}
