/*
 * A library that tests preload into a server. At a call that the test has chosen, it kills the server by
 * SIGKILL, makes the server's disk look full, or makes the call fail. Calls of the server's helpers can
 * fail, too. The file named by PBSPOLICY_FAULTS has the counters (faults.h), which the test reads and sets
 * while the server runs.
 *
 * With PBSPOLICY_NO_LOCKS in the environment, locks keep nobody out.
 *
 * Jobs, and other programs that the server starts, run without this library.
 */
#include "tests/faults/faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/faults/record.h"
#include "tests/faults/recorder.h"

static struct faults* shared;
static pid_t server; /* process id of the server; 0 in its helpers */
static int program;
static int no_locks;      /* locks of files are given to all that ask, as on some network file systems */
static __thread int busy; /* this library itself makes the calls, so they don't count */

/* Returns the function that this library hides. NEXT puts it into a union, as a void* can't be cast to it. */
static void* next(const char* name) {
    void* function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}
#define NEXT(type, variable, name) \
    static union {                 \
        void* object;              \
        type function;             \
    } variable;                    \
    if (variable.object == NULL) variable.object = next(name)

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);

/* Returns which program this process runs; fault_programs if its calls don't count. */
static int program_of_this(void) {
    char path[512];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0) return fault_programs;
    path[size] = '\0';
    const char* name = strrchr(path, '/');
    if (name == NULL) return fault_programs;
    if (strcmp(name, "/pbs_shepherd") == 0) return fault_in_helper;
    if (strcmp(name, "/pbs_server") != 0 && strcmp(name, "/simulator_test") != 0) return fault_programs;
    /* Some helpers run pbs_server, too. They differ from the server by a process id in the environment
     * that isn't their own. */
    char own[24];
    (void)snprintf(own, sizeof own, "%ld", (long)getpid());
    const char* known = getenv("PBSPOLICY_FAULTS_SERVER");
    if (known != NULL && strcmp(known, own) != 0) return fault_in_helper;
    setenv("PBSPOLICY_FAULTS_SERVER", own, 1);
    return fault_in_server;
}

__attribute__((constructor)) static void open_counters(void) {
    const char* path = getenv("PBSPOLICY_FAULTS");
    no_locks = getenv("PBSPOLICY_NO_LOCKS") != NULL;
    program = program_of_this();
    if (program == fault_programs) {
        unsetenv("LD_PRELOAD");
        return;
    }
    const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void* page = mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED) return;
    void* frame[1];
    (void)backtrace(frame, 1); /* loads the library that backtrace() needs */
    server = program == fault_in_server ? getpid() : 0;
    begin_recording(&((struct faults*)page)->recording);
    shared = page;
}

/* Returns whether this process's calls count. Those of children that the server has forked don't count, but
 * for `child`. */
static int counts(void) {
    if (shared == NULL || busy) return 0;
    if (server == 0) return 1;
    const pid_t own = getpid();
    return own == server || own == shared->child;
}

/* ---- Killing the server, and making its disk look full. ---- */

/* Counts a call that is about to change a file. Returns 1 if the disk is to look full. */
static int before(void) {
    if (server == 0 || !counts()) return 0;
    const long calls = __atomic_add_fetch(&shared->calls, 1, __ATOMIC_RELAXED);
    return shared->full_after != 0 && calls > shared->full_after;
}

static void after(void) {
    if (server == 0 || !counts()) return;
    if (shared->kill_after != 0 && shared->calls >= shared->kill_after) kill(server, SIGKILL);
}

static int is_file(int fd) {
    struct stat status;
    return shared != NULL && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static int is_file_or_folder(int fd) {
    struct stat status;
    return shared != NULL && fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

static int full(void) {
    errno = ENOSPC;
    return -1;
}

/* ---- Making a single call fail. ---- */

static void note_callers(void) {
    void* frames[20];
    const int count = backtrace(frames, 20);
    size_t used = 0;
    for (int i = 3; i < count && used < sizeof shared->where; ++i) {
        Dl_info info;
        if (dladdr(frames[i], &info) == 0 || info.dli_fname == NULL) continue;
        const char* name = strrchr(info.dli_fname, '/');
        const int size = snprintf(shared->where + used, sizeof shared->where - used, "%s+0x%lx ",
                                  name == NULL ? info.dli_fname : name + 1,
                                  (unsigned long)((char*)frames[i] - (char*)info.dli_fbase));
        if (size < 0) return;
        used += (size_t)size;
    }
}

static int ends_with(const char* text, const char* end) {
    const size_t size = strlen(text);
    const size_t least = strlen(end);
    return size >= least && strcmp(text + size - least, end) == 0;
}

/* Counts a call. Returns the error with which it has to fail (an errno, or fault_short), or 0. If `path`
 * is NULL, the call concerns the open file fd. */
static int fails(int kind, const char* function, const char* path, int fd) {
    if (!counts()) return 0;
    const int armed = shared->at != 0 && shared->kind == kind && shared->program == program;
    char file[200] = "";
    if (armed && path == NULL && fd >= 0) {
        char link[64];
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t size = readlink(link, file, sizeof file - 1);
        file[size > 0 ? size : 0] = '\0';
    }
    if (path == NULL) path = file;
    if (armed && !ends_with(path, shared->of)) return 0;
    const long number = __atomic_add_fetch(&shared->count[program][kind], 1, __ATOMIC_RELAXED);
    if (!armed || number != shared->at) return 0;
    busy = 1;
    (void)snprintf(shared->what, sizeof shared->what, "%s %s", function, path);
    note_callers();
    shared->happened = 1;
    busy = 0;
    return shared->error;
}

#define FAIL(kind, name, path, fd)                       \
    do {                                                 \
        const int failed_ = fails(kind, name, path, fd); \
        if (failed_ > 0) {                               \
            errno = failed_;                             \
            return -1;                                   \
        }                                                \
    } while (0)

#define FAIL_NULL(kind, name, path)                      \
    do {                                                 \
        const int failed_ = fails(kind, name, path, -1); \
        if (failed_ > 0) {                               \
            errno = failed_;                             \
            return NULL;                                 \
        }                                                \
    } while (0)

/* ---- Calls that change files. ---- */

/* Makes the call, and records it by `told` if it succeeded. If `condition` is false, the call changes no
 * file, so it doesn't count. If `needs_room` is true, the call fails on a full disk. */
#define CHANGE(condition, needs_room, result_type, call, told) \
    if (!(condition)) return call;                             \
    if (before() && (needs_room)) return full();               \
    const int records = lock_record();                         \
    const result_type result = call;                           \
    if (records && result >= 0) told;                          \
    if (records) unlock_record();                              \
    after();                                                   \
    return result
#define SYNC(fd, call)                           \
    if (is_file(fd)) (void)before();             \
    const long entries = entries_so_far();       \
    const int result = call;                     \
    if (result == 0) record_synced(fd, entries); \
    if (is_file(fd)) after();                    \
    return result

/* Counts a write, which may have to fail. For fault_short, halves its size. */
#define WRITE(name, fd, size)                                   \
    if (is_file(fd)) {                                          \
        const int failed_ = fails(fault_write, name, NULL, fd); \
        if (failed_ > 0) {                                      \
            errno = failed_;                                    \
            return -1;                                          \
        }                                                       \
        if (failed_ == fault_short && (size) > 1) (size) /= 2;  \
    }

typedef ssize_t (*write_function)(int, const void*, size_t);
typedef ssize_t (*pwrite_function)(int, const void*, size_t, off64_t);
typedef ssize_t (*writev_function)(int, const struct iovec*, int);
typedef int (*descriptor_function)(int);
typedef int (*truncate_function)(int, off64_t);
typedef int (*two_paths_function)(const char*, const char*);
typedef int (*path_function)(const char*);
typedef int (*unlinkat_function)(int, const char*, int);
typedef int (*renameat_function)(int, const char*, int, const char*);
typedef int (*renameat2_function)(int, const char*, int, const char*, unsigned);
typedef int (*fallocate_function)(int, off64_t, off64_t);
typedef int (*mkdir_function)(const char*, mode_t);

ssize_t write(int fd, const void* data, size_t size) {
    NEXT(write_function, real, "write");
    WRITE("write", fd, size)
    CHANGE(is_file(fd), 1, ssize_t, real.function(fd, data, size), record_written(fd, data, result, -1));
}
static ssize_t write_at(int fd, const void* data, size_t size, off64_t at) {
    NEXT(pwrite_function, real, "pwrite64");
    WRITE("pwrite", fd, size)
    CHANGE(is_file(fd), 1, ssize_t, real.function(fd, data, size, at), record_written(fd, data, result, at));
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
    return write_at(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
    return write_at(fd, data, size, at);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
    NEXT(writev_function, real, "writev");
    WRITE("writev", fd, count)
    CHANGE(is_file(fd), 1, ssize_t, real.function(fd, parts, count), record_vector(fd, parts, count, result));
}
int fsync(int fd) {
    NEXT(descriptor_function, real, "fsync");
    if (is_file_or_folder(fd)) FAIL(fault_sync, "fsync", NULL, fd);
    SYNC(fd, real.function(fd));
}
int fdatasync(int fd) {
    NEXT(descriptor_function, real, "fdatasync");
    if (is_file_or_folder(fd)) FAIL(fault_sync, "fdatasync", NULL, fd);
    SYNC(fd, real.function(fd));
}
static int truncate_at(int fd, off64_t size) {
    NEXT(truncate_function, real, "ftruncate64");
    if (is_file(fd)) FAIL(fault_truncate, "ftruncate", NULL, fd);
    CHANGE(is_file(fd), 1, int, real.function(fd, size), record_sized(fd, size));
}
int ftruncate64(int fd, off64_t size) {
    return truncate_at(fd, size);
}
int ftruncate(int fd, off_t size) {
    return truncate_at(fd, size);
}
/* Like posix_fallocate(), returns the error instead of setting errno. */
static int allocate(int fd, off64_t at, off64_t size) {
    NEXT(fallocate_function, real, "posix_fallocate64");
    const int failed = fails(fault_truncate, "posix_fallocate", NULL, fd);
    if (failed > 0) return failed;
    if (before()) return ENOSPC;
    const int records = lock_record();
    const int result = real.function(fd, at, size);
    if (records && result == 0) record_allocated(fd, at + size);
    if (records) unlock_record();
    after();
    return result;
}
int posix_fallocate(int fd, off_t at, off_t size) {
    return allocate(fd, at, size);
}
int posix_fallocate64(int fd, off64_t at, off64_t size) {
    return allocate(fd, at, size);
}
int rename(const char* from, const char* to) {
    NEXT(two_paths_function, real, "rename");
    FAIL(fault_rename, "rename", from, -1);
    CHANGE(1, 0, int, real.function(from, to), record_name(record_rename, AT_FDCWD, from, AT_FDCWD, to));
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
    NEXT(renameat_function, real, "renameat");
    FAIL(fault_rename, "renameat", from, -1);
    CHANGE(1, 0, int, real.function(from_folder, from, to_folder, to),
           record_name(record_rename, from_folder, from, to_folder, to));
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
    NEXT(renameat2_function, real, "renameat2");
    FAIL(fault_rename, "renameat2", from, -1);
    CHANGE(1, 0, int, real.function(from_folder, from, to_folder, to, flags),
           record_name(record_rename, from_folder, from, to_folder, to));
}
int link(const char* from, const char* to) {
    NEXT(two_paths_function, real, "link");
    FAIL(fault_link, "link", from, -1);
    CHANGE(1, 1, int, real.function(from, to), record_name(record_link, AT_FDCWD, from, AT_FDCWD, to));
}
int symlink(const char* from, const char* to) {
    NEXT(two_paths_function, real, "symlink");
    FAIL(fault_link, "symlink", to, -1);
    CHANGE(1, 1, int, real.function(from, to), (void)0);
}
int unlink(const char* path) {
    NEXT(path_function, real, "unlink");
    FAIL(fault_unlink, "unlink", path, -1);
    CHANGE(1, 0, int, real.function(path), record_name(record_unlink, AT_FDCWD, path, 0, NULL));
}
int unlinkat(int folder, const char* path, int flags) {
    NEXT(unlinkat_function, real, "unlinkat");
    FAIL(fault_unlink, "unlinkat", path, -1);
    CHANGE(1, 0, int, real.function(folder, path, flags),
           record_name((flags & AT_REMOVEDIR) != 0 ? record_rmdir : record_unlink, folder, path, 0, NULL));
}
int mkdir(const char* path, mode_t mode) {
    NEXT(mkdir_function, real, "mkdir");
    FAIL(fault_mkdir, "mkdir", path, -1);
    CHANGE(1, 1, int, real.function(path, mode), record_name(record_mkdir, AT_FDCWD, path, 0, NULL));
}

/* ---- Calls that open, read and close. ---- */

typedef int (*openat_function)(int, const char*, int, ...);
typedef FILE* (*fopen_function)(const char*, const char*);
typedef DIR* (*opendir_function)(const char*);
typedef int (*template_function)(char*);
typedef char* (*folder_template_function)(char*);
typedef ssize_t (*read_function)(int, void*, size_t);
typedef ssize_t (*pread_function)(int, void*, size_t, off64_t);

static mode_t mode_of(int flags, va_list rest) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

/* Opens a file that contains the boot id chosen by the test, not the machine's. */
static int open_boot_id(void) {
    char text[40];
    const int size = snprintf(text, sizeof text, "boot-%ld\n", shared->boots);
    const int fd = (int)syscall(SYS_memfd_create, "boot_id", MFD_CLOEXEC);
    if (fd >= 0) (void)!syscall(SYS_pwrite64, fd, text, (size_t)size, 0L);
    return fd;
}

static int open_at(int folder, const char* path, int flags, mode_t mode) {
    NEXT(openat_function, real, "openat64");
    if (shared != NULL && shared->boots != 0 && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
        return open_boot_id();
    FAIL(fault_open, "open", path, -1);
    const int changes = (flags & (O_CREAT | O_TRUNC)) != 0 && lock_record();
    const int missing = changes && is_missing(folder, path);
    const int fd = real.function(folder, path, flags, mode);
    if (changes) {
        record_opened(fd, missing, (flags & O_TRUNC) != 0);
        unlock_record();
    }
    return fd;
}

#define OPEN(name)                                   \
    int name(const char* path, int flags, ...) {     \
        va_list rest;                                \
        va_start(rest, flags);                       \
        const mode_t mode = mode_of(flags, rest);    \
        va_end(rest);                                \
        return open_at(AT_FDCWD, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                         \
    int name(int folder, const char* path, int flags, ...) { \
        va_list rest;                                        \
        va_start(rest, flags);                               \
        const mode_t mode = mode_of(flags, rest);            \
        va_end(rest);                                        \
        return open_at(folder, path, flags, mode);           \
    }
OPENAT(openat)
OPENAT(openat64)

FILE* fopen(const char* path, const char* mode) {
    NEXT(fopen_function, real, "fopen64");
    FAIL_NULL(fault_open, "fopen", path);
    const int changes = mode[0] != 'r' && lock_record();
    const int missing = changes && is_missing(AT_FDCWD, path);
    FILE* file = real.function(path, mode);
    if (changes) {
        if (file != NULL) record_opened(fileno(file), missing, mode[0] == 'w');
        unlock_record();
    }
    return file;
}
FILE* fopen64(const char* path, const char* mode) {
    return fopen(path, mode);
}
DIR* opendir(const char* path) {
    NEXT(opendir_function, real, "opendir");
    FAIL_NULL(fault_open, "opendir", path);
    return real.function(path);
}
int mkstemp(char* path) {
    NEXT(template_function, real, "mkstemp64");
    FAIL(fault_open, "mkstemp", path, -1);
    const int records = lock_record();
    const int fd = real.function(path);
    if (records) {
        record_opened(fd, 1, 0);
        unlock_record();
    }
    return fd;
}
int mkstemp64(char* path) {
    return mkstemp(path);
}
char* mkdtemp(char* path) {
    NEXT(folder_template_function, real, "mkdtemp");
    FAIL_NULL(fault_mkdir, "mkdtemp", path);
    const int records = lock_record();
    char* made = real.function(path);
    if (records && made != NULL) record_name(record_mkdir, AT_FDCWD, path, 0, NULL);
    if (records) unlock_record();
    return made;
}
ssize_t read(int fd, void* data, size_t size) {
    NEXT(read_function, real, "read");
    if (is_file(fd)) FAIL(fault_read, "read", NULL, fd);
    return real.function(fd, data, size);
}
static ssize_t read_at(int fd, void* data, size_t size, off64_t at) {
    NEXT(pread_function, real, "pread64");
    if (is_file(fd)) FAIL(fault_read, "pread", NULL, fd);
    return real.function(fd, data, size, at);
}
ssize_t pread(int fd, void* data, size_t size, off_t at) {
    return read_at(fd, data, size, at);
}
ssize_t pread64(int fd, void* data, size_t size, off64_t at) {
    return read_at(fd, data, size, at);
}
/* Closes the descriptor even if it has to return an error, as close(2) does. */
int close(int fd) {
    NEXT(descriptor_function, real, "close");
    const int failed = fails(fault_close, "close", NULL, fd);
    const int result = real.function(fd);
    if (failed <= 0) return result;
    errno = failed;
    return -1;
}

/* ---- Calls that allocate or map memory. ---- */

typedef void* (*mmap_function)(void*, size_t, int, int, int, off64_t);

static void* map(void* at, size_t size, int protection, int flags, int fd, off64_t from) {
    NEXT(mmap_function, real, "mmap64");
    const int failed = fails(fault_map, "mmap", NULL, fd);
    if (failed <= 0) return real.function(at, size, protection, flags, fd, from);
    errno = failed;
    return MAP_FAILED;
}
void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t from) {
    return map(at, size, protection, flags, fd, from);
}
void* mmap64(void* at, size_t size, int protection, int flags, int fd, off64_t from) {
    return map(at, size, protection, flags, fd, from);
}
void* malloc(size_t size) {
    FAIL_NULL(fault_memory, "malloc", "");
    return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
    FAIL_NULL(fault_memory, "calloc", "");
    return __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
    if (size != 0) FAIL_NULL(fault_memory, "realloc", "");
    return __libc_realloc(block, size);
}

/* ---- Calls that make processes, and pipes and sockets between them. ---- */

typedef pid_t (*fork_function)(void);
typedef int (*spawn_function)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                              const posix_spawnattr_t*, char* const[], char* const[]);
typedef int (*thread_function)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
typedef int (*pipe_function)(int*);
typedef int (*pipe2_function)(int*, int);
typedef int (*socket_function)(int, int, int);
typedef int (*socketpair_function)(int, int, int, int*);
typedef int (*eventfd_function)(unsigned, int);
typedef int (*two_ints_function)(int, int);
typedef int (*memfd_function)(const char*, unsigned);
typedef int (*accept_function)(int, struct sockaddr*, socklen_t*);
typedef int (*accept4_function)(int, struct sockaddr*, socklen_t*, int);

pid_t fork(void) {
    NEXT(fork_function, real, "fork");
    FAIL(fault_process, "fork", "", -1);
    return real.function();
}
int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const arguments[], char* const environment[]) {
    NEXT(spawn_function, real, "posix_spawn");
    const int failed = fails(fault_process, "posix_spawn", path, -1);
    return failed > 0 ? failed : real.function(pid, path, actions, attributes, arguments, environment);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* with) {
    NEXT(thread_function, real, "pthread_create");
    const int failed = fails(fault_thread, "pthread_create", "", -1);
    return failed > 0 ? failed : real.function(thread, attributes, work, with);
}
int pipe(int ends[2]) {
    NEXT(pipe_function, real, "pipe");
    FAIL(fault_pipe, "pipe", "", -1);
    return real.function(ends);
}
int pipe2(int ends[2], int flags) {
    NEXT(pipe2_function, real, "pipe2");
    FAIL(fault_pipe, "pipe2", "", -1);
    return real.function(ends, flags);
}
int socketpair(int domain, int type, int protocol, int ends[2]) {
    NEXT(socketpair_function, real, "socketpair");
    FAIL(fault_pipe, "socketpair", "", -1);
    return real.function(domain, type, protocol, ends);
}
int eventfd(unsigned count, int flags) {
    NEXT(eventfd_function, real, "eventfd");
    FAIL(fault_pipe, "eventfd", "", -1);
    return real.function(count, flags);
}
int timerfd_create(int clock, int flags) {
    NEXT(two_ints_function, real, "timerfd_create");
    FAIL(fault_pipe, "timerfd_create", "", -1);
    return real.function(clock, flags);
}
int epoll_create1(int flags) {
    NEXT(descriptor_function, real, "epoll_create1");
    FAIL(fault_pipe, "epoll_create1", "", -1);
    return real.function(flags);
}
int memfd_create(const char* name, unsigned flags) {
    NEXT(memfd_function, real, "memfd_create");
    FAIL(fault_pipe, "memfd_create", name, -1);
    return real.function(name, flags);
}
int socket(int domain, int type, int protocol) {
    NEXT(socket_function, real, "socket");
    FAIL(fault_socket, "socket", "", -1);
    return real.function(domain, type, protocol);
}
/* If accept() has to fail, the connection stays in the queue. */
int accept(int fd, struct sockaddr* address, socklen_t* size) {
    NEXT(accept_function, real, "accept");
    FAIL(fault_accept, "accept", NULL, fd);
    return real.function(fd, address, size);
}
int accept4(int fd, struct sockaddr* address, socklen_t* size, int flags) {
    NEXT(accept4_function, real, "accept4");
    FAIL(fault_accept, "accept4", NULL, fd);
    return real.function(fd, address, size, flags);
}

/* ---- Losing locks. ---- */

typedef int (*fcntl_function)(int, int, ...);

static int control(int fd, int command, void* argument) {
    NEXT(fcntl_function, real, "fcntl64");
    if (no_locks && (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK)) return 0;
    return real.function(fd, command, argument);
}
#define CONTROL(name)                               \
    int name(int fd, int command, ...) {            \
        va_list rest;                               \
        va_start(rest, command);                    \
        void* const argument = va_arg(rest, void*); \
        va_end(rest);                               \
        return control(fd, command, argument);      \
    }
CONTROL(fcntl)
CONTROL(fcntl64)
int flock(int fd, int operation) {
    NEXT(two_ints_function, real, "flock");
    return no_locks ? 0 : real.function(fd, operation);
}
