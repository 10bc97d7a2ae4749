/* Input and output of pbs_iff, separate from the code that uses its privilege, so that tests can call it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest answer of a server, the longest text of it that is passed on, and the longest user name, in
 * bytes. */
enum { iff_longest_answer = 4096, iff_longest_text = 1024, iff_longest_user = 255 };

/* The arguments: pbs_iff [-i address] host port descriptor [own_port] */
struct iff_arguments {
    const char* address; /* of the connection on this side; NULL: not given */
    uint16_t port;       /* the server's */
    int descriptor;      /* of the connection */
    uint16_t own_port;   /* of the connection on this side; 0: not given */
};
/* Reads the arguments. Returns NULL, or what was expected. */
const char* iff_read_arguments(int argc, char* const* argv, struct iff_arguments* arguments);

/* Returns whether a request may carry this user name. */
int iff_is_user(const char* user);

/* These functions write the packets authenticate (for the connection from `port`) and disconnect, with the
 * user's name. They return the number of bytes; 0: `room` is too small. */
size_t iff_write_authenticate(char* out, size_t room, const char* user, uint16_t port);
size_t iff_write_disconnect(char* out, size_t room, const char* user);

enum iff_state { iff_incomplete, iff_malformed, iff_complete };
struct iff_answer {
    int32_t code;     /* 0, or a PBS error number */
    const char* text; /* in the bytes read; not terminated */
    size_t length;    /* of the text; 0: there is none */
};
/* Reads a reply's packet from its beginning. iff_incomplete: more bytes are needed. */
enum iff_state iff_read_answer(const char* bytes, size_t size, struct iff_answer* answer);

#ifdef __cplusplus
}
#endif
