/* pbs_iff: tells a PBS server the user of a connection, from a port that only root of this host may use.
 *
 * The program is setuid root, so it must give its caller nothing more than that. It keeps only root's
 * privilege to use such ports, and only until it is connected. It looks up no host, and reads no file and no
 * environment variable: it takes the server's address from the connection, which its caller must have open.
 * So a caller can't have it speak for others' connections. The bytes that it sends are fixed except for the
 * user's name, from the kernel and the password database, and the connection's port.
 *
 * pbs_iff [-i address] host port descriptor [own_port]
 *
 * The arguments are OpenPBS's. `own_port` is a number in network byte order. `host` isn't used, since the
 * connection tells the server. The answer on standard output is an int, 0 or a PBS error number; after an
 * error number the length of a text, as an int, and the text. */
#include "ifl/iff/pbs_iff.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Exit statuses, with OpenPBS's numbers. */
enum { exit_done = 0, exit_refused = 1, exit_no_server_answer = 2, exit_no_user = 3, exit_no_connection = 4 };

enum {
    first_port = 512, /* the ports from which servers accept a user's name */
    last_port = 1023,
    first_server_port = 1024, /* services on ports below it could take the connection for root's */
    time_limit_ms = 15000,    /* for the whole exchange */
    end_limit_ms = 1000       /* for the server to close */
};

/* ---- Reading and writing ---- */

enum { header_size = 11, type_authenticate = 95, type_disconnect = 59, choice_text = 7, choices = 11 };
static const char kMagic[] = "PKTV1"; /* with its NUL byte */

static int read_number(const char* text, unsigned long most, unsigned long* number) {
    unsigned long value = 0;
    size_t i = 0;
    for (; text[i] >= '0' && text[i] <= '9'; ++i) {
        value = value * 10 + (unsigned long)(text[i] - '0');
        if (value > most || i > 9) return 0;
    }
    *number = value;
    return i > 0 && text[i] == '\0';
}

const char* iff_read_arguments(int argc, char* const* argv, struct iff_arguments* arguments) {
    const char* const usage = "pbs_iff [-i address] host port descriptor [own_port] expected";
    memset(arguments, 0, sizeof *arguments);
    int next = 1;
    if (argc > 2 && strcmp(argv[1], "-i") == 0) {
        struct in6_addr parsed;
        if (inet_pton(AF_INET, argv[2], &parsed) != 1 && inet_pton(AF_INET6, argv[2], &parsed) != 1)
            return "a numeric address expected behind -i";
        arguments->address = argv[2];
        next = 3;
    }
    const int left = argc - next;
    if ((left != 3 && left != 4) || argv[next][0] == '-') return usage;
    unsigned long number = 0;
    if (!read_number(argv[next + 1], UINT16_MAX, &number) || number < first_server_port)
        return "the server's port expected, from 1024 on";
    arguments->port = (uint16_t)number;
    if (!read_number(argv[next + 2], 1 << 20, &number) || number <= STDERR_FILENO)
        return "the connection's descriptor expected";
    arguments->descriptor = (int)number;
    if (left == 4) {
        if (!read_number(argv[next + 3], UINT16_MAX, &number) || number == 0)
            return "the connection's own port expected";
        arguments->own_port = ntohs((uint16_t)number);
    }
    return NULL;
}

int iff_is_user(const char* user) {
    size_t i = 0;
    for (; user[i] != '\0'; ++i)
        if (i == iff_longest_user || (unsigned char)user[i] <= ' ' || user[i] == '\x7f' || user[i] == '@')
            return 0;
    return i > 0;
}

struct out {
    char* bytes;
    size_t room;
    size_t size;
    bool full;
};

static void put(struct out* out, const char* bytes, size_t size) {
    if (out->full || size > out->room - out->size) {
        out->full = true;
        return;
    }
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

/* Writes a number in DIS: a sign and digits; with more than one digit, their number (here one digit) first.
 */
static void put_number(struct out* out, unsigned number) {
    char digits[12];
    const int count = snprintf(digits, sizeof digits, "%u", number);
    if (count < 1 || count > 9) {
        out->full = true;
        return;
    }
    const char before[2] = {(char)('0' + count), '+'};
    put(out, count > 1 ? before : before + 1, count > 1 ? 2 : 1);
    put(out, digits, (size_t)count);
}

static void put_string(struct out* out, const char* text) {
    put_number(out, (unsigned)strlen(text));
    put(out, text, strlen(text));
}

static void put_head(struct out* out, unsigned type, const char* user) {
    put(out, kMagic, sizeof kMagic);
    put(out, "\0\0\0\0\0", header_size - sizeof kMagic);
    put_number(out, 2); /* the protocol's type and version */
    put_number(out, 2);
    put_number(out, type);
    put_string(out, user);
}

static size_t end_packet(struct out* out) {
    if (out->full || !out->size) return 0;
    const size_t length = out->size - header_size;
    for (int i = 0; i < 4; ++i) out->bytes[header_size - 1 - i] = (char)(length >> (8 * i) & 0xff);
    return out->size;
}

size_t iff_write_authenticate(char* bytes, size_t room, const char* user, uint16_t port) {
    struct out out = {bytes, room, 0, false};
    put_head(&out, type_authenticate, user);
    put_number(&out, (unsigned)strlen("resvport"));
    put_string(&out, "resvport");
    put_number(&out, 0); /* nothing is encrypted */
    put_number(&out, port);
    put_number(&out, 0); /* no extension */
    return end_packet(&out);
}

size_t iff_write_disconnect(char* bytes, size_t room, const char* user) {
    struct out out = {bytes, room, 0, false};
    put_head(&out, type_disconnect, user);
    return end_packet(&out);
}

struct in {
    const char* bytes;
    size_t left;
};

static bool get_digits(struct in* in, size_t count, unsigned long* number) {
    if (count == 0 || count > 9 || count > in->left || (count > 1 && in->bytes[0] == '0')) return false;
    unsigned long value = 0;
    for (size_t i = 0; i < count; ++i) {
        if (in->bytes[i] < '0' || in->bytes[i] > '9') return false;
        value = value * 10 + (unsigned long)(in->bytes[i] - '0');
    }
    in->bytes += count;
    in->left -= count;
    *number = value;
    return true;
}

static bool get_number(struct in* in, int32_t* number) {
    unsigned long count = 1;
    if (in->left == 0) return false;
    if (in->bytes[0] != '+' && in->bytes[0] != '-' && (!get_digits(in, 1, &count) || count < 2)) return false;
    if (in->left == 0 || (in->bytes[0] != '+' && in->bytes[0] != '-')) return false;
    const bool negative = in->bytes[0] == '-';
    ++in->bytes;
    --in->left;
    unsigned long value = 0;
    if (!get_digits(in, count, &value)) return false;
    *number = negative ? -(int32_t)value : (int32_t)value;
    return true;
}

static bool get_unsigned(struct in* in, int32_t most, int32_t* number) {
    return get_number(in, number) && *number >= 0 && *number <= most;
}

enum iff_state iff_read_answer(const char* bytes, size_t size, struct iff_answer* answer) {
    memset(answer, 0, sizeof *answer);
    if (size == 0) return iff_incomplete;
    if (memcmp(bytes, kMagic, size < sizeof kMagic ? size : sizeof kMagic) != 0) return iff_malformed;
    if (size < header_size) return iff_incomplete;
    size_t length = 0;
    for (size_t i = sizeof kMagic + 1; i < header_size; ++i) length = length << 8 | (unsigned char)bytes[i];
    if (length == 0 || length > iff_longest_answer - header_size) return iff_malformed;
    if (size - header_size < length) return iff_incomplete;
    struct in in = {bytes + header_size, length};
    int32_t protocol = 0;
    int32_t version = 0;
    int32_t auxiliary = 0;
    int32_t choice = 0;
    int32_t more = 0;
    if (!get_unsigned(&in, 2, &protocol) || protocol != 2 || !get_unsigned(&in, 2, &version) ||
        version != 2 || !get_number(&in, &answer->code) || !get_number(&in, &auxiliary) ||
        !get_unsigned(&in, choices, &choice) || choice == 0 || !get_unsigned(&in, 1, &more))
        return iff_malformed;
    if (answer->code == 0 || choice != choice_text) return iff_complete;
    int32_t text = 0;
    if (!get_unsigned(&in, iff_longest_answer, &text) || (size_t)text > in.left) return iff_malformed;
    answer->text = in.bytes;
    answer->length = (size_t)text < iff_longest_text ? (size_t)text : iff_longest_text;
    return iff_complete;
}

/* ---- Privileges ---- */

static bool set_privileges(uint32_t privileges) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    memset(data, 0, sizeof data);
    data[0].effective = privileges;
    data[0].permitted = privileges;
    return syscall(SYS_capset, &header, data) == 0;
}

/* Gives up root, except for the privilege to use a port below 1024, and forbids others to inspect the
 * process. */
static bool keep_the_port_only(void) {
    const uid_t uid = getuid();
    const gid_t gid = getgid();
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setresgid(gid, gid, gid) != 0 ||
        setresuid(uid, uid, uid) != 0 || !set_privileges(UINT32_C(1) << CAP_NET_BIND_SERVICE))
        return false;
    return prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

/* ---- The connections ---- */

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool wait_for(int fd, short events, int64_t until) {
    for (;;) {
        const int64_t left = until - now_ms();
        if (left <= 0) return false;
        struct pollfd waiting = {fd, events, 0};
        const int ready = poll(&waiting, 1, (int)left);
        if (ready > 0) return true;
        if (ready == 0 || errno != EINTR) return false;
    }
}

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage room;
};

static in_port_t* port_of(union address* address) {
    return address->any.sa_family == AF_INET6 ? &address->v6.sin6_port : &address->v4.sin_port;
}

static bool has_address(const union address* address, const char* text) {
    char own[INET6_ADDRSTRLEN] = "";
    const bool six = address->any.sa_family == AF_INET6;
    const bool mapped = six && IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr);
    const void* const bytes = !six     ? (const void*)&address->v4.sin_addr
                              : mapped ? (const void*)&address->v6.sin6_addr.s6_addr[12]
                                       : (const void*)&address->v6.sin6_addr;
    return inet_ntop(six && !mapped ? AF_INET6 : AF_INET, bytes, own, sizeof own) != NULL &&
           strcmp(own, text) == 0;
}

/* Returns whether the connection is in this process's network namespace: in another one its addresses would
 * mean other machines. */
static bool is_of_this_network(int fd) {
#ifdef SO_NETNS_COOKIE
    uint64_t cookies[2] = {0, 0};
    socklen_t size = sizeof cookies[0];
    if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookies[0], &size) != 0) return errno == ENOPROTOOPT;
    const int own = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
    if (own < 0) return false;
    const bool read = getsockopt(own, SOL_SOCKET, SO_NETNS_COOKIE, &cookies[1], &size) == 0;
    close(own);
    return read && cookies[0] == cookies[1];
#else
    return fd >= 0;
#endif
}

/* Reads both ends of the caller's connection. Returns NULL, or how the connection differs from the arguments.
 */
static const char* read_connection(const struct iff_arguments* arguments, union address* own,
                                   union address* server) {
    socklen_t own_size = sizeof *own;
    socklen_t server_size = sizeof *server;
    int type = 0;
    int protocol = 0;
    socklen_t size = sizeof type;
    memset(own, 0, sizeof *own);
    memset(server, 0, sizeof *server);
    if (getsockopt(arguments->descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM ||
        getsockopt(arguments->descriptor, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0 ||
        protocol != IPPROTO_TCP || getsockname(arguments->descriptor, &own->any, &own_size) != 0 ||
        getpeername(arguments->descriptor, &server->any, &server_size) != 0 ||
        (own->any.sa_family != AF_INET && own->any.sa_family != AF_INET6))
        return "the descriptor is no TCP connection";
    if (!is_of_this_network(arguments->descriptor)) return "the connection is in another network namespace";
    if (ntohs(*port_of(server)) != arguments->port) return "the connection leads to another port";
    if (arguments->own_port != 0 && ntohs(*port_of(own)) != arguments->own_port)
        return "the connection has another own port";
    if (arguments->address != NULL && !has_address(own, arguments->address))
        return "the connection has another own address";
    return NULL;
}

/* Connects from a privileged port to the server of the caller's connection; -1: errno has the error. */
static int connect_from_port(const union address* own, const union address* server, int64_t until) {
    unsigned start = 0;
    if (getrandom(&start, sizeof start, GRND_NONBLOCK) != (ssize_t)sizeof start) start = (unsigned)getpid();
    const int count = last_port - first_port + 1;
    for (int i = 0; i < count; ++i) {
        const int fd = socket(own->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
        if (fd < 0) return -1;
        /* SO_REUSEADDR lets a port serve connections to several servers, so that a user who connects to a
         * server of his own can't use up all ports. */
        const int on = 1;
        union address from = *own;
        *port_of(&from) = htons((uint16_t)(first_port + (start + (unsigned)i) % (unsigned)count));
        int error = 0;
        socklen_t size = sizeof error;
        if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
            bind(fd, &from.any, sizeof from.room) != 0) {
            error = errno;
        } else if (connect(fd, &server->any, sizeof server->room) != 0) {
            error = errno;
            if (error == EINPROGRESS) {
                if (!wait_for(fd, POLLOUT, until))
                    error = ETIMEDOUT;
                else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
                    error = errno;
            }
        }
        if (error == 0) return fd;
        close(fd);
        errno = error;
        if (error != EADDRINUSE && error != EADDRNOTAVAIL) return -1;
    }
    return -1;
}

static bool send_all(int fd, const char* bytes, size_t size, int64_t until) {
    while (size > 0) {
        const ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            size -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for(fd, POLLOUT, until)) return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static enum iff_state receive_answer(int fd, char* bytes, size_t room, struct iff_answer* answer,
                                     int64_t until) {
    size_t size = 0;
    for (;;) {
        const enum iff_state state = iff_read_answer(bytes, size, answer);
        if (state != iff_incomplete || size == room) return state;
        const ssize_t received = recv(fd, bytes + size, room - size, 0);
        const bool none_yet = received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        if (received == 0 || (none_yet && !wait_for(fd, POLLIN, until)) ||
            (received < 0 && !none_yet && errno != EINTR))
            return iff_incomplete;
        if (received > 0) size += (size_t)received;
    }
}

/* Sends disconnect and lets the server close first, so that the port is free at once on this side. */
static void end_connection(int fd, const char* user) {
    char bytes[512];
    const size_t size = iff_write_disconnect(bytes, sizeof bytes, user);
    const int64_t until = now_ms() + end_limit_ms;
    if (send_all(fd, bytes, size, until))
        while (wait_for(fd, POLLIN, until) && recv(fd, bytes, sizeof bytes, 0) > 0) {
        }
    close(fd);
}

static bool tell_number(int number) {
    return write(STDOUT_FILENO, &number, sizeof number) == (ssize_t)sizeof number;
}

static int tell(const struct iff_answer* answer) {
    if (!tell_number(answer->code)) return exit_no_server_answer;
    if (answer->code == 0) return exit_done;
    if (tell_number((int)answer->length) && answer->length > 0)
        (void)!write(STDOUT_FILENO, answer->text, answer->length);
    return exit_refused;
}

static int fail(int status, const char* why) {
    fprintf(stderr, "pbs_iff: %s\n", why);
    return status;
}

static int authenticate(const struct iff_arguments* arguments) {
    const int64_t until = now_ms() + time_limit_ms;
    union address own;
    union address server;
    const char* const wrong = read_connection(arguments, &own, &server);
    if (wrong != NULL) return fail(exit_refused, wrong);
    const int fd = connect_from_port(&own, &server, until);
    const int error = errno;
    if (!set_privileges(0)) return fail(exit_refused, "the privilege can't be given up");
    if (fd < 0) return fail(exit_no_connection, strerror(error));
    const struct passwd* const entry = getpwuid(getuid());
    if (entry == NULL || !iff_is_user(entry->pw_name)) return fail(exit_no_user, "the user has no name");
    char request[512];
    const size_t size =
        iff_write_authenticate(request, sizeof request, entry->pw_name, ntohs(*port_of(&own)));
    char bytes[iff_longest_answer];
    struct iff_answer answer;
    if (!send_all(fd, request, size, until) ||
        receive_answer(fd, bytes, sizeof bytes, &answer, until) != iff_complete)
        return fail(exit_no_server_answer, "the server gave no answer");
    end_connection(fd, entry->pw_name);
    return tell(&answer);
}

int main(int argc, char** argv) {
    static char* nothing[] = {NULL};
    environ = nothing;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
        if (fcntl(fd, F_GETFD) < 0) return exit_refused;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "--version") == 0)) {
        if (setgid(getgid()) != 0 || setuid(getuid()) != 0) return exit_refused;
        return fputs(
                   strcmp(argv[1], "--help") == 0
                       ? "Usage: pbs_iff [-i address] host port descriptor [own_port]\n"
                         "Vouches to a server for the user of a connection; clients run it. See pbs_iff(8).\n"
                       : "pbspolicy " PBSPOLICY_VERSION "\n",
                   stdout) < 0
                   ? exit_refused
                   : EXIT_SUCCESS;
    }
    struct iff_arguments arguments;
    const char* const wrong = iff_read_arguments(argc, argv, &arguments);
    if (!keep_the_port_only())
        return fail(exit_refused,
                    wrong != NULL ? wrong : "not installed setuid root: it may use no port below 1024");
    if (wrong != NULL) return fail(exit_refused, wrong);
    if (isatty(STDOUT_FILENO)) return fail(exit_refused, "its answer is for a program, not for a terminal");
    signal(SIGPIPE, SIG_IGN);
    return authenticate(&arguments);
}
