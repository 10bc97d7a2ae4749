/* Memory that a test shares with the library faults.c, which it preloads into a server: a mapped file. */
#pragma once

#include "tests/faults/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of calls that can fail. */
enum fault_kind {
    fault_open,
    fault_read, /* read, write, sync and truncate: only of files */
    fault_write,
    fault_sync,
    fault_truncate, /* and allocations of room */
    fault_rename,
    fault_link,
    fault_unlink,
    fault_mkdir,
    fault_close,
    fault_map,
    fault_memory,
    fault_process,
    fault_thread,
    fault_pipe, /* and other descriptors of processes: socketpair, eventfd, timerfd, memfd, epoll */
    fault_socket,
    fault_accept,
    fault_kinds
};

/* Programs whose calls are counted separately: the server; and its helpers, which are the launcher, wardens,
 * shepherds, and pbs_server itself when the server starts it for connections and messages. */
enum fault_program { fault_in_server, fault_in_helper, fault_programs };

enum { fault_short = -1 }; /* instead of an error, the call writes the first half */

struct faults {
    volatile long calls;      /* number of calls by which the server has changed a file */
    volatile long kill_after; /* number of such calls after which SIGKILL ends the server; 0: none */
    volatile long full_after; /* number of such calls after which the disk is full; 0: none */

    /* Call number `at` of this kind in this program fails; at 0: none. */
    volatile long count[fault_programs][fault_kinds]; /* numbers of calls so far */
    volatile int program;
    volatile int kind;
    volatile int error; /* errno, or fault_short */
    volatile long at;
    char of[64];           /* only calls for files whose paths end with this count; empty: all */
    volatile int happened; /* the call has failed */
    char what[256];        /* what failed: the function and its file */
    char where[1024];      /* its callers, as offsets in programs and libraries */

    volatile long boots; /* number in the boot id that programs read; 0: the machine's own id */

    struct recording recording;
};

#ifdef __cplusplus
}
#endif
