/* Counters that a test shares with the library that it preloads into a server (faults.c), in a mapped file.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct faults {
    volatile long calls;      /* the server's calls that change a file, so far */
    volatile long kill_after; /* call after which SIGKILL ends the server; 0: none */
    volatile long full_after; /* call after which the disk is full; 0: none */
};

#ifdef __cplusplus
}
#endif
