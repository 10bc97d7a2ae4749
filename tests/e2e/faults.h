/* What a test and the library that it preloads into a server (faults.c) share, in a mapped file. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct faults {
    volatile long calls;      /* of the server, so far, that change a file */
    volatile long kill_after; /* the one after which the server ends by SIGKILL; 0: none */
    volatile long full_after; /* the one after which the disk is full; 0: none */
};

#ifdef __cplusplus
}
#endif
