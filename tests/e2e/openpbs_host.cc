// OpenPBS's server in a box as the host of tests, with the plugin as its scheduler. Like the bundled server,
// it starts without queues, vnodes and managers.
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <utility>

#include "tests/e2e/box.h"
#include "tests/e2e/host.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::seconds kLong{30};

class OpenpbsHost : public Host {
  public:
    explicit OpenpbsHost(Server::Options options) : Host(std::move(options)) {}

    const fs::path& home() const override {
        box();
        return home_;
    }
    const fs::path& work() const override {
        box();
        return work_;
    }
    ::testing::AssertionResult start() override;
    ::testing::AssertionResult stop() override;
    void kill9() override;
    bool running() override { return running_; }
    // end() does nothing: the server ends when the box is removed.
    void end() override {}
    Output command(const std::vector<std::string>& argv, RunOptions options) override {
        return box().run(argv, options);
    }
    void configured(const std::vector<std::string>& directives) override;
    std::string output() const override { return {}; }

  private:
    // Returns the box. It is made at the first call, so that a skipped test makes none.
    const Box& box() const;
    int times_loaded() const;
    ::testing::AssertionResult remove_what_is_installed();

    mutable std::optional<Box> box_;
    mutable fs::path home_;
    mutable fs::path work_;
    std::vector<std::string> vnodes_;
    bool new_ = true;
    bool running_ = false;
};

const Box& OpenpbsHost::box() const {
    if (box_) return *box_;
    box_.emplace();
    home_ = box_->home();
    // Remove OpenPBS's own scheduler files. Otherwise the plugin would make policy objects from them at its
    // first start.
    for (const char* file : {"sched_config", "resource_group", "holidays", "dedicated_time"})
        fs::remove(home_ / "sched_priv" / file);
    work_ = box_->folder() / "work";
    fs::create_directory(work_);
    fs::permissions(work_, fs::perms(0777));
    return *box_;
}

int OpenpbsHost::times_loaded() const {
    const Output counted =
        box().run({"/bin/sh", "-c",
                   "cat /var/spool/pbs/server_logs/* /var/spool/pbs/server_priv/policyd.log 2>/dev/null | "
                   "grep -c 'policy objects are available'"});
    return std::atoi(counted.out.c_str());
}

::testing::AssertionResult OpenpbsHost::start() {
    if (!options_.arguments.empty() || !options_.program.empty() || !options_.environment.empty())
        throw missing("the bundled server");
    if (new_) {
        std::vector<std::string> install{"pbs_policy_install", "--openpbs", "--scheduler"};
        if (const char* how = std::getenv("PBS_E2E_ATTACHMENT"); how != nullptr) install.emplace_back(how);
        const Output installed = box().run(install);
        if (installed.exit != 0) return ::testing::AssertionFailure() << installed;
    }
    const int before = times_loaded();
    const Output started = box().start_up("start");
    if (started.exit != 0)
        return ::testing::AssertionFailure()
               << "OpenPBS doesn't start: " << box().run({"/bin/cat", "/var/spool/pbs/start.log"});
    if (!wait_for([&] { return times_loaded() > before; }, kLong))
        return ::testing::AssertionFailure() << "the plugin doesn't answer";
    running_ = true;
    return std::exchange(new_, false) ? remove_what_is_installed() : ::testing::AssertionSuccess();
}

::testing::AssertionResult OpenpbsHost::remove_what_is_installed() {
    for (const char* directive :
         {"unset server default_queue", "delete queue workq", "delete node box", "unset server managers",
          "unset server operators", "unset server acl_roots"}) {
        const Output done = command({"qmgr", "-c", directive}, {});
        if (done.exit != 0) return ::testing::AssertionFailure() << directive << ": " << done;
    }
    return ::testing::AssertionSuccess();
}

::testing::AssertionResult OpenpbsHost::stop() {
    running_ = false;
    const Output stopped = box().start_up("stop");
    if (stopped.exit != 0) return ::testing::AssertionFailure() << stopped;
    return ::testing::AssertionSuccess();
}

// Before the kill, waits until the mom has confirmed the start of each job. OpenPBS 23.06.06 queues a job
// again if its start isn't confirmed yet (substate 41) when the server is killed; later versions don't.
void OpenpbsHost::kill9() {
    (void)wait_for([&] {
        const Output jobs = command({"qstat", "-f", "-t"}, {});
        return jobs.exit != 0 || jobs.out.find("substate = 41") == std::string::npos;
    });
    running_ = false;
    box().kill_server();
}

// Returns the names of the vnodes that the directives create.
std::vector<std::string> new_vnodes(const std::vector<std::string>& directives) {
    constexpr std::string_view kCreate = "create node ";
    std::vector<std::string> names;
    for (const std::string& directive : directives) {
        if (!directive.starts_with(kCreate)) continue;
        const std::string rest = directive.substr(kCreate.size());
        names.push_back(rest.substr(0, rest.find(' ')));
    }
    return names;
}

// If the directives create vnodes, waits until the box's mom has reported them, as OpenPBS doesn't use a
// vnode before. The mom reports several vnodes only with a file that describes them.
void OpenpbsHost::configured(const std::vector<std::string>& directives) {
    const std::vector<std::string> made = new_vnodes(directives);
    if (made.empty()) return;
    vnodes_.insert(vnodes_.end(), made.begin(), made.end());
    if (vnodes_.size() > 1) {
        const fs::path file = box().folder() / "vnodes";
        std::ofstream out(file);
        out << "$configversion 2\n";
        for (const std::string& name : vnodes_) out << name << ": resources_available.arch=linux\n";
        out.close();
        const std::string mom = openpbs_prefix() / "sbin/pbs_mom";
        box().run({mom, "-s", "remove", "vnodes"});
        box().run({mom, "-s", "insert", "vnodes", file});
        box().run({"/usr/bin/pkill", "-HUP", "-x", "pbs_mom"});
    }
    const auto is_up = [this](const std::string& name) {
        const std::string state = attribute_in(command({"qmgr", "-c", "list node " + name}, {}).out, "state");
        return state != "(none)" && state.find("unknown") == state.npos && state.find("down") == state.npos &&
               state.find("Stale") == state.npos;
    };
    wait_for([&] { return std::all_of(vnodes_.begin(), vnodes_.end(), is_up); }, kLong);
}

}  // namespace

std::unique_ptr<Host> openpbs_host(Server::Options options) {
    return std::make_unique<OpenpbsHost>(std::move(options));
}

}  // namespace pbs::e2e
