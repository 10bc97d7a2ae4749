#include "server_plugin/host/base/spawn.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "server_plugin/posix/spawn.h"

namespace pbs::host {

Fd memory_file() {
    return Fd(::memfd_create("spawn", MFD_CLOEXEC));
}

pid_t spawn(const std::string& program, std::vector<std::string> arguments, const std::string& input,
            int errors) {
    const Fd text = memory_file();
    if (!text || !write_all(text.get(), input) || ::lseek(text.get(), 0, SEEK_SET) != 0) return -errno;
    posix::Spawn started;
    started.give(text.get(), STDIN_FILENO);
    started.give_nothing(STDOUT_FILENO);
    if (errors >= 0)
        started.give(errors, STDERR_FILENO);
    else
        started.give_nothing(STDERR_FILENO);
    started.close_from(STDERR_FILENO + 1);
    return started.start(program, std::move(arguments));
}

}  // namespace pbs::host
