// Fuzz target of the messages between a server and its launcher: their reader must refuse the input, or give
// a message that is written and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server_plugin/host/run/launch_message.h"
#include "server_plugin/host/run/run_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace pbs::host;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto message = launch_message::parse(text);
    if (!message) return 0;
    if (!is_file_safe(message->id.job)) std::abort();
    const auto again = launch_message::parse(launch_message::write(message->id, message->note));
    if (!again || again->id != message->id || again->note != message->note) std::abort();
    return 0;
}
