/*
 * Finds out whether a shared object can be mapped into this process. An object that is cut short or has a
 * hole kills a process that maps it, in the loader or when the damaged code is reached. So the file is
 * checked first: its length and checksum have to be those in pbs_policy.sums of its folder, which
 * pbs_policy_install has written. The sums of the libraries of other projects that the object needs aren't
 * known, so a child process loads the object first.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PBS_POLICY_SUMS "pbs_policy.sums"

/* A file's length, and its checksum as POSIX's cksum computes it. */
typedef struct pbs_sum {
    uint32_t crc;
    uint64_t length; /* bytes */
} pbs_sum;

/* Computes the sum of a regular file. Returns 0. After an error returns -1, and writes the reason as one line
 * to `why` (`why_size` bytes). */
int pbs_sum_of(const char* path, pbs_sum* sum, char* why, size_t why_size);

/* Returns 0 if the file agrees with pbs_policy.sums and a child of this process could load it. Otherwise
 * returns -1, with the reason in `why`, as one line that begins with the path. Any thread may call it. */
int pbs_loadable(const char* path, char* why, size_t why_size);

#ifdef __cplusplus
}
#endif
