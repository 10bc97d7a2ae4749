/* Memory that a test shares with the library faults.c, which it preloads into a server. It is a mapped
 * file. */
#pragma once

#include "tests/faults/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of calls that can fail. */
enum fault_kind {
    fault_open,
    fault_read, /* read, write, sync and truncate count only calls for files */
    fault_write,
    fault_sync,
    fault_truncate, /* also allocations of disk space */
    fault_rename,
    fault_link,
    fault_unlink,
    fault_mkdir,
    fault_close,
    fault_map,
    fault_memory,
    fault_process,
    fault_thread,
    fault_pipe, /* also other descriptors of processes: socketpair, eventfd, timerfd, memfd, epoll */
    fault_socket,
    fault_accept,
    fault_kinds
};

/* Programs whose calls are counted apart: the server, and its helpers. Helpers are the launcher, wardens,
 * shepherds, and pbs_server itself when the server starts it for connections and messages. */
enum fault_program { fault_in_server, fault_in_helper, fault_programs };

enum { fault_short = -1 }; /* instead of failing, the call writes only the first half */

struct faults {
    volatile long calls;      /* number of calls by which the server has changed a file */
    volatile long kill_after; /* number of such calls after which SIGKILL ends the server; 0: none */
    volatile long full_after; /* number of such calls after which the disk is full; 0: none */

    /* The fault to cause: call number `at` of this kind in this program fails. If `at` is 0, none does. */
    volatile long count[fault_programs][fault_kinds]; /* numbers of calls so far */
    volatile int program;
    volatile int kind;
    volatile int error; /* errno, or fault_short */
    volatile long at;
    char of[64];           /* counts only calls for files whose paths end so; empty: all */
    volatile int happened; /* whether the call has failed */
    char what[256];        /* the call that failed: the function and its file */
    char where[1024];      /* its callers, as offsets in programs and libraries */

    volatile int child; /* process id of a child of the server whose calls count like the server's; 0: none */

    volatile long boots; /* number in the boot id that programs read; 0: the machine's own id */

    struct recording recording;
};

#ifdef __cplusplus
}
#endif
