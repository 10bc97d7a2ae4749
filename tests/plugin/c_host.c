/* A host in plain C. It tests that the header is C, and that the shared object works for such a host. */
#include "server_plugin/plugin/pbs_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pbs_reply {
    int32_t code;
    int objects;
    char value[64];
};

static pbs_str str(const char* text) {
    pbs_str out = {text, strlen(text)};
    return out;
}

static void on_log(void* context, int32_t level, pbs_str object, pbs_str message) {
    (void)context;
    fprintf(stderr, "%d %.*s: %.*s\n", level, (int)object.len, object.ptr, (int)message.len, message.ptr);
}
static void on_error(pbs_reply* reply, int32_t code, pbs_str text) {
    (void)text;
    reply->code = code;
}
static void on_warning(pbs_reply* reply, pbs_str text) {
    (void)reply;
    (void)text;
}
static void on_object(pbs_reply* reply, int32_t type, pbs_str name, const pbs_attr* attrs, size_t count) {
    (void)type;
    (void)name;
    ++reply->objects;
    if (count > 0)
        snprintf(reply->value, sizeof reply->value, "%.*s", (int)attrs[0].value.len, attrs[0].value.ptr);
}
static void on_attr(pbs_reply* reply, const pbs_attr* attr) {
    (void)reply;
    (void)attr;
}

static void check(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void make_home(char* home, size_t size, const char* base) {
    char priv[512];
    snprintf(home, size, "%s/pbs-c-host-XXXXXX", base);
    check(mkdtemp(home) != NULL, "mkdtemp");
    snprintf(priv, sizeof priv, "%s/server_priv", home);
    check(mkdir(priv, 0700) == 0, "mkdir server_priv");
}

static void create_and_stat(pbs_plugin* plugin) {
    const pbs_identity root = {str("root"), str("localhost"), PBS_PRIV_ROOT | PBS_PRIV_MANAGER, 1};
    const pbs_str wanted = str("by_queue");
    pbs_attr attr;
    pbs_manager_request create;
    pbs_status_request ask;
    pbs_reply reply;

    memset(&attr, 0, sizeof attr);
    attr.name = str("by_queue");
    attr.value = str("False");
    memset(&create, 0, sizeof create);
    create.size = sizeof create;
    create.now = 1795428000;
    create.command = PBS_CMD_CREATE;
    create.object_type = PBS_OBJ_POLICY;
    create.object_name = str("from_c");
    create.attrs = &attr;
    create.attr_count = 1;
    create.who = root;
    memset(&reply, 0, sizeof reply);
    check(plugin->manager(plugin->self, &create, &reply) == 0 && reply.code == 0, "create policy");

    memset(&ask, 0, sizeof ask);
    ask.size = sizeof ask;
    ask.now = create.now;
    ask.object_type = PBS_OBJ_POLICY;
    ask.object_name = str("from_c");
    ask.wanted = &wanted;
    ask.wanted_count = 1;
    ask.who = root;
    memset(&reply, 0, sizeof reply);
    check(plugin->status(plugin->self, &ask, &reply) == 0 && reply.objects == 1, "stat policy");
    check(strcmp(reply.value, "False") == 0, "by_queue is False");
}

int main(int argc, char** argv) {
    char home[256];
    char error[256] = "";
    void* library;
    pbs_policy_plugin_init_fn init;
    pbs_host host;
    pbs_plugin plugin;

    check(argc == 3, "usage: c_host PLUGIN FOLDER");
    make_home(home, sizeof home, argv[2]);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    check(library != NULL, "dlopen");
    *(void**)&init = dlsym(library, PBS_PLUGIN_ENTRY);
    check(init != NULL, "dlsym");

    memset(&host, 0, sizeof host);
    memset(&plugin, 0, sizeof plugin);
    host.size = sizeof host;
    host.abi_version = PBS_PLUGIN_ABI_VERSION;
    host.home = str(home);
    host.server_name = str("server1");
    host.time_zone = str("UTC");
    host.now = 1795428000;
    host.log = on_log;
    host.reply_error = on_error;
    host.reply_warning = on_warning;
    host.reply_object = on_object;
    host.reply_attr = on_attr;
    plugin.size = sizeof plugin;
    check(init(&host, &plugin, error, sizeof error) == 0, "init");
    check(plugin.start(plugin.self, host.now, error, sizeof error) == 0, "start");
    create_and_stat(&plugin);
    plugin.stop(plugin.self, host.now);
    /* Leave the object loaded, so that statics of its libraries don't count as leaks. The tests in C++ unload
       it. */
    return 0;
}
