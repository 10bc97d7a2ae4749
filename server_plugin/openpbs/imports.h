/*
 * Finds out by ELF dynamic symbols whether the server calls certain functions through the loader, so that
 * preloaded functions can take their place. A server that has libpbs linked into it always calls its own
 * copy.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PBS_NO_WAIT (-2) /* the server's wait for requests can't be caught, so none of its calls can */

/* Examines this process's program. Returns 0 if all calls can be caught. Else returns -1 or PBS_NO_WAIT, and
 * writes one line to `why` (`why_size` bytes) that names a call that can't be caught. */
int pbs_calls_can_be_caught(char* why, size_t why_size);

#ifdef __cplusplus
}
#endif
