#include "tests/openpbs/cluster.h"
#include "values/text.h"

#include <fmt/format.h>

#include <regex>

namespace pbs::e2e {

std::string scheduler_name(const ::testing::TestParamInfo<const char*>& one) {
    return one.param == kPbsSched ? one.param : attachment_name(one);
}

void ClusterSite::SetUp() {
    if (!make_site()) return;
    // The server's host runs no jobs.
    site->ok("sed -i 's/PBS_START_MOM=1/PBS_START_MOM=0/' /etc/pbs.conf");
    if (GetParam() == kPbsSched) {
        site->start();
    } else {
        site->install(std::string(GetParam()) + " --scheduler");
        site->start_with_plugin();
        EXPECT_TRUE(scheduled_by("pbs_policy"));
    }
    hosts("make h1 h2 h3");
    site->ok(
        "$stock/qmgr -c 'delete node box'; "
        "for h in h1 h2 h3; do $stock/qmgr -c \"create node $h resources_available.ncpus=2\"; done");
    for (const char* vnode : {"h1", "h2", "h3"}) expect_vnode(vnode, "free");
}

std::string ClusterSite::hosts(const std::string& arguments) const {
    // The moms outlive hosts.sh. So they must not hold the pipe from which the output of hosts.sh is read.
    return site->ok(
        fmt::format("{}/tests/openpbs/hosts.sh {} > /tmp/hosts.out 2>&1; status=$?; cat "
                    "/tmp/hosts.out; exit $status",
                    PBS_SOURCE_DIR, arguments));
}

Output ClusterSite::on(const std::string& host, const std::string& script, const std::string& user) const {
    return site->sh(fmt::format("{}/tests/openpbs/hosts.sh on {} su {} -s /bin/bash <<'END'\n{}\nEND",
                                PBS_SOURCE_DIR, host, user, script));
}

std::string ClusterSite::submit_script(const std::string& script, const std::string& options) const {
    const std::string id =
        site->ok(fmt::format("cd /var/tmp; $stock/qsub -o /dev/null -e /dev/null {} <<'END'\n{}\nEND",
                             options, script),
                 "una");
    return std::string(values::trim(id));
}

std::string ClusterSite::outcome(const std::string& job) const {
    const std::string status = site->sh("$stock/qstat -fw '" + job + "' 2>/dev/null").out;
    const std::string state = attribute_in(status, "job_state");
    if (state != "R") {
        // If the comment has no amounts, pbs_sched leaves a blank at its end.
        return std::string(values::trim(state + " " + attribute_in(status, "comment")));
    }
    std::string out = "R";
    const std::string vnodes = attribute_in(status, "exec_vnode");
    static const std::regex vnode(R"(\((\w+))");
    for (std::sregex_iterator it(vnodes.begin(), vnodes.end(), vnode), end; it != end; ++it)
        out += " " + (*it)[1].str();
    return out;
}

void ClusterSite::expect_outcome(const std::string& job, const std::string& expected,
                                 std::chrono::seconds longest) const {
    std::string seen;
    EXPECT_TRUE(wait_for([&] { return (seen = outcome(job)) == expected; }, longest))
        << job << " is \"" << seen << "\" and not \"" << expected << "\": " << why(job)
        << site->sh("$stock/pbsnodes -a").out;
}

void ClusterSite::expect_vnode(const std::string& vnode, const std::string& state,
                               std::chrono::seconds longest) const {
    std::string seen;
    EXPECT_TRUE(wait_for(
        [&] {
            seen = attribute_in(site->sh("$stock/pbsnodes " + vnode).out, "state");
            return seen.find(state) != std::string::npos;
        },
        longest))
        << vnode << " is " << seen << " and not " << state;
}

void ClusterSite::cycle() const {
    site->ok("$stock/qmgr -c 'set server scheduling = True'");
}

void ClusterSite::expect_outcome_of_cycles(const std::string& job, const std::string& expected) const {
    std::string seen;
    EXPECT_TRUE(wait_for([&] {
        cycle();
        return (seen = outcome(job)) == expected;
    })) << job
        << " is \"" << seen << "\" and not \"" << expected << "\": " << why(job);
}

}  // namespace pbs::e2e
