#include "server_plugin/openpbs/loadable.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST_TRIAL 30 /* seconds */

__attribute__((format(printf, 3, 4))) static int refuse(char* why, size_t size, const char* format, ...) {
    va_list words;
    va_start(words, format);
    vsnprintf(why, size, format, words);
    va_end(words);
    return -1;
}

/* ---- The checksum of a file. */

static uint32_t with_byte(uint32_t crc, unsigned byte) {
    int bit;
    crc ^= (uint32_t)byte << 24;
    for (bit = 0; bit < 8; ++bit) crc = crc << 1 ^ ((crc & 0x80000000U) != 0 ? 0x04C11DB7U : 0);
    return crc;
}

static int sum_of_open(int fd, const uint32_t* table, pbs_sum* sum) {
    unsigned char bytes[65536];
    uint32_t crc = 0;
    uint64_t left;
    ssize_t size, i;
    sum->length = 0;
    while ((size = read(fd, bytes, sizeof bytes)) != 0) {
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return -1;
        for (i = 0; i < size; ++i) crc = crc << 8 ^ table[crc >> 24 ^ bytes[i]];
        sum->length += (uint64_t)size;
    }
    for (left = sum->length; left != 0; left >>= 8) crc = crc << 8 ^ table[crc >> 24 ^ (left & 0xff)];
    sum->crc = ~crc;
    return 0;
}

int pbs_sum_of(const char* path, pbs_sum* sum, char* why, size_t why_size) {
    uint32_t table[256];
    struct stat status;
    unsigned i;
    int failed;
    /* O_NONBLOCK: if the file is a pipe, open() would wait for a writer. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return refuse(why, why_size, "%s: %s", path, strerror(errno));
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return refuse(why, why_size, "%s: expected a file", path);
    }
    for (i = 0; i < 256; ++i) table[i] = with_byte(0, i);
    failed = sum_of_open(fd, table, sum) != 0 ? errno : 0;
    close(fd);
    if (failed != 0) return refuse(why, why_size, "%s: %s", path, strerror(failed));
    return 0;
}

/* Finds a line "CRC LENGTH NAME" with this name. Returns 0, or -1 if there is none. */
static int find_sum(FILE* file, const char* name, pbs_sum* sum) {
    char line[512], named[256];
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%" SCNu32 " %" SCNu64 " %255s", &sum->crc, &sum->length, named) == 3 &&
            strcmp(named, name) == 0)
            return 0;
    return -1;
}

static int is_as_installed(const char* path, char* why, size_t why_size) {
    char sums[PATH_MAX];
    const char* slash = strrchr(path, '/');
    const char* name = slash != NULL ? slash + 1 : path;
    pbs_sum expected, is;
    FILE* file;
    int found;
    snprintf(sums, sizeof sums, "%.*s%s", (int)(name - path), path, PBS_POLICY_SUMS);
    if (pbs_sum_of(path, &is, why, why_size) != 0) return -1;
    file = fopen(sums, "re");
    if (file == NULL)
        return refuse(
            why, why_size,
            "%s: %s can't be read (%s): pbs_policy_install writes down there what the file should be", path,
            sums, strerror(errno));
    found = find_sum(file, name, &expected);
    fclose(file);
    if (found != 0)
        return refuse(why, why_size, "%s: %s doesn't name it; pbs_policy_install --openpbs --renew adds it",
                      path, sums);
    if (is.length != expected.length)
        return refuse(why, why_size,
                      "%s: %" PRIu64 " bytes, expected %" PRIu64
                      "; if it was replaced on purpose: pbs_policy_install --openpbs --renew",
                      path, is.length, expected.length);
    if (is.crc != expected.crc)
        return refuse(why, why_size,
                      "%s: checksum %" PRIu32 ", expected %" PRIu32
                      "; if it was replaced on purpose: pbs_policy_install --openpbs --renew",
                      path, is.crc, expected.crc);
    return 0;
}

/* ---- A child process loads the object first. */

/* Tries to load the object, and writes the outcome to the pipe: an empty text or an error, up to a NUL. This
 * runs in a child. A child that is killed by the attempt writes nothing. */
static void try_in_child(const char* path, int pipe_end) {
    static const int kDeadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM, SIGTERM};
    const char* error = "";
    sigset_t none;
    size_t i;
    for (i = 0; i < sizeof kDeadly / sizeof *kDeadly; ++i) signal(kDeadly[i], SIG_DFL);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    alarm(LONGEST_TRIAL);
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL) error = dlerror();
    if (error == NULL) error = "it can't be loaded";
    if (write(pipe_end, error, strlen(error) + 1) < 0) _exit(2);
    _exit(0);
}

static int loads_in_child(const char* path, char* why, size_t why_size) {
    int ends[2], status = 0;
    size_t used = 0;
    ssize_t size;
    pid_t child, waited;
    if (pipe2(ends, O_CLOEXEC) != 0) return refuse(why, why_size, "%s: pipe: %s", path, strerror(errno));
    child = fork();
    if (child == 0) try_in_child(path, ends[1]);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return refuse(why, why_size, "%s: fork: %s", path, strerror(errno));
    }
    /* Read up to the NUL, not to the end of the file, because another child of this process may hold the pipe
     * open. */
    while (used + 1 < why_size && (used == 0 || why[used - 1] != '\0')) {
        size = read(ends[0], why + used, why_size - used - 1);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        used += (size_t)size;
    }
    close(ends[0]);
    why[used] = '\0';
    /* waitpid() may fail: another thread of the process may wait for all children, and get this child's
     * status. */
    while ((waited = waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
    if (used != 0) return why[0] == '\0' ? 0 : -1;
    if (waited == child && WIFSIGNALED(status))
        return refuse(why, why_size, "%s: signal %d ended the process that loaded it first", path,
                      WTERMSIG(status));
    return refuse(why, why_size, "%s: the process that loaded it first has died", path);
}

int pbs_loadable(const char* path, char* why, size_t why_size) {
    if (is_as_installed(path, why, why_size) != 0) return -1;
    return loads_in_child(path, why, why_size);
}
