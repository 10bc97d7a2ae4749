/*
 * pbs_policy_preload.so. LD_PRELOAD brings it into pbs_server.bin and the processes that start it. In any
 * other process it does nothing. In pbs_server.bin it removes itself from the environment, so that the
 * server's children (hooks, the database, a scheduler) don't have it. It loads the module when the server
 * first waits for requests of clients: by then the server is a daemon, has its own descriptors, and its
 * log is open. If the module can't be loaded, a line in the log says why, and the server goes on without
 * it; if the plugin was to schedule, pbs_sched schedules instead.
 *
 * With PBS_POLICY_PROBE in its environment pbs_server.bin only prints whether all this would succeed.
 */
#include "server_plugin/openpbs/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server_plugin/openpbs/imports.h"
#include "server_plugin/openpbs/loadable.h"

#define EXPORTED __attribute__((visibility("default")))
#define PRELOAD_VARIABLE "LD_PRELOAD"
#define ATTACHMENT_VARIABLE "PBS_POLICY_ATTACHMENT"
#define PROBE_VARIABLE "PBS_POLICY_PROBE"
#define PLUGIN "pbs_policy.so"

static pbs_preload_calls real;
static pbs_preload_calls calls; /* the calls in use: `real` until the module is attached */
static int (*real_execve)(const char*, char* const[], char* const[]);
static int (*real_system)(const char*);

static int is_server; /* this process is pbs_server.bin */
static int tried;     /* attach() has been called, which loads the module once */
static pthread_t main_thread;
static char program[PATH_MAX]; /* the path of this process's program */
static pid_t own_sched;        /* the pbs_sched that this process has started; 0: none */
static char own_path[PATH_MAX];
static char folder[PATH_MAX];
static char attachment[16] = "inside";

/* ---- The server's log. */

/* Gets the value of a setting: from the environment, or else from pbs.conf; `otherwise` if neither has it. */
static void setting(const char* name, const char* otherwise, char* value, size_t size) {
    const char* set = getenv(name);
    const char* conf = getenv("PBS_CONF_FILE");
    char line[PATH_MAX + 100];
    const size_t length = strlen(name);
    FILE* file;
    snprintf(value, size, "%s", set != NULL && *set != '\0' ? set : otherwise);
    if (set != NULL && *set != '\0') return;
    file = fopen(conf != NULL && *conf != '\0' ? conf : "/etc/pbs.conf", "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        char* end = line + strlen(line);
        if (strncmp(line, name, length) != 0 || line[length] != '=') continue;
        while (end > line && strchr(" \t\r\n\"'", end[-1]) != NULL) *--end = '\0';
        snprintf(value, size, "%s", line + length + 1 + strspn(line + length + 1, "\"' \t"));
    }
    fclose(file);
}

/* Appends a line to the server's log, in the server's format: date;event;Server@host;class;object;text. */
static void log_line(const char* text) {
    char home[PATH_MAX], path[PATH_MAX + 64], host[256] = "", line[2048];
    struct tm now;
    const time_t clock = time(NULL);
    int fd, length;
    setting("PBS_HOME", "/var/spool/pbs", home, sizeof home);
    if (localtime_r(&clock, &now) == NULL) return;
    snprintf(path, sizeof path, "%s/server_logs/%04d%02d%02d", home, now.tm_year + 1900, now.tm_mon + 1,
             now.tm_mday);
    if (gethostname(host, sizeof host - 1) != 0) return;
    host[strcspn(host, ".")] = '\0';
    length = snprintf(line, sizeof line, "%02d/%02d/%04d %02d:%02d:%02d;0002;Server@%s;Svr;pbs_policy;%s\n",
                      now.tm_mon + 1, now.tm_mday, now.tm_year + 1900, now.tm_hour, now.tm_min, now.tm_sec,
                      host, text);
    if (length < 0) return;
    if ((size_t)length >= sizeof line) {
        length = sizeof line - 1;
        line[length - 1] = '\n';
    }
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return;
    if (write(fd, line, (size_t)length) < 0) { /* a failure can't be reported anywhere */
    }
    close(fd);
}

/* ---- Loading the module, in pbs_server.bin alone. */

/* Copies the list of LD_PRELOAD without this object. `rest` is empty if the list has no other object. */
static void without_self(const char* list, char* rest, size_t size) {
    size_t used = 0;
    rest[0] = '\0';
    while (*list != '\0') {
        const size_t length = strcspn(list, ": ");
        const int ours = length == strlen(own_path) && strncmp(list, own_path, length) == 0;
        if (length != 0 && !ours && used + length + 2 < size)
            used +=
                (size_t)snprintf(rest + used, size - used, "%s%.*s", used != 0 ? ":" : "", (int)length, list);
        list += length;
        list += strspn(list, ": ");
    }
}

static void leave_environment(void) {
    char rest[PATH_MAX * 2];
    const char* list = getenv(PRELOAD_VARIABLE);
    const char* how = getenv(ATTACHMENT_VARIABLE);
    if (how != NULL) snprintf(attachment, sizeof attachment, "%s", how);
    unsetenv(ATTACHMENT_VARIABLE);
    if (list == NULL) return;
    without_self(list, rest, sizeof rest);
    if (rest[0] == '\0') {
        unsetenv(PRELOAD_VARIABLE);
    } else {
        setenv(PRELOAD_VARIABLE, rest, 1);
    }
}

static void find_real(void) {
    *(void**)&real.decode_header = dlsym(RTLD_NEXT, "decode_DIS_ReqHdr");
    *(void**)&real.decode_manage = dlsym(RTLD_NEXT, "decode_DIS_Manage");
    *(void**)&real.decode_status = dlsym(RTLD_NEXT, "decode_DIS_Status");
    *(void**)&real.decode_run = dlsym(RTLD_NEXT, "decode_DIS_Run");
    *(void**)&real.decode_extend = dlsym(RTLD_NEXT, "decode_DIS_ReqExtend");
    *(void**)&real.encode_reply = dlsym(RTLD_NEXT, "encode_DIS_reply");
    *(void**)&real.wait = dlsym(RTLD_NEXT, "epoll_pwait");
    *(void**)&real_execve = dlsym(RTLD_NEXT, "execve");
    *(void**)&real_system = dlsym(RTLD_NEXT, "system");
    calls = real;
}

static void step_aside(const char* why) {
    char line[1200];
    snprintf(line, sizeof line, "policy objects are not available, the server goes on without: %.1000s", why);
    log_line(line);
}

/* Prints "ok" if pbs_server.bin could have the plugin, or the reason why not. In the second case the exit
 * status is 2 if attach() would never be called, and 1 if attach() would fail. */
static void probe(void) {
    static const char* const kObjects[] = {PBS_POLICY_MODULE, PLUGIN};
    char path[PATH_MAX + 64], why[1024] = "ok";
    size_t i;
    int bad = pbs_calls_can_be_caught(why, sizeof why);
    const int never = bad == PBS_NO_WAIT;
    for (i = 0; bad == 0 && i < sizeof kObjects / sizeof *kObjects; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder, kObjects[i]);
        bad = pbs_loadable(path, why, sizeof why);
    }
    printf("%s\n", bad != 0 ? why : "ok");
    fflush(stdout);
    _exit(never ? 2 : bad != 0);
}

__attribute__((constructor)) static void begin(void) {
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    const char* name;
    char why[1024];
    Dl_info self;
    find_real();
    if (length < 0) return;
    program[length] = '\0';
    name = strrchr(program, '/');
    if (name == NULL || strcmp(name + 1, "pbs_server.bin") != 0) return;
    if (dladdr((void*)&log_line, &self) == 0 || self.dli_fname == NULL) return;
    snprintf(own_path, sizeof own_path, "%s", self.dli_fname);
    snprintf(folder, sizeof folder, "%s", own_path);
    if (strrchr(folder, '/') != NULL) *strrchr(folder, '/') = '\0';
    if (getenv(PROBE_VARIABLE) != NULL) probe();
    leave_environment();
    main_thread = pthread_self();
    is_server = 1;
    /* Log the reason here, since attach() will never be called. */
    if (pbs_calls_can_be_caught(why, sizeof why) == PBS_NO_WAIT) step_aside(why);
}

/* Makes all calls go to libpbs itself. It is called in each child that the server forks. */
static void in_child(void) {
    calls = real;
    is_server = 0;
}

/* Starts pbs_sched as a child that ends with this server, because the server's start-up script neither starts
 * nor ends it. If another pbs_sched runs already, that one holds the lock, and the child ends at once. */
static void start_pbs_sched(void) {
    const pid_t server = getpid();
    char sched[PATH_MAX + 16];
    sigset_t none;
    int fd;
    snprintf(sched, sizeof sched, "%s", program);
    snprintf(strrchr(sched, '/'), sizeof "/pbs_sched", "/pbs_sched");
    own_sched = fork();
    if (own_sched != 0) {
        log_line(own_sched > 0 ? "pbs_sched is started, as the plugin can't schedule"
                               : "pbs_sched can't be started, and nobody schedules: fork failed");
        return;
    }
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != server) _exit(1);
    for (fd = 3; fd < 1024; ++fd) close(fd);
    execl(sched, sched, "-N", (char*)NULL); /* -N: in the foreground */
    _exit(127);
}

static void give_up(const char* why) {
    char schedules[8];
    step_aside(why);
    setting("PBS_POLICY_SCHEDULER", "", schedules, sizeof schedules);
    if (strcmp(schedules, "1") == 0) start_pbs_sched();
}

static void attach(void) {
    char path[PATH_MAX + sizeof PBS_POLICY_MODULE + 1], error[1024] = "no reason given";
    pbs_preload preload = {sizeof preload, real, folder, attachment, log_line};
    pbs_preload_calls given = real;
    pbs_policy_openpbs_attach_fn entry;
    void* module;
    snprintf(path, sizeof path, "%s/%s", folder, PBS_POLICY_MODULE);
    if (pbs_calls_can_be_caught(error, sizeof error) != 0 || pbs_loadable(path, error, sizeof error) != 0) {
        give_up(error);
        return;
    }
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == NULL) {
        const char* why = dlerror();
        give_up(why != NULL ? why : path);
        return;
    }
    *(void**)&entry = dlsym(module, PBS_POLICY_MODULE_ENTRY);
    if (entry == NULL) {
        give_up("the module has no entry " PBS_POLICY_MODULE_ENTRY);
        return;
    }
    if (pthread_atfork(NULL, NULL, in_child) != 0) {
        give_up("pthread_atfork failed");
        return;
    }
    if (entry(&preload, &given, error, sizeof error) != 0) {
        give_up(error);
        return;
    }
    calls = given;
}

/* Returns whether this process listens for clients. The secondary server of a failover pair also waits by
 * epoll_pwait() for its primary, but doesn't listen then. Meanwhile the plugin's data in the common folder
 * belong to the primary. */
static int listens(void) {
    int fd;
    for (fd = 0; fd < 1024; ++fd) {
        int listening = 0, domain = 0;
        socklen_t size = sizeof listening;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || !listening) continue;
        size = sizeof domain;
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX) return 1;
    }
    return 0;
}

/* ---- The replaced calls. epoll_pwait() is called by threads of libtpp, too. */

static int in_main_thread(void) {
    return is_server && pthread_equal(pthread_self(), main_thread);
}

EXPORTED int decode_DIS_ReqHdr(int sock, void* request, int* type, int* version) {
    return calls.decode_header(sock, request, type, version);
}
EXPORTED int decode_DIS_Manage(int sock, void* request) {
    return calls.decode_manage(sock, request);
}
EXPORTED int decode_DIS_Status(int sock, void* request) {
    return calls.decode_status(sock, request);
}
EXPORTED int decode_DIS_Run(int sock, void* request) {
    return calls.decode_run(sock, request);
}
EXPORTED int decode_DIS_ReqExtend(int sock, void* request) {
    return calls.decode_extend(sock, request);
}
EXPORTED int encode_DIS_reply(int sock, void* reply) {
    return calls.encode_reply(sock, reply);
}
EXPORTED int epoll_pwait(int epoll, struct epoll_event* events, int most, int timeout,
                         const sigset_t* signals) {
    if (real.wait == NULL) find_real(); /* another constructor may wait before this object's runs */
    if (!in_main_thread()) return real.wait(epoll, events, most, timeout, signals);
    if (!tried && listens()) {
        tried = 1;
        attach();
    }
    return calls.wait(epoll, events, most, timeout, signals);
}

/* If the plugin schedules, drops the call by which a secondary server starts pbs_sched when it becomes
 * active. The server makes this call even if pbs.conf says that pbs_sched isn't started, and pbs_sched would
 * register before the plugin. */
EXPORTED int system(const char* command) {
    static const char kEnd[] = "/sbin/pbs_sched &";
    char schedules[8] = "";
    const size_t length = is_server && command != NULL ? strlen(command) : 0;
    if (real_system == NULL) {
        errno = ENOSYS;
        return -1;
    }
    if (length >= sizeof kEnd && strcmp(command + length - (sizeof kEnd - 1), kEnd) == 0)
        setting("PBS_POLICY_SCHEDULER", "", schedules, sizeof schedules);
    if (strcmp(schedules, "1") != 0) return real_system(command);
    log_line("pbs_sched is not started: the plugin schedules");
    return 0;
}

/* When a secondary server becomes idle, it executes itself again. For that, puts the variables back into the
 * environment that were removed from it at the start. */
EXPORTED int execve(const char* path, char* const argv[], char* const envp[]) {
    char preload[PATH_MAX * 4], how[64], target[PATH_MAX];
    char** with;
    char** to;
    size_t count = 0, i;
    int result;
    if (real_execve == NULL) {
        errno = ENOSYS;
        return -1;
    }
    if (!is_server || envp == NULL || realpath(path, target) == NULL || strcmp(target, program) != 0)
        return real_execve(path, argv, envp);
    while (envp[count] != NULL) ++count;
    to = with = calloc(count + 3, sizeof *with);
    if (with == NULL) return real_execve(path, argv, envp);
    snprintf(preload, sizeof preload, PRELOAD_VARIABLE "=%s", own_path);
    snprintf(how, sizeof how, ATTACHMENT_VARIABLE "=%s", attachment);
    for (i = 0; i < count; ++i) {
        if (strncmp(envp[i], PRELOAD_VARIABLE "=", sizeof PRELOAD_VARIABLE) == 0) {
            char rest[PATH_MAX * 2];
            without_self(envp[i] + sizeof PRELOAD_VARIABLE, rest, sizeof rest);
            if (rest[0] != '\0') snprintf(preload, sizeof preload, PRELOAD_VARIABLE "=%s:%s", own_path, rest);
        } else if (strncmp(envp[i], ATTACHMENT_VARIABLE "=", sizeof ATTACHMENT_VARIABLE) != 0) {
            *to++ = envp[i];
        }
    }
    *to++ = preload;
    *to = how;
    /* End the pbs_sched that this server has started: from here on the other server of the failover pair is
     * active, and its plugin or pbs_sched schedules. */
    if (own_sched > 0 && waitpid(own_sched, NULL, WNOHANG) == 0) kill(own_sched, SIGTERM);
    result = real_execve(path, argv, with);
    free(with);
    return result;
}
