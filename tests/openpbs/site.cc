#include "tests/openpbs/site.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

namespace pbs::e2e {
namespace {

constexpr std::chrono::seconds kLongest{120};  // the longest time that a script may run

}  // namespace

Output Site::in_box(const std::string& script, const std::string& user) const {
    const std::string with = fmt::format(
        "export stock={0}/bin ours={1}/bin PATH={0}/bin:{0}/sbin:/usr/sbin:/usr/bin:/sbin:/bin\n{2}",
        openpbs_prefix().string(), PBS_BUILD_DIR, script);
    return box_.run({"/bin/su", user, "-s", "/bin/bash", "-c", with}, {.timeout = kLongest});
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

void Site::preload_faults() const {
    ok("mkdir -p /var/spool/pbs/faults; f=$(dirname $stock)/lib/init.d/limits.pbs_server; "
       "(echo export LD_PRELOAD=" PBS_BUILD_DIR "/tests/openpbs/faults.so; cat $f) > /tmp/f; cp /tmp/f $f");
}

void Site::begin_fault(const std::string& fault, int number) const {
    ok(fmt::format("cd /var/spool/pbs/faults; echo {} > new; mv new {}", number, fault));
}

void Site::start() const {
    const Output started = box_.start_up("start");
    EXPECT_EQ(started.exit, 0) << started;
}

int number_of(const std::string& text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

int Site::logged(const std::string& kind, const std::string& text) const {
    return number_of(
        ok("cat /var/spool/pbs/" + kind + "_logs/* 2>/dev/null | grep -c '" + text + "' || true"));
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
    // A pbs_sched of 23.06.06 whose server ends during a cycle may wait for it for ever with SIGTERM blocked,
    // and OpenPBS's script waits for pbs_sched. The brackets keep pgrep from finding the shell that calls it.
    sh("(for i in $(seq 15); do sleep 1; pgrep -f 'pbs_init[.]d stop' || exit; done; pkill -9 -x pbs_sched) "
       "> /dev/null 2>&1 < /dev/null &");
    const Output stopped = box_.start_up("stop");
    EXPECT_EQ(stopped.exit, 0) << stopped;
}

bool Site::wait_for_node() const {
    return wait_for([&] { return sh("$stock/pbsnodes box | grep -q 'state = free'").exit == 0; },
                    std::chrono::seconds(30));
}

void Site::add_moms(const std::vector<std::string>& names) const {
    std::string script = "sed -i 's/ v[0-9]//g' /etc/hosts\n";
    for (int number = 100; const std::string& name : names) {
        script += fmt::format(
            "ip addr add 10.99.0.{1}/24 dev v0; echo 10.99.0.{1} {0} >> /etc/hosts\n"
            "home=/var/spool/pbs/{0}; for folder in aux checkpoint mom_logs mom_priv/config.d "
            "mom_priv/hooks/tmp mom_priv/jobs spool undelivered; do mkdir -p $home/$folder; done\n"
            "chmod 1777 $home/spool $home/undelivered; chmod 751 $home/mom_priv\n"
            "cp /var/spool/pbs/mom_priv/config $home/mom_priv; cp /var/spool/pbs/pbs_environment $home\n"
            "PBS_HOME=$home PBS_MOM_HOME=$home PBS_MOM_NODE_NAME={0} PBS_LEAF_NAME={0} "
            "PBS_MOM_SERVICE_PORT=15{1} PBS_MANAGER_SERVICE_PORT=15{2} $stock/../sbin/pbs_mom -d $home\n"
            "$stock/qmgr -c 'create node {0} port=15{1}'\n",
            name, number, number + 1);
        number += 2;
    }
    ok(script);
}

void Site::kill_server() const {
    const Output killed = box_.kill_server();
    EXPECT_EQ(killed.exit, 0) << killed;
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

bool PolicySite::make_site() {
    OpenpbsTest::SetUp();
    if (IsSkipped()) return false;
    site.emplace();
    return true;
}

void PolicySite::SetUp() {
    if (!make_site()) return;
    site->install(options());
    site->start_with_plugin();
}

}  // namespace pbs::e2e
