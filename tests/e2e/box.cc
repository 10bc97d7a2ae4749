#include "tests/e2e/box.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/e2e/process.h"

namespace pbs::e2e {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kLongest{120};  // time limit for the start or stop of a server

// Returns the folder in which boxes of this OpenPBS are made, and in which box.sh keeps a home for their
// servers. It is below the build folder, because OpenPBS refuses a home under /tmp, and so that builds don't
// share boxes.
fs::path work() {
    std::string name = openpbs_prefix().relative_path();
    std::ranges::replace(name, '/', '-');
    return fs::path(PBS_BUILD_DIR) / "tests" / "openpbs.work" / name;
}

std::vector<pid_t> children_of(pid_t pid) {
    std::vector<pid_t> out;
    std::ifstream file(fmt::format("/proc/{}/task/{}/children", pid, pid));
    for (pid_t child = 0; file >> child;) out.push_back(child);
    return out;
}

fs::path new_folder() {
    fs::create_directories(work());
    std::string name = work() / "box.XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    fs::permissions(name, fs::perms(0755));
    return name;
}

}  // namespace

fs::path openpbs_prefix() {
    const std::vector<std::string> all = openpbs_prefixes();
    return all.empty() ? "" : all.front();
}

std::vector<std::string> openpbs_prefixes() {
    const char* named = std::getenv("PBSPOLICY_OPENPBS_PREFIX");
    std::istringstream words(named != nullptr ? named : "");
    std::vector<std::string> out;
    for (std::string one; std::getline(words, one, ':');)
        if (!one.empty()) out.push_back(one);
    return out;
}

int run_all_tests_on_each_openpbs(int argc, char** argv) {
    const std::vector<std::string> words(argv, argv + argc);
    testing::InitGoogleTest(&argc, argv);
    if (openpbs_prefixes().size() < 2 || GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
    int failed = 0;
    for (const std::string& prefix : openpbs_prefixes()) {
        fmt::print("[ OpenPBS  ] {}\n", prefix);
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            setenv("PBSPOLICY_OPENPBS_PREFIX", prefix.c_str(), 1);
            std::vector<char*> again;
            for (const std::string& word : words) again.push_back(strdup(word.c_str()));
            again.push_back(nullptr);
            execv("/proc/self/exe", again.data());
            _exit(127);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) failed = 1;
    }
    return failed;
}

std::string no_openpbs() {
    const fs::path prefix = openpbs_prefix();
    if (prefix.empty())
        return "PBSPOLICY_OPENPBS_PREFIX is not set: it names an installed OpenPBS, such as /opt/pbs";
    if (!fs::exists(prefix / "sbin/pbs_server.bin"))
        return fmt::format("PBSPOLICY_OPENPBS_PREFIX is {}, where there is no sbin/pbs_server.bin",
                           prefix.string());
    if (geteuid() != 0) return "a box for OpenPBS needs root";
    return {};
}

Box::Box() : folder_(new_folder()) {
    const std::string script = fs::path(PBS_SOURCE_DIR) / "tests/e2e/box.sh";
    const std::string prefix = openpbs_prefix();
    const std::string folder = work();
    holder_ = fork();
    if (holder_ == 0) {
        const int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, 0);
        dup2(nothing, 1);
        setenv("BOX", folder_.c_str(), 1);
        execl(script.c_str(), script.c_str(), prefix.c_str(), folder.c_str(), "sh", "-c",
              "touch /var/spool/pbs/in_box; exec sleep infinity", nullptr);
        _exit(127);
    }
    if (!wait_for([this] { return is_there(); }, kLongest)) ADD_FAILURE() << "no box after two minutes";
}

Box::~Box() {
    if (inner_ > 0) kill(inner_, SIGKILL);
    if (inner_ <= 0 && holder_ > 0) kill(holder_, SIGTERM);
    if (holder_ > 0) waitpid(holder_, nullptr, 0);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

bool Box::is_there() {
    if (!fs::exists(home() / "in_box")) return false;
    // The processes: box.sh (holder_) has started unshare, which has started the box.sh inside the box.
    for (const pid_t child : children_of(holder_))
        for (const pid_t grandchild : children_of(child)) inner_ = grandchild;
    return inner_ > 0;
}

Output Box::run(const std::vector<std::string>& argv, const RunOptions& options) const {
    // nsenter enters all namespaces of the box; env sets the folder and the environment of the program.
    std::vector<std::string> words{"/usr/bin/nsenter", "-t", std::to_string(inner_), "-a", "--"};
    const std::string folder = options.folder.empty() ? "/" : options.folder.string();
    words.insert(words.end(), {"/usr/bin/env", "-i", "-C", folder});
    auto environment = base_environment();
    for (const auto& [name, value] : options.environment) environment[name] = value;
    for (const auto& [name, value] : environment) words.push_back(fmt::format("{}={}", name, value));
    if (options.uid) {
        const passwd* entry = getpwuid(*options.uid);
        if (!entry) throw std::runtime_error(fmt::format("no user has the uid {}", *options.uid));
        words.insert(words.end(), {"/usr/bin/setpriv", fmt::format("--reuid={}", entry->pw_uid),
                                   fmt::format("--regid={}", entry->pw_gid), "--init-groups", "--"});
    }
    words.push_back(resolve(argv.at(0)));
    words.insert(words.end(), argv.begin() + 1, argv.end());
    return e2e::run(words, {.input = options.input, .timeout = options.timeout});
}

Output Box::start_up(const std::string& what) const {
    const std::string prefix = openpbs_prefix();
    std::string script =
        fmt::format("{}/libexec/pbs_init.d {} > /var/spool/pbs/{}.log 2>&1", prefix, what, what);
    if (what == "start")
        script += fmt::format(
            " && for i in $(seq 300); do {}/bin/qstat -B > /dev/null 2>&1 && exit 0; sleep 0.1; done; exit 1",
            prefix);
    return run({"/bin/bash", "-c", script}, {.timeout = kLongest});
}

Output Box::kill_server() const {
    return run({"/bin/bash", "-c",
                "pid=$(cat /var/spool/pbs/server_priv/server.lock); kill -9 $pid; "
                "while kill -0 $pid 2>/dev/null; do sleep 0.05; done"});
}

}  // namespace pbs::e2e
