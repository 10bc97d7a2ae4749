/* A client in plain C. api_test.cc runs it with a fake server, and checks its output. */
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_list(const char* title, const struct batch_status* list) {
    printf("%s: errno %d\n", title, pbs_errno);
    for (; list; list = list->next) {
        printf("  %s\n", list->name);
        for (const struct attrl* a = list->attribs; a; a = a->next) {
            printf("    %s%s%s=%s\n", a->name, a->resource ? "." : "", a->resource ? a->resource : "",
                   a->value);
        }
    }
}

int main(void) {
    int connection = pbs_connect(NULL);
    if (connection < 0) {
        printf("connect: errno %d: %s\n", pbs_errno, pbs_geterrmsg(-1));
        return 1;
    }
    struct attrl comment = {NULL, "comment", NULL, NULL, SET};
    struct batch_status* list = pbs_statpolicy(connection, NULL, NULL, NULL);
    print_list("all policies", list);
    pbs_statfree(list);
    list = pbs_statpolicy(connection, "p1", &comment, NULL);
    print_list("comment of p1", list);
    pbs_statfree(list);
    list = pbs_stattimewindow(connection, "nothing", NULL, "mine");
    printf("unknown: %s, errno %d, %s\n", list ? "a list" : "NULL", pbs_errno, pbs_geterrmsg(connection));
    list = pbs_statfsgroup(connection, "nothing", NULL, NULL);
    printf("unknown: %s, errno %d, %s\n", list ? "a list" : "NULL", pbs_errno, pbs_geterrmsg(connection));
    return pbs_disconnect(connection);
}
