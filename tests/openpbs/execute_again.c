// Stands in for a pbs_server.bin that executes itself again with main()'s environment, as the secondary of a
// failover pair does when it becomes idle. Prints the preloaded object's variables, before and after the
// second execution: as they are in the environment of the start, in the present environment, and in the
// environment of a program that it starts. Starts a pbs_sched, as such a server does when it becomes active.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show(const char* when) {
    char environment[65536];
    FILE* file = fopen("/proc/self/environ", "r");
    const size_t size = file != NULL ? fread(environment, 1, sizeof environment - 1, file) : 0;
    const char* entry = environment;
    environment[size] = '\0';
    for (; entry < environment + size; entry += strlen(entry) + 1)
        if (strncmp(entry, "LD_PRELOAD=", 11) == 0 || strncmp(entry, "PBS_POLICY_ATTACHMENT=", 22) == 0)
            printf("%s: started with %s\n", when, entry);
    printf("%s: has LD_PRELOAD=%s\n", when, getenv("LD_PRELOAD") != NULL ? getenv("LD_PRELOAD") : "");
    fflush(stdout);
    if (file != NULL) fclose(file);
}

int main(int argc, char** argv, char** environment) {
    char* again[] = {argv[0], "again", NULL};
    if (argc > 1) {
        show("again");
        return system("echo child: has LD_PRELOAD=$LD_PRELOAD") != 0 ||
               system("echo child: /sbin/pbs_sched &") != 0;
    }
    show("first");
    execve(argv[0], again, environment);
    return 1;
}
