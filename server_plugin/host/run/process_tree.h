// Reads the processes of this machine from /proc, and sends them signals.
#pragma once

#include <sys/time.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/posix.h"

namespace pbs::host {

struct Process {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t session = 0;
    char state = 0;
    std::uint64_t start = 0;  // clock ticks since boot
    std::uint64_t cpu = 0;    // clock ticks used by the process and by the children it has waited for
    std::int64_t vmem_kb = 0;
    std::int64_t mem_kb = 0;   // resident
    std::int64_t threads = 0;  // its threads, with the first one
};

// Parses a line of /proc/PID/stat (proc(5)); nullopt: it is malformed.
std::optional<Process> parse_stat(std::string_view line);
std::optional<Process> read_process(pid_t pid);

// Returns all processes below `root`, without `root` itself. If the kernel lists children
// (CONFIG_PROC_CHILDREN), the cost depends only on the number of the returned processes, otherwise on the
// number of all processes.
std::vector<Process> descendants(pid_t root);

// Returns all processes of the machine.
std::vector<Process> all_processes();

// Sends a signal to the process, but not to a later process with the same pid. Returns false if the process
// is gone.
bool signal_process(const Process& process, int signal);

// Opens a descriptor for a process (pidfd_open(2)). It is readable once the process has ended.
Fd open_process(pid_t pid);
// Opens a descriptor for the warden of a start, whose file is `started`, or for its shepherd if the warden is
// dead. Returns no descriptor if both are dead.
Fd open_supervisor(const std::string& started);
// Sends a signal to the process of the descriptor, like kill(2). A real-time signal carries `value`.
bool signal_pidfd(int pidfd, int signal, int value = 0);

// Converts clock ticks to CPU time.
std::chrono::milliseconds ticks_to_time(std::uint64_t ticks);

// Returns the kernel's id of this boot; empty: it is unknown.
std::string boot_id();

// The time for which killing a process is tried. The kernel may not let a process end, for example while it
// waits for a dead file server.
inline constexpr std::chrono::seconds kGiveUpKilling{30};

inline std::chrono::milliseconds time_of(const timeval& time) {
    return std::chrono::milliseconds(time.tv_sec * 1000 + time.tv_usec / 1000);
}

}  // namespace pbs::host
