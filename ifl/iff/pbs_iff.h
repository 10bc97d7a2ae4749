/* What pbs_iff reads and writes, apart from what it does with its privilege: for its tests. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest answer of a server that is read, and the longest text of it that is passed on, in bytes. */
enum { iff_longest_answer = 4096, iff_longest_text = 1024, iff_longest_user = 255 };

/* pbs_iff [-i address] host port descriptor [own_port] */
struct iff_arguments {
    const char* address; /* that the connection has on this side; NULL: not given */
    uint16_t port;       /* the server's */
    int descriptor;      /* of the connection */
    uint16_t own_port;   /* that the connection has on this side; 0: not given */
};
/* NULL: they are read. Else what was expected. */
const char* iff_read_arguments(int argc, char* const* argv, struct iff_arguments* arguments);

/* Is it a name that a request may carry? */
int iff_is_user(const char* user);

/* The packets authenticate (for the connection from `port`) and disconnect, with the user's name. The number
 * of bytes; 0: `room` is too small. */
size_t iff_write_authenticate(char* out, size_t room, const char* user, uint16_t port);
size_t iff_write_disconnect(char* out, size_t room, const char* user);

enum iff_state { iff_incomplete, iff_malformed, iff_complete };
struct iff_answer {
    int32_t code;     /* 0, or a PBS error number */
    const char* text; /* in what was read; not terminated */
    size_t length;    /* of the text; 0: there is none */
};
/* Reads a reply's packet from its beginning. */
enum iff_state iff_read_answer(const char* bytes, size_t size, struct iff_answer* answer);

#ifdef __cplusplus
}
#endif
