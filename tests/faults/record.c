#include "tests/faults/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/faults/recorder.h"

static struct recording* kept;
static int record = -1;
static char below[PATH_MAX];
static size_t below_size;

/* Programs close descriptors below this number before they start other programs, so the record's
 * descriptor is higher. */
enum { kDescriptor = 700 };

void begin_recording(struct recording* with) {
    const char* path = getenv("PBSPOLICY_RECORD");
    const char* folder = getenv("PBSPOLICY_RECORD_BELOW");
    if (path == NULL || folder == NULL || strlen(folder) >= sizeof below) return;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    if (fd < 0) return;
    record = fcntl(fd, F_DUPFD_CLOEXEC, kDescriptor);
    syscall(SYS_close, fd);
    below_size = strlen(folder);
    memcpy(below, folder, below_size + 1);
    kept = with;
}

/* Only one process at a time makes a call and records it, so that the record has the calls in their real
 * order. */
int lock_record(void) {
    if (record < 0) return 0;
    /* Give up after some time, as a process that was killed with the lock never unlocks it. */
    for (int i = 0; i < 1000000 && __atomic_exchange_n(&kept->locked, 1, __ATOMIC_ACQUIRE) != 0; ++i)
        sched_yield();
    return 1;
}
void unlock_record(void) {
    if (record >= 0) __atomic_store_n(&kept->locked, 0, __ATOMIC_RELEASE);
}

static int is_below(const char* path) {
    return strncmp(path, below, below_size) == 0 && (path[below_size] == '/' || path[below_size] == '\0');
}

static void put(struct record_entry entry, const char* path, const char* other, const void* data) {
    const int error = errno;
    entry.path_size = path == NULL ? 0 : (uint32_t)strlen(path);
    entry.other_size = other == NULL ? 0 : (uint32_t)strlen(other);
    const struct iovec parts[] = {{&entry, sizeof entry},
                                  {(void*)(uintptr_t)path, entry.path_size},
                                  {(void*)(uintptr_t)other, entry.other_size},
                                  {(void*)(uintptr_t)data, entry.data_size}};
    (void)!syscall(SYS_writev, record, parts, 4);
    kept->entries = kept->entries + 1;
    errno = error;
}

/* Sets `path` to the path of the open file fd. Returns whether the file is below the recorded folder. */
static int path_of(int fd, char* path) {
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t size = readlink(link, path, PATH_MAX - 1);
    if (size <= 0) return 0;
    path[size] = '\0';
    return is_below(path);
}
static uint64_t number_of(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 ? (uint64_t)status.st_ino : 0;
}
/* Sets `out` to the absolute path. Returns whether it is below the recorded folder. */
static int full_path(int folder, const char* path, char* out) {
    if (path[0] == '/') {
        if (strlen(path) >= PATH_MAX) return 0;
        strcpy(out, path);
        return is_below(out);
    }
    if (folder == AT_FDCWD || !path_of(folder, out)) return 0;
    const size_t size = strlen(out);
    if (size + strlen(path) + 2 > PATH_MAX) return 0;
    (void)snprintf(out + size, PATH_MAX - size, "/%s", path);
    return 1;
}

int is_missing(int folder, const char* path) {
    struct stat status;
    return record >= 0 && fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

void record_opened(int fd, int missing, int emptied) {
    char path[PATH_MAX];
    if (fd < 0 || (!missing && !emptied) || !path_of(fd, path)) return;
    const struct record_entry made = {.type = record_make, .file = number_of(fd)};
    const struct record_entry empty = {.type = record_size, .file = number_of(fd)};
    put(missing ? made : empty, path, NULL, NULL);
}
void record_written(int fd, const void* data, ssize_t size, off64_t at) {
    char path[PATH_MAX];
    if (size <= 0 || !path_of(fd, path)) return;
    if (at < 0) at = lseek64(fd, 0, SEEK_CUR) - size;
    const struct record_entry entry = {
        .type = record_write, .data_size = (uint32_t)size, .file = number_of(fd), .at = at};
    put(entry, path, NULL, data);
}
void record_vector(int fd, const struct iovec* parts, int count, ssize_t size) {
    off64_t at = lseek64(fd, 0, SEEK_CUR) - size;
    for (int i = 0; i < count && size > 0; ++i) {
        const ssize_t part = size < (ssize_t)parts[i].iov_len ? size : (ssize_t)parts[i].iov_len;
        record_written(fd, parts[i].iov_base, part, at);
        at += part;
        size -= part;
    }
}
void record_sized(int fd, off64_t size) {
    char path[PATH_MAX];
    if (!path_of(fd, path)) return;
    const struct record_entry entry = {.type = record_size, .file = number_of(fd), .at = size};
    put(entry, path, NULL, NULL);
}
void record_allocated(int fd, off64_t end) {
    struct stat status;
    if (record >= 0 && fstat(fd, &status) == 0 && status.st_size <= end) record_sized(fd, end);
}
long entries_so_far(void) {
    return record < 0 ? 0 : __atomic_load_n(&kept->entries, __ATOMIC_ACQUIRE);
}
void record_synced(int fd, long before) {
    char path[PATH_MAX];
    if (record < 0 || !path_of(fd, path)) return;
    const struct record_entry entry = {.type = record_sync, .file = number_of(fd), .at = before};
    (void)lock_record();
    put(entry, path, NULL, NULL);
    unlock_record();
}
void record_name(int type, int folder, const char* path, int other_folder, const char* other) {
    char from[PATH_MAX];
    char to[PATH_MAX];
    if (record < 0 || !full_path(folder, path, from)) return;
    if (other != NULL && !full_path(other_folder, other, to)) return;
    const struct record_entry entry = {.type = (uint32_t)type};
    put(entry, from, other == NULL ? NULL : to, NULL);
}
