#include "values/memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <exception>

namespace pbs::values {

void end_without_memory(std::string_view what) noexcept {
    const auto part = [](std::string_view text) {
        return iovec{const_cast<char*>(text.data()), text.size()};
    };
    const std::array<iovec, 3> line{part("pbspolicy: no memory for "), part(what),
                                    part(": this process ends\n")};
    static_cast<void>(!::writev(STDERR_FILENO, line.data(), static_cast<int>(line.size())));
    std::terminate();
}

}  // namespace pbs::values
