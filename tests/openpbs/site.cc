#include "tests/openpbs/site.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>

namespace pbs::e2e {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kLongest{120};  // for one script

fs::path prefix_named() {
    const char* named = std::getenv("PBSPOLICY_OPENPBS_PREFIX");
    return named != nullptr ? named : "";
}

// Beside the build, where no box of another build is; OpenPBS refuses a home under /tmp.
fs::path work() {
    return fs::path(PBS_BUILD_DIR) / "tests" / "openpbs.work";
}

std::vector<pid_t> children_of(pid_t pid) {
    std::vector<pid_t> out;
    std::ifstream file(fmt::format("/proc/{}/task/{}/children", pid, pid));
    for (pid_t child = 0; file >> child;) out.push_back(child);
    return out;
}

}  // namespace

std::string no_openpbs() {
    const fs::path prefix = prefix_named();
    if (prefix.empty())
        return "PBSPOLICY_OPENPBS_PREFIX is not set: it names an installed OpenPBS, such as /opt/pbs";
    if (!fs::exists(prefix / "sbin/pbs_server.bin"))
        return fmt::format("PBSPOLICY_OPENPBS_PREFIX is {}, where there is no sbin/pbs_server.bin",
                           prefix.string());
    if (geteuid() != 0) return "a box for OpenPBS needs root";
    return {};
}

Site::Site() : prefix_(prefix_named()) {
    const std::string script = fs::path(PBS_SOURCE_DIR) / "tests/openpbs/box.sh";
    const std::string folder = work();
    holder_ = fork();
    if (holder_ == 0) {
        const int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, 0);
        dup2(nothing, 1);
        execl(script.c_str(), script.c_str(), prefix_.c_str(), folder.c_str(), "sh", "-c",
              "touch /var/spool/pbs/in_box; exec sleep infinity", nullptr);
        _exit(127);
    }
    // box.sh, unshare, box.sh in the box.
    const auto find = [&] {
        for (const pid_t child : children_of(holder_))
            for (const pid_t grandchild : children_of(child)) {
                inner_ = grandchild;
                if (in_box("test -e /var/spool/pbs/in_box && test \"$(hostname)\" = box", "root").exit == 0)
                    return true;
            }
        return false;
    };
    if (!wait_for(find, std::chrono::seconds(120))) ADD_FAILURE() << "no box after two minutes";
}

Site::~Site() {
    if (inner_ > 0) kill(inner_, SIGKILL);
    if (inner_ <= 0 && holder_ > 0) kill(holder_, SIGTERM);
    if (holder_ > 0) waitpid(holder_, nullptr, 0);
}

Output Site::in_box(const std::string& script, const std::string& user) const {
    RunOptions options;
    options.timeout = kLongest;
    const std::string with = fmt::format(
        "export stock={0}/bin ours={1}/bin PATH={0}/bin:{0}/sbin:/usr/sbin:/usr/bin:/sbin:/bin\n{2}",
        prefix_.string(), PBS_BUILD_DIR, script);
    return run({"/usr/bin/nsenter", "-t", std::to_string(inner_), "-a", "--", "/bin/su", user, "-s",
                "/bin/bash", "-c", with},
               options);
}

Output Site::sh(const std::string& script, const std::string& user) const {
    return in_box(script, user);
}

std::string Site::ok(const std::string& script, const std::string& user) const {
    const Output output = sh(script, user);
    EXPECT_EQ(output.exit, 0) << script << " as " << user << ": " << output;
    return output.out;
}

std::string Site::refused(const std::string& script, const std::string& user) const {
    const Output output = sh(script, user);
    EXPECT_NE(output.exit, 0) << script << " as " << user << " was not refused: " << output;
    return output.err;
}

Output Site::qmgr(const std::string& directive, const std::string& user) const {
    return sh(fmt::format("$ours/qmgr <<'END'\n{}\nEND", directive), user);
}
Output Site::stock_qmgr(const std::string& directive, const std::string& user) const {
    return sh(fmt::format("$stock/qmgr <<'END'\n{}\nEND", directive), user);
}

void Site::install(const std::string& options) const {
    ok("$ours/pbs_policy_install --openpbs " + options);
}

void Site::start() const {
    // The box's own command for it is beside the others there.
    ok("$(dirname $(readlink -f $stock))/libexec/pbs_init.d start > /var/spool/pbs/start.log 2>&1 && "
       "for i in $(seq 300); do $stock/qstat -B > /dev/null 2>&1 && exit 0; sleep 0.1; done; exit 1");
}

int number_of(const std::string& text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

void Site::start_with_plugin() const {
    const std::string told = "policy objects are available";
    const auto count = [&] {
        return number_of(
            ok("cat /var/spool/pbs/server_logs/* /var/spool/pbs/server_priv/policyd.log "
               "2>/dev/null | grep -c '" +
               told + "' || true"));
    };
    const int before = count();
    start();
    EXPECT_TRUE(wait_for([&] { return count() > before; }, std::chrono::seconds(30))) << log();
}

void Site::stop() const {
    ok("$(dirname $(readlink -f $stock))/libexec/pbs_init.d stop > /var/spool/pbs/stop.log 2>&1");
}

bool Site::wait_for_node() const {
    return wait_for([&] { return sh("$stock/pbsnodes box | grep -q 'state = free'").exit == 0; },
                    std::chrono::seconds(30));
}

void Site::kill_server() const {
    ok("kill -9 $(cat /var/spool/pbs/server_priv/server.lock); "
       "while kill -0 $(cat /var/spool/pbs/server_priv/server.lock) 2>/dev/null; do sleep 0.05; done");
}

std::string Site::log() const {
    return sh("cat /var/spool/pbs/server_logs/* 2>/dev/null").out;
}

bool Site::wait_for_log(const std::string& text, int times) const {
    return wait_for(
        [&] {
            const std::string all = log();
            int found = 0;
            for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1))
                ++found;
            return found >= times;
        },
        std::chrono::seconds(20));
}

void PolicySite::SetUp() {
    OpenpbsTest::SetUp();
    if (IsSkipped()) return;
    site.emplace();
    site->install(options());
    site->start_with_plugin();
}

}  // namespace pbs::e2e
