/*
 * The interface between the preloaded object (preload.c) and the module (module.cc). Every process of the
 * server's start has the preloaded object, which is therefore small and in C. Only pbs_server.bin loads the
 * module.
 *
 * The replaced calls are those that pbs_server.bin makes for each request: the calls of libpbs's decoders of
 * a request's header, of the bodies of Manager, Status and Run requests and of the extend string; the call of
 * libpbs's encoder of replies; and the call of libc by which the server, or libpbs for it, waits for the next
 * request.
 */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PBS_POLICY_MODULE "pbs_policy_openpbs.so"
#define PBS_POLICY_MODULE_ENTRY "pbs_policy_openpbs_attach"

/* `request` and `reply` point to OpenPBS's own structures, which nothing here reads. */
typedef struct pbs_preload_calls {
    int (*decode_header)(int sock, void* request, int* type, int* version);
    int (*decode_manage)(int sock, void* request);
    int (*decode_status)(int sock, void* request);
    int (*decode_run)(int sock, void* request);
    int (*decode_extend)(int sock, void* request);
    int (*encode_reply)(int sock, void* reply);
    int (*wait)(int epoll, struct epoll_event* events, int most, int timeout, const sigset_t* signals);
} pbs_preload_calls;

typedef struct pbs_preload {
    size_t size;            /* of this struct */
    pbs_preload_calls real; /* the functions of libpbs and libc */
    const char* folder;     /* where the preloaded object and the module are */
    const char* attachment; /* "inside" or "beside" */
    /* Writes a line to the log of pbs_server. */
    void (*log)(const char* line);
} pbs_preload;

/* Called once, in the main thread of pbs_server.bin, when it first waits for requests. On success returns 0,
 * and puts functions into `calls`. From then on the main thread calls these in place of those in `real`; a
 * child of the server never does. After an error returns another number, with the reason as one line in
 * `error`, and nothing has changed. */
typedef int (*pbs_policy_openpbs_attach_fn)(const pbs_preload* preload, pbs_preload_calls* calls, char* error,
                                            size_t error_size);

#ifdef __cplusplus
}
#endif
