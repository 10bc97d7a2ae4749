/*
 * Asks a PBS server for its scheduling policy objects, one kind after the other: first every object with all
 * its attributes, then chosen attributes only, then a name that doesn't exist, which gives NULL and 15212.
 *
 *     cc stat_objects.c $(pkg-config --cflags --libs pbspolicy) -o stat_objects
 *     ./stat_objects [server]
 *
 * Without a server's name, the default one is asked: the server of PBS_HOME, if that is set.
 */
#include <pbs_error.h>
#include <pbs_ifl.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct batch_status* stat_function(int, const char*, struct attrl*, const char*);

/* A kind of object, the function for its status, and two attributes to ask for. */
struct kind {
    const char* name;
    stat_function* stat;
    char* chosen[2];
};

static const struct kind kKinds[] = {
    {"policy", pbs_statpolicy, {"by_queue", "comment"}},
    {"time_window", pbs_stattimewindow, {"rrule", "start_time"}},
    {"fs_group", pbs_statfsgroup, {"decay_time", "decay_factor"}},
    {"quota", pbs_statquota, {"enabled", "rule"}},
};

static void print_objects(const struct batch_status* objects) {
    for (const struct batch_status* object = objects; object; object = object->next) {
        printf("  %s\n", object->name);
        for (const struct attrl* attribute = object->attribs; attribute; attribute = attribute->next) {
            if (attribute->resource) {
                printf("    %s.%s = %s\n", attribute->name, attribute->resource, attribute->value);
            } else {
                printf("    %s = %s\n", attribute->name, attribute->value);
            }
        }
    }
}

/* Prints the objects of a status call. Returns 0, or 1 after an error. */
static int show(const char* title, const struct kind* kind, int connection, const char* name,
                struct attrl* wanted) {
    printf("%s: %s\n", kind->name, title);
    struct batch_status* objects = kind->stat(connection, name, wanted, NULL);
    if (!objects && pbs_errno != PBSE_NONE) {
        const char* text = pbs_geterrmsg(connection);
        fprintf(stderr, "%s: error %d: %s\n", kind->name, pbs_errno, text ? text : "(no text)");
        return 1;
    }
    print_objects(objects);
    pbs_statfree(objects);
    return 0;
}

static int show_kind(const struct kind* kind, int connection) {
    int failed = show("all objects, all attributes", kind, connection, NULL, NULL);

    struct attrl second = {NULL, kind->chosen[1], NULL, NULL, SET};
    struct attrl first = {&second, kind->chosen[0], NULL, NULL, SET};
    failed |= show("all objects, two attributes", kind, connection, NULL, &first);

    printf("%s: one that doesn't exist\n", kind->name);
    struct batch_status* none = kind->stat(connection, "no_such_object", NULL, NULL);
    printf("  returned %s, pbs_errno %d\n", none ? "a list" : "NULL", pbs_errno);
    if (none || pbs_errno != PBSE_POLICY_NOT_FOUND) failed = 1;
    pbs_statfree(none);
    return failed;
}

int main(int argc, char** argv) {
    const int connection = pbs_connect(argc > 1 ? argv[1] : NULL);
    if (connection < 0) {
        const char* text = pbs_geterrmsg(-1);
        fprintf(stderr, "stat_objects: cannot connect: error %d: %s\n", pbs_errno, text ? text : "(no text)");
        return EXIT_FAILURE;
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof kKinds / sizeof kKinds[0]; ++i) failed |= show_kind(&kKinds[i], connection);
    pbs_disconnect(connection);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
