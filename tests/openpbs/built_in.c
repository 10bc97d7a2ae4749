// A program that stands in for the pbs_server.bin of an earlier OpenPBS. It calls libc's epoll_pwait(). It
// has a decode_DIS_ReqHdr() of its own, as if libpbs were linked into it statically.
#include <signal.h>
#include <sys/epoll.h>

__attribute__((visibility("default"))) int decode_DIS_ReqHdr(int sock, void* request, int* type,
                                                             int* version);
int decode_DIS_ReqHdr(int sock, void* request, int* type, int* version) {
    *type = *version = sock;
    return request == 0;
}

int main(int argc, char** argv) {
    struct epoll_event event;
    sigset_t none;
    int type = 0, version = 0;
    sigemptyset(&none);
    return decode_DIS_ReqHdr(argc, argv, &type, &version) + epoll_pwait(-1, &event, 1, 0, &none);
}
