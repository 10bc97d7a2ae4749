/* A program of a site, compiled with the libpbs of an installed OpenPBS: submits a held job, shows,
   selects, alters and deletes it, and shows the server, queues, nodes and schedulers. */
#include <pbs_error.h>
#include <pbs_ifl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int connection;

static void check(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "%s: failed, pbs_errno %d: %s\n", what, pbs_errno,
            connection >= 0 && pbs_geterrmsg(connection) ? pbs_geterrmsg(connection) : "");
    exit(1);
}

static const char* value_of(struct batch_status* object, const char* name, const char* resource) {
    struct attrl* attribute;
    for (attribute = object ? object->attribs : NULL; attribute; attribute = attribute->next) {
        if (strcmp(attribute->name, name) != 0) continue;
        if (!resource || (attribute->resource && strcmp(attribute->resource, resource) == 0))
            return attribute->value;
    }
    return "(none)";
}

static void stat_all(void) {
    struct batch_status* found;
    found = pbs_statserver(connection, NULL, NULL);
    check(found && strcmp(value_of(found, "default_queue", NULL), "submit") == 0, "pbs_statserver");
    pbs_statfree(found);
    found = pbs_statque(connection, "batch", NULL, NULL);
    check(found && strcmp(value_of(found, "resources_max", "ncpus"), "8") == 0, "pbs_statque");
    pbs_statfree(found);
    found = pbs_statvnode(connection, "", NULL, NULL);
    check(found && strcmp(found->name, "n1") == 0, "pbs_statvnode");
    pbs_statfree(found);
    found = pbs_statsched(connection, NULL, NULL);
    check(found && strcmp(found->name, "default") == 0, "pbs_statsched");
    pbs_statfree(found);
    found = pbs_statque(connection, "nowhere", NULL, NULL);
    check(!found && pbs_errno == PBSE_UNKQUE, "pbs_statque of an unknown queue");
}

static void submit_and_delete(char* script) {
    struct attropl walltime = {NULL, "Resource_List", "walltime", "00:07:00", SET};
    struct attropl hold = {&walltime, "Hold_Types", NULL, "u", SET};
    struct attropl name = {&hold, "Job_Name", NULL, "linked", SET};
    struct attropl chosen = {NULL, "Job_Name", NULL, "linked", EQ};
    struct attrl renamed = {NULL, "Job_Name", NULL, "altered", SET};
    struct batch_status* found;
    char** ids;
    char* id = pbs_submit(connection, &name, script, "submit", NULL);
    check(id != NULL, "pbs_submit");
    ids = pbs_selectjob(connection, &chosen, NULL);
    check(ids && ids[0] && strcmp(ids[0], id) == 0, "pbs_selectjob");
    free(ids);
    check(pbs_alterjob(connection, id, &renamed, NULL) == 0, "pbs_alterjob");
    found = pbs_statjob(connection, id, NULL, NULL);
    check(found && strcmp(value_of(found, "Job_Name", NULL), "altered") == 0, "pbs_statjob");
    check(strcmp(value_of(found, "Resource_List", "walltime"), "00:07:00") == 0, "walltime");
    check(strcmp(value_of(found, "job_state", NULL), "H") == 0, "job_state");
    pbs_statfree(found);
    check(pbs_deljob(connection, id, NULL) == 0, "pbs_deljob");
    check(pbs_deljob(connection, "99999", NULL) == PBSE_UNKJOBID, "pbs_deljob of an unknown job");
    free(id);
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    connection = pbs_connect(NULL);
    check(connection >= 0, "pbs_connect");
    stat_all();
    submit_and_delete(argv[1]);
    check(pbs_disconnect(connection) == 0, "pbs_disconnect");
    puts("linked program: all well");
    return 0;
}
