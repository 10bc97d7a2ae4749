// Symbols that pbspolicy and static libraries of Debian 12 expect, and that the C library of an older Debian
// lacks. sysroot puts them into libc_nonshared.a, from which each portable object takes the ones that it
// needs.
#include <dirent.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
// Names of ICU's functions, with their version.
#include <unicode/urename.h>

// glibc 2.32 says by this that a process has one thread, for which libstdc++ counts references without atomic
// instructions.
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

// New in glibc 2.36; std::random_device calls it.
unsigned arc4random(void);
unsigned arc4random(void) {
    unsigned number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) abort();
    return number;
}

// New in glibc 2.34. The new process closes its descriptors from `from` on: those that are open now, and 64
// more, which other threads may open before it starts.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int from) {
    const long most = sysconf(_SC_OPEN_MAX);
    int beyond = from;
    DIR* open = opendir("/proc/self/fd");
    if (open == NULL) beyond = 1024;
    for (struct dirent* entry; open != NULL && (entry = readdir(open)) != NULL;)
        if (atoi(entry->d_name) >= beyond) beyond = atoi(entry->d_name) + 1;
    if (open != NULL) closedir(open);
    for (int fd = from; fd < beyond + 64 && fd < most; ++fd) {
        const int error = posix_spawn_file_actions_addclose(actions, fd);
        if (error != 0) return error;
    }
    return 0;
}

// libical calls ICU when it expands a recurrence rule. Nothing here asks libical for that (rrule/expand.h),
// and ICU's tables would be thirty times as large as everything else. Without a calendar, libical expands
// nothing: the other functions aren't reached.
void* ucal_open(const void* zone, int length, const char* locale, int type, int* status);
void* ucal_open(const void* zone, int length, const char* locale, int type, int* status) {
    (void)zone, (void)length, (void)locale, (void)type;
    *status = 16;  // U_UNSUPPORTED_ERROR
    return NULL;
}

#define NOT_REACHED(name) \
    void name(void);      \
    void name(void) {     \
        abort();          \
    }
NOT_REACHED(u_strFromUTF8Lenient)
NOT_REACHED(ucal_add)
NOT_REACHED(ucal_close)
NOT_REACHED(ucal_get)
NOT_REACHED(ucal_getKeywordValuesForLocale)
NOT_REACHED(ucal_getLimit)
NOT_REACHED(ucal_getMillis)
NOT_REACHED(ucal_set)
NOT_REACHED(ucal_setAttribute)
NOT_REACHED(ucal_setDate)
NOT_REACHED(ucal_setDateTime)
NOT_REACHED(ucal_setMillis)
NOT_REACHED(uenum_close)
NOT_REACHED(uenum_next)
NOT_REACHED(uloc_setKeywordValue)
