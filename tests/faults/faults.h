/* Memory that a test shares with the library that it preloads into a server (faults.c), in a mapped file. */
#pragma once

#include "tests/faults/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of calls that can fail. */
enum fault_kind {
    fault_open,
    fault_read, /* of files, as are the next three */
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

/* Programs that are counted apart: the server, and its helpers: launcher, wardens, shepherds, and its own
 * program when it makes connections or writes messages. */
enum fault_program { fault_in_server, fault_in_helper, fault_programs };

enum { fault_short = -1 }; /* in place of an error: the call does the first half */

struct faults {
    volatile long calls;      /* the server's calls that change a file, so far */
    volatile long kill_after; /* call after which SIGKILL ends the server; 0: none */
    volatile long full_after; /* call after which the disk is full; 0: none */

    /* One call fails: the call number `at` of this kind in this program. at 0: none. */
    volatile long count[fault_programs][fault_kinds]; /* calls so far */
    volatile int program;
    volatile int kind;
    volatile int error; /* errno, or fault_short */
    volatile long at;
    char of[64];           /* only calls about files whose paths end so are counted; empty: all */
    volatile int happened; /* the call has failed */
    char what[256];        /* what failed: the function and its file */
    char where[1024];      /* its callers, as offsets in programs and libraries */

    volatile long boots; /* what the machine's boot id says; 0: the real one */

    struct recording recording;
};

#ifdef __cplusplus
}
#endif
