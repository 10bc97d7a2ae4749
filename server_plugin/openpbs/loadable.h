/*
 * May a shared object be mapped into this process? One that is cut short or has a hole kills whoever maps it,
 * in the loader or when the code is reached, so it is read before: its length and checksum have to be those
 * in pbs_policy.sums of its folder, where pbs_policy_install has written them. The libraries that it needs
 * aren't ours to write down: a child loads the object first.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PBS_POLICY_SUMS "pbs_policy.sums"

/* The CRC of POSIX's cksum. */
typedef struct pbs_sum {
    uint32_t crc;
    uint64_t length; /* bytes */
} pbs_sum;

/* Reads a regular file. Returns 0; or -1, and `why`, of `why_size` bytes, says why in one line. */
int pbs_sum_of(const char* path, pbs_sum* sum, char* why, size_t why_size);

/* Returns 0 if the file is as pbs_policy.sums says, and a child of this process has loaded it. Else returns
 * -1, and `why` says why in one line that begins with the path. Any thread may call it. */
int pbs_loadable(const char* path, char* why, size_t why_size);

#ifdef __cplusplus
}
#endif
