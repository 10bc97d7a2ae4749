#include "server_plugin/host/main/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <utility>

#include "ifl/pbs_error.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// Returns the folder that has this program.
Result<std::string> own_folder() {
    std::array<char, PATH_MAX> path{};
    const ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
    if (size < 0) return fail(PBSE_SYSTEM, fmt::format("/proc/self/exe: {}", system_text(errno)));
    const std::string_view program(path.data(), static_cast<size_t>(size));
    return std::string(program.substr(0, program.rfind('/')));
}

// The argument of sched_setattr(2), in its first form. It is defined here because <linux/sched/types.h> can't
// be included together with <sched.h>.
struct SchedulingAttributes {
    uint32_t size = sizeof(SchedulingAttributes);
    uint32_t policy = SCHED_OTHER;
    uint64_t flags = 1;  // SCHED_FLAG_RESET_ON_FORK
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 0;  // nanoseconds
    uint64_t deadline = 0;
    uint64_t period = 0;
};

}  // namespace

std::string host_name() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    gethostname(name.data(), name.size() - 1);
    return values::lowered(name.data());
}

Result<std::string> default_plugin() {
    const auto folder = own_folder();
    if (!folder) return folder;
    const std::string beside = *folder + "/pbs_policy.so";
    const std::string installed = *folder + "/../lib/pbspolicy/pbs_policy.so";
    if (access(beside.c_str(), F_OK) != 0 && access(installed.c_str(), F_OK) == 0) return installed;
    return beside;
}

Result<Fd> open_shepherd() {
    const auto folder = own_folder();
    if (!folder) return tl::unexpected(folder.error());
    const std::string program = *folder + "/../lib/pbspolicy/pbs_shepherd";
    Fd fd(open(program.c_str(), O_PATH | O_CLOEXEC));
    if (!fd) return fail(PBSE_SYSTEM, fmt::format("{}: {}", program, system_text(errno)));
    return fd;
}

Result<rlim_t> raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return fail(PBSE_SYSTEM, fmt::format("the limit of open files: {}", system_text(errno)));
    const rlim_t soft = std::exchange(limit.rlim_cur, limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = soft;
    if (limit.rlim_cur < kFewestDescriptors)
        return fail(PBSE_SYSTEM,
                    fmt::format("the limit of open files (ulimit -n) is {}: expected at least {}",
                                limit.rlim_cur, kFewestDescriptors));
    return limit.rlim_cur;
}

void keep_freed_memory() {
    constexpr int kMega = 1 << 20;
    mallopt(M_TRIM_THRESHOLD, 16 * kMega);
    mallopt(M_TOP_PAD, kMega);
    mallopt(M_MMAP_THRESHOLD, 8 * kMega);  // else malloc would begin with 128 kB and raise it
}

void go_first() {
    errno = 0;
    if (getpriority(PRIO_PROCESS, 0) != 0 || errno != 0 || sched_getscheduler(0) != SCHED_OTHER) return;
    // The length of this thread's time slices, in nanoseconds. From Linux 6.12 on, a thread with short slices
    // preempts threads with longer ones; older kernels ignore it.
    constexpr uint64_t kShortTurn = 300'000;
    const SchedulingAttributes first{.nice = -10, .runtime = kShortTurn};
    (void)syscall(SYS_sched_setattr, 0, &first, 0);
}

std::chrono::nanoseconds time_on_processor() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace pbs::host
