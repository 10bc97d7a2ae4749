// Tests every attribute that the plugin adds to servers, queues and schedulers. Each has a row in a table;
// the tests set it, list it, and check its effect. The host is the bundled server, or OpenPBS's with the
// plugin inside it or beside it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <set>

#include "objects/attribute_tables.h"
#include "server_plugin/openpbs/owned.h"
#include "tests/e2e/box.h"
#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

enum Hosts : std::uint8_t { both, of_openpbs };

// An attribute that qmgr can set. With this value a job of the queue `work` waits; without the attribute it
// runs.
struct Settable {
    std::uint32_t type;
    const char* object;  // the object that has the attribute, as qmgr names it
    const char* name;
    std::string value;
    std::vector<std::string> before{};  // directives to run first
};

std::vector<Settable> settable() {
    // A date half a year from today, so that a yearly window on it isn't open during the test.
    const std::time_t half_a_year = std::time(nullptr) + 180L * 86400;
    std::tm day{};
    gmtime_r(&half_a_year, &day);
    const std::string elsewhere =
        fmt::format("FREQ=YEARLY;BYMONTH={};BYMONTHDAY={}", day.tm_mon + 1, std::min(day.tm_mday, 28));
    return {
        {PBS_OBJ_SERVER,
         "server",
         "non_work_days",
         "FREQ=DAILY",
         {"create time_window workdays",
          "set time_window workdays rrule = 'FREQ=DAILY', applies_on_holidays = False, type = prime",
          "set queue work execution_type = execution_prime"}},
        {PBS_OBJ_QUEUE,
         "queue work",
         "time_window",
         "later",
         {"create time_window later", "set time_window later rrule = '" + elsewhere + "'"}},
        {PBS_OBJ_QUEUE, "queue work", "execution_type", "execution_dedicated"},
        {PBS_OBJ_SCHED,
         "sched default",
         "policy",
         "other",
         {"create policy other", "set policy other dedicated_queues = work"}},
    };
}

// A read-only attribute. Its value contains `shows` after the directives `before`.
struct Shown {
    std::uint32_t type;
    const char* name;
    Hosts hosts;
    std::vector<std::string> before;
    std::string shows;     // part of the attribute's value
    std::string file{};    // a file to make in the home before the first start; a text of `size` bytes
    std::size_t size = 0;  // is made only then, as ctest starts this program for each test
    std::string later_file{}, later{};  // a file written while the server runs
};

std::vector<Shown> shown() {
    const std::vector<std::string> prime{"create time_window hours",
                                         "set time_window hours rrule = 'FREQ=DAILY', type = prime"};
    const std::vector<std::string> dedicated{"create time_window upkeep",
                                             "set time_window upkeep rrule = 'FREQ=DAILY', type = dedicated"};
    const std::vector<std::string> by_time{
        "create time_window hours",
        "set time_window hours rrule = 'FREQ=DAILY', type = prime, start_time = 08:00:00, end_time = "
        "17:00:00",
        "create policy other", "set sched default policy = 'default_policy,p:other,np:default_policy'"};
    return {
        {PBS_OBJ_SERVER, "time_zone", both, {}, "UTC"},
        {PBS_OBJ_SERVER, "server_time", both, {}, "Z"},
        {PBS_OBJ_SERVER, "policy_attached", of_openpbs, {}, "since "},
        {PBS_OBJ_SCHED, "sched_config", both, {"unset sched default policy"}, "sched_priv/sched_config"},
        {PBS_OBJ_SCHED,
         "active_policy",
         both,
         {"create policy other", "set sched default policy = other"},
         "other"},
        {PBS_OBJ_SCHED, "prime_time", both, prime, "True"},
        {PBS_OBJ_SCHED, "dedicated_time", both, dedicated, "True"},
        {PBS_OBJ_SCHED, "next_policy_change", both, by_time, " to "},
        {PBS_OBJ_SCHED,
         "configuration_error",
         both,
         {"unset sched default policy"},
         "options of an Origin scheduler",
         {},
         0,
         "sched_priv/sched_config",
         "ENFORCE_PRIME_TIME True\nPRIME_TIME_START 08:00\nPRIME_TIME_END 17:00\n"},
        {PBS_OBJ_SCHED, "migration_error", both, {}, "is too large", "sched_priv/config", 17U << 20U},
        {PBS_OBJ_SCHED,
         "unsupported_settings",
         both,
         {"set policy default_policy prime_time_wallt_limit = 01:00:00"},
         "prime_time_wallt_limit"},
        {PBS_OBJ_SCHED, "policy_service", of_openpbs, {}, "policy objects are not available"},
        {PBS_OBJ_SCHED, "scheduled_by", of_openpbs, {}, "pbs_policy"},
        {PBS_OBJ_SCHED, "model_checks", of_openpbs, {}, ""},
    };
}

std::string object_of(std::uint32_t type) {
    return type == PBS_OBJ_SERVER ? "server" : type == PBS_OBJ_QUEUE ? "queue work" : "sched default";
}

class HostAttributes : public ::testing::Test {
  protected:
    void start() {
        ASSERT_TRUE(server.start());
        ASSERT_TRUE(server.configure({"create queue work queue_type=execution, enabled=True, started=True",
                                      "create node n1 resources_available.ncpus = 8",
                                      "set server default_queue = work"}));
    }
    // Returns an attribute in a listing of OpenPBS's own qmgr, which asks the server for all attributes at
    // once, not for some by name.
    std::string stock_list(const std::string& object, const std::string& name) const {
        return attribute_in(server.command({openpbs_prefix() / "bin/qmgr", "-c", "list " + object}).out,
                            name);
    }
    // Returns qstat's listing of the server or of the queue; qstat can't list schedulers.
    std::string qstat(std::uint32_t type) const {
        if (type == PBS_OBJ_SERVER) return server.command({"qstat", "-Bf"}).out;
        return server.command({"qstat", "-Qf", "work"}).out;
    }
    bool waits(const std::string& job) const {
        return wait_for(
            [&] { return server.job(job, "job_state") == "Q" && server.job(job, "comment") != "(none)"; });
    }
    // Returns the value that qmgr lists; "" if OpenPBS's qmgr lists another value. Some attributes of the
    // server are listed only if their names are given.
    std::string listed(const std::string& object, const std::string& name) const {
        if (name == "time_zone" || name == "server_time" || name == "policy_attached") {
            const std::string line = server.command({"qmgr", "-c", "list server"}).out;
            const std::string of = line.substr(0, line.find('\n')).substr(line.find(' ') + 1);
            return attribute_in(
                server.command({"qmgr", "-c", fmt::format("list server {} {}", of, name)}).out, name);
        }
        const std::string ours = attribute_in(server.command({"qmgr", "-c", "list " + object}).out, name);
        return !on_openpbs() || stock_list(object, name) == ours ? ours : std::string();
    }

    Server server;
};

TEST(HostAttributesTable, HasEachAttribute) {
    std::set<std::pair<std::uint32_t, std::string>> rows;
    for (const Settable& row : settable()) rows.emplace(row.type, row.name);
    const auto expect_rows = [&](std::uint32_t type, std::span<const objects::Attribute> table) {
        for (const objects::Attribute& attribute : table)
            EXPECT_TRUE(rows.contains({type, std::string(attribute.name)})) << attribute.name;
    };
    expect_rows(PBS_OBJ_SERVER, objects::server_attributes());
    expect_rows(PBS_OBJ_QUEUE, objects::queue_attributes());
    expect_rows(PBS_OBJ_SCHED, objects::sched_attributes());
    for (const Shown& row : shown()) rows.emplace(row.type, row.name);
    for (const openpbs::OwnedAttribute& one : openpbs::kOwned)
        EXPECT_TRUE(rows.contains({one.object_type, one.name})) << one.name;
    EXPECT_EQ(rows.size(), openpbs::kOwned.size());
}

class SettableAttributes : public HostAttributes, public ::testing::WithParamInterface<Settable> {};

TEST_P(SettableAttributes, IsSetShownAndActedOn) {
    const Settable& row = GetParam();
    start();
    ASSERT_TRUE(server.configure(row.before));
    const std::string set = fmt::format("set {} {} = {}", row.object, row.name, row.value);
    ASSERT_TRUE(server.configure({set}));
    const std::string shown = fmt::format("{} = {}", row.name, row.value);
    EXPECT_EQ(listed(row.object, row.name), row.value);
    EXPECT_THAT(server.command({"qmgr", "-c", fmt::format("print {}", row.object)}).out,
                HasSubstr(fmt::format(" {} = ", row.name)));
    if (row.type != PBS_OBJ_SCHED) EXPECT_THAT(qstat(row.type), HasSubstr(shown));
    const std::string job = server.submit("sleep 600\n");
    EXPECT_TRUE(waits(job)) << server.job(job, "comment");
    ASSERT_TRUE(server.configure({fmt::format("unset {} {}", row.object, row.name)}));
    EXPECT_EQ(listed(row.object, row.name), "(none)");
    EXPECT_TRUE(server.wait_job_state(job, "R")) << server.job(job, "comment");
    EXPECT_NE(server.qmgr(fmt::format("set {} {} = '?'", row.object, row.name)).exit, 0);
    EXPECT_EQ(listed(row.object, row.name), "(none)");
}

INSTANTIATE_TEST_SUITE_P(HostAttributes, SettableAttributes, ::testing::ValuesIn(settable()),
                         [](const auto& one) { return std::string(one.param.name); });

class ShownAttributes : public HostAttributes, public ::testing::WithParamInterface<Shown> {};

TEST_P(ShownAttributes, IsShownAndNotSet) {
    const Shown& row = GetParam();
    if (row.hosts == of_openpbs && !on_openpbs()) GTEST_SKIP() << "it is of OpenPBS's server";
    if (!row.file.empty()) server.put(row.file, std::string(row.size, 'x'));
    start();
    if (!row.later_file.empty()) server.put(row.later_file, row.later);
    ASSERT_TRUE(server.configure(row.before));
    const std::string object = object_of(row.type);
    if (std::string_view(row.name) == "policy_service") {
        // With a folder in place of the plugin's database, the plugin's objects aren't available.
        ASSERT_TRUE(server.stop());
        std::filesystem::remove(server.home() / "server_priv/policy.db");
        std::filesystem::create_directory(server.home() / "server_priv/policy.db");
        (void)server.start();
    }
    // model_checks is set by a check that runs only every ten minutes, so the test doesn't wait for a value.
    const bool later = std::string_view(row.name) == "model_checks";
    EXPECT_TRUE(later || wait_for([&] {
                    const std::string value = listed(object, row.name);
                    return value != "(none)" && value.find(row.shows) != value.npos;
                }))
        << listed(object, row.name);
    EXPECT_NE(server.qmgr(fmt::format("set {} {} = x", object, row.name)).exit, 0);
    EXPECT_THAT(server.command({"qmgr", "-c", "print " + object}).out, Not(HasSubstr(row.name)));
}

INSTANTIATE_TEST_SUITE_P(HostAttributes, ShownAttributes, ::testing::ValuesIn(shown()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace pbs::e2e
