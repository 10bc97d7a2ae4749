/*
 * Which functions the server calls through the loader, so that others can be put in their place: its ELF
 * dynamic symbols say so. A server that has a copy of libpbs linked into it calls that, whatever is
 * preloaded.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PBS_NO_WAIT (-2) /* no call of the server's can be caught */

/* Looks at the program of this process. 0; or -1 or PBS_NO_WAIT, and `why`, of `why_size` bytes, says in one
 * line which call can't be caught. */
int pbs_calls_can_be_caught(char* why, size_t why_size);

#ifdef __cplusplus
}
#endif
