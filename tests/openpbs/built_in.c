// Stands in for a pbs_server.bin of an earlier release. It waits by libc's epoll_pwait(), but reads requests
// by functions of its own, as if libpbs were linked into it.
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
