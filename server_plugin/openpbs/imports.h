/*
 * Do the server's ELF dynamic symbols show that it calls certain functions through the loader, so that others
 * can be put in their place? A server that has a copy of libpbs linked into it calls that, whatever is
 * preloaded.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PBS_NO_WAIT (-2) /* no call of the server's can be caught */

/* Looks at the program of this process. Returns 0 if all calls can be caught. Else returns -1 or PBS_NO_WAIT,
 * and writes to `why` (`why_size` bytes) one line that says which call can't be caught. */
int pbs_calls_can_be_caught(char* why, size_t why_size);

#ifdef __cplusplus
}
#endif
