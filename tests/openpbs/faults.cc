// faults.so: tests preload it into pbs_server.bin and pbs_policyd. Files in /var/spool/pbs/faults make calls
// of the policy service fail. The server's main thread isn't affected, except by `later`.
//
//   stall  while the file exists, no write to a disk ends
//   full   the file has the number of writes that still succeed. Then the disk is full, as long as the
//          file exists
//   cut    the next time that the service reads from the server, the connection has ended. Removes the file
//   throw  while the file exists, looking up a host's name throws an exception
//   later  the file has the seconds by which clocks are ahead: the time of day in the policy service, and the
//          steady clock in all threads
#include <dlfcn.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string_view>

namespace {

bool in_service() {
    std::array<char, 256> program{};
    const ssize_t size = readlink("/proc/self/exe", program.data(), program.size() - 1);
    const std::string_view path(program.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    return path.ends_with("/pbs_policyd") || (path.ends_with("/pbs_server.bin") && gettid() != getpid());
}

// Returns the number in the file of this name; -1 if there is no file, 0 if it is empty.
long told(const char* name) {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/var/spool/pbs/faults/%s", name);
    std::FILE* file = std::fopen(path.data(), "re");
    if (file == nullptr) return -1;
    std::array<char, 32> text{};
    const bool read = std::fgets(text.data(), text.size(), file) != nullptr;
    std::fclose(file);
    return read ? std::strtol(text.data(), nullptr, 10) : 0;
}

template <class Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Makes a write of the policy service wait or fail, as the files `stall` and `full` say. Returns false if the
// disk is full.
bool write_goes_on() {
    if (!in_service()) return true;
    while (told("stall") >= 0) usleep(20000);
    const long left = told("full");
    if (left < 0) return true;
    if (left == 0) {
        errno = ENOSPC;
        return false;
    }
    if (std::FILE* file = std::fopen("/var/spool/pbs/faults/full", "we"); file != nullptr) {
        std::fprintf(file, "%ld", left - 1);
        std::fclose(file);
    }
    return true;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t pwrite64(int fd, const void* from, size_t size, off64_t at) {
    return write_goes_on() ? real<decltype(&pwrite64)>("pwrite64")(fd, from, size, at) : -1;
}
ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
    return write_goes_on() ? real<decltype(&pwrite)>("pwrite")(fd, from, size, at) : -1;
}
int fsync(int fd) {
    return write_goes_on() ? real<decltype(&fsync)>("fsync")(fd) : -1;
}
int fdatasync(int fd) {
    return write_goes_on() ? real<decltype(&fdatasync)>("fdatasync")(fd) : -1;
}

ssize_t recv(int fd, void* to, size_t size, int flags) {
    int domain = 0;
    socklen_t length = sizeof domain;
    if (in_service() && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX &&
        unlink("/var/spool/pbs/faults/cut") == 0)
        return 0;
    return real<decltype(&recv)>("recv")(fd, to, size, flags);
}

int getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size, char* service,
                socklen_t service_size, int flags) {
    if (in_service() && told("throw") >= 0) throw std::runtime_error("a fault of the tests");
    return real<decltype(&getnameinfo)>("getnameinfo")(address, size, host, host_size, service, service_size,
                                                       flags);
}

time_t time(time_t* out) noexcept {
    const long later = in_service() ? told("later") : -1;
    timespec now{};
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    const time_t shifted = now.tv_sec + (later > 0 ? later : 0);
    if (out != nullptr) *out = shifted;
    return shifted;
}

int clock_gettime(clockid_t clock, timespec* out) noexcept {
    const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, out));
    const long later = clock == CLOCK_MONOTONIC && result == 0 ? told("later") : -1;
    if (later > 0) out->tv_sec += later;
    return result;
}
}
#pragma GCC visibility pop
