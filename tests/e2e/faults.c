/*
 * Preloaded into a server by tests: ends the server with SIGKILL, or makes its disk look full, at a chosen
 * call that changes a file. The file named by PBSPOLICY_FAULTS holds the counters, which the test reads and
 * sets while the server runs.
 */
#include "tests/e2e/faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static struct faults* shared;
static pid_t server;

__attribute__((constructor)) static void open_counters(void) {
    const char* path = getenv("PBSPOLICY_FAULTS");
    const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void* page = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED) return;
    shared = page;
    server = getpid();
    unsetenv("LD_PRELOAD"); /* not for jobs */
}

/* Counts a call that is about to change a file. Returns 1 if the disk is to look full. */
static int before(void) {
    if (shared == NULL || getpid() != server) return 0;
    ++shared->calls;
    return shared->full_after != 0 && shared->calls > shared->full_after;
}

static void after(void) {
    if (shared == NULL || getpid() != server) return;
    if (shared->kill_after != 0 && shared->calls >= shared->kill_after) kill(server, SIGKILL);
}

static int is_file(int fd) {
    struct stat status;
    return shared != NULL && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static void* next(const char* name) {
    void* function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

/* A function pointer can't be cast from what dlsym returns. */
#define NEXT(type, variable, name) \
    union {                        \
        void* object;              \
        type function;             \
    } variable = {.object = next(name)}

static int full(void) {
    errno = ENOSPC;
    return -1;
}

typedef ssize_t (*write_function)(int, const void*, size_t);
typedef ssize_t (*pwrite_function)(int, const void*, size_t, off64_t);
typedef ssize_t (*writev_function)(int, const struct iovec*, int);
typedef int (*descriptor_function)(int);
typedef int (*truncate_function)(int, off64_t);
typedef int (*rename_function)(const char*, const char*);
typedef int (*unlink_function)(const char*);

#define CHANGE(condition, needs_room, result_type, call) \
    if (!(condition)) return call;                       \
    if (before() && (needs_room)) return full();         \
    const result_type result = call;                     \
    after();                                             \
    return result

ssize_t write(int fd, const void* data, size_t size) {
    NEXT(write_function, real, "write");
    CHANGE(is_file(fd), 1, ssize_t, real.function(fd, data, size));
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
    NEXT(pwrite_function, real, "pwrite64");
    CHANGE(is_file(fd), 1, ssize_t, real.function(fd, data, size, at));
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
    NEXT(pwrite_function, real, "pwrite64");
    CHANGE(is_file(fd), 1, ssize_t, real.function(fd, data, size, at));
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
    NEXT(writev_function, real, "writev");
    CHANGE(is_file(fd), 1, ssize_t, real.function(fd, parts, count));
}
int fsync(int fd) {
    NEXT(descriptor_function, real, "fsync");
    CHANGE(is_file(fd), 0, int, real.function(fd));
}
int fdatasync(int fd) {
    NEXT(descriptor_function, real, "fdatasync");
    CHANGE(is_file(fd), 0, int, real.function(fd));
}
int ftruncate64(int fd, off64_t size) {
    NEXT(truncate_function, real, "ftruncate64");
    CHANGE(is_file(fd), 1, int, real.function(fd, size));
}
int ftruncate(int fd, off_t size) {
    NEXT(truncate_function, real, "ftruncate64");
    CHANGE(is_file(fd), 1, int, real.function(fd, size));
}
int rename(const char* from, const char* to) {
    NEXT(rename_function, real, "rename");
    CHANGE(1, 0, int, real.function(from, to));
}
int unlink(const char* path) {
    NEXT(unlink_function, real, "unlink");
    CHANGE(1, 0, int, real.function(path));
}
