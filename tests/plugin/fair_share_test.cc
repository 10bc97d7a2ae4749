// Tests trees of shares through the plugin's C interface: who sees which usage, and that a change is stored
// before it is answered.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "ifl/pbs_error.h"
#include "objects/database.h"
#include "objects/store.h"
#include "objects/usage_store.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kWork = 102;

pbs_str str(std::string_view text) {
    return {text.data(), text.size()};
}

class FairShare : public ::testing::Test {
  protected:
    void SetUp() override {
        host = bring_up(folder.home());
        set(PBS_OBJ_FS_GROUP, "f1",
            {{"tree_element", "physics:root = 40,alice:physics = 10,bob:physics = 30,carol:root = 60"},
             {"decay_time", "24:00:00"}});
        set(PBS_OBJ_POLICY, "default_policy", {{"fairshare_group", "f1"}, {"fairshare", "True"}});
    }
    static std::unique_ptr<FakeHost> bring_up(const std::filesystem::path& home) {
        auto made = std::make_unique<FakeHost>(home);
        made->bring_up();
        made->queue(kWork, "work");
        made->vnode(201, "n1", 8);
        return made;
    }
    void set(int32_t type, const std::string& name, const std::vector<Change>& changes) {
        if (name == "f1") {
            ASSERT_EQ(host->manager(PBS_CMD_CREATE, type, name).code, 0);
        }
        const Answer answer = host->manager(PBS_CMD_SET, type, name, changes);
        ASSERT_EQ(answer.code, 0) << answer.text;
    }
    // Sets attributes. A name may have a resource after a dot.
    Answer change(const std::vector<Change>& changes, const std::string& sched = "default") {
        std::vector<pbs_attr> attrs;
        for (const Change& one : changes) {
            const auto dot = std::min(one.name.find('.'), one.name.size());
            pbs_attr attr{};
            attr.name = str(std::string_view(one.name).substr(0, dot));
            if (dot < one.name.size()) attr.resource = str(std::string_view(one.name).substr(dot + 1));
            attr.value = str(one.value);
            attr.op = one.op;
            attrs.push_back(attr);
        }
        pbs_manager_request request{};
        request.size = sizeof request;
        request.now = host->now;
        request.command = PBS_CMD_SET;
        request.object_type = PBS_OBJ_FAIRSHARE;
        request.object_name = str(sched);
        request.attrs = attrs.data();
        request.attr_count = attrs.size();
        request.who = host->who;
        return host->manager(request);
    }
    Answer ask(const std::string& sched = "default", const std::string& extend = {}, uint64_t ticket = 0) {
        pbs_status_request request{};
        request.size = sizeof request;
        request.now = host->now;
        request.object_type = PBS_OBJ_FAIRSHARE;
        request.object_name = str(sched);
        request.who = host->who;
        request.extend = str(extend);
        request.ticket = ticket;
        return host->status(request);
    }
    static std::vector<std::string> names(const Answer& answer) {
        std::vector<std::string> out;
        for (const Answer::Object& object : answer.objects) out.push_back(object.name);
        return out;
    }
    static std::string value(const Answer& answer, const std::string& name, const std::string& attribute) {
        for (const Answer::Object& object : answer.objects)
            if (object.name == name && object.attributes.contains(attribute))
                return object.attributes.at(attribute);
        return "(none)";
    }
    // Reads an entity's usage from the store's file, without the plugin.
    double stored(const std::string& entity, std::string_view scope = "fs_group:f1") const {
        auto store =
            objects::Store::open((folder.home() / "server_priv/policy.db").string(), {.time_zone = "UTC"},
                                 std::chrono::sys_seconds{std::chrono::seconds{kMonday10}});
        EXPECT_TRUE(store.has_value());
        const auto loaded = objects::UsageStore(*store).load(scope);
        EXPECT_TRUE(loaded.has_value());
        for (const objects::Usage& row : loaded->usage)
            if (row.user == entity) return row.amount;
        return 0;
    }

    FakeHost folder;  // provides the folder of `host`; not used as a host
    std::unique_ptr<FakeHost> host;
};

TEST_F(FairShare, ManagersSeeAllOfTheTree) {
    ASSERT_EQ(change({{"usage.bob", "1000"}}).code, 0);
    const Answer answer = ask();
    ASSERT_EQ(answer.code, 0) << answer.text;
    EXPECT_THAT(names(answer), ElementsAre("f1", "root", "physics", "alice", "bob", "carol", "unknown"));
    EXPECT_EQ(answer.value("sched"), "default");
    EXPECT_EQ(answer.value("usage_formula"), "cput");
    EXPECT_EQ(answer.value("decay_time"), "86400");
    EXPECT_EQ(value(answer, "bob", "parent"), "physics");
    EXPECT_EQ(value(answer, "bob", "usage"), "1000");
    EXPECT_EQ(value(answer, "bob", "decayed"), "500");
    EXPECT_EQ(value(answer, "physics", "kind"), "group");
    EXPECT_EQ(value(answer, "carol", "place"), "1");
    EXPECT_EQ(names(ask("default", "fs_group=f1")), names(answer));
    EXPECT_EQ(names(ask("")), names(answer)) << "default is meant";
}

TEST_F(FairShare, OthersSeeTheirOwnWay) {
    ASSERT_EQ(change({{"usage.bob", "1000"}}).code, 0);
    for (const pbs_identity& who : {user_identity(), operator_identity()}) {
        host->who = who;
        host->who.user = {"alice", 5};
        EXPECT_THAT(names(ask()), ElementsAre("f1", "root", "physics", "alice"));
    }
}

TEST_F(FairShare, OnlyManagersChangeIt) {
    for (const pbs_identity& who : {user_identity(), operator_identity()}) {
        host->who = who;
        EXPECT_EQ(change({{"usage.bob", "1000"}}).code, PBSE_PERM);
        EXPECT_EQ(change({{"decay", "True"}}).code, PBSE_PERM);
        EXPECT_EQ(change({{"trim", "True"}}).code, PBSE_PERM);
    }
    host.reset();
    EXPECT_EQ(stored("bob"), 0);
}

TEST_F(FairShare, WhatIsAnsweredIsInTheStore) {
    ASSERT_EQ(change({{"usage.bob", "1000"}, {"usage.carol", "30.5"}}).code, 0);
    EXPECT_EQ(stored("bob"), 1000);
    EXPECT_EQ(stored("carol"), 30.5);
    ASSERT_EQ(change({{"decay", "True"}}).code, 0);
    EXPECT_EQ(stored("bob"), 500);
    EXPECT_EQ(stored("physics"), 500);
    // Start a host on a copy of the files, as after a kill of the first host.
    FakeHost copy;
    std::filesystem::copy(
        folder.home(), copy.home(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    host = bring_up(copy.home());
    EXPECT_EQ(value(ask(), "bob", "usage"), "500");
    EXPECT_EQ(value(ask(), "physics", "usage"), "500");
    host.reset();
}

// Usage and long usage are written together or not at all; changes that can't be written are kept, and
// written later.
TEST_F(FairShare, LongUsageIsStoredInTheTransactionOfUsage) {
    constexpr std::string_view kLong = "fs_group:f1: long usage";
    ASSERT_EQ(host->set(PBS_OBJ_FS_GROUP, "f1", "usage_formula", "ncpus*walltime").code, 0);
    ASSERT_EQ(change({{"usage.bob", "1000"}}).code, 0);
    host.reset();
    {
        auto database = objects::Database::open((folder.home() / "server_priv/policy.db").string());
        ASSERT_TRUE(database) << database.error().message;
        const auto made = (*database)->run(
            fmt::format("CREATE TRIGGER fails BEFORE INSERT ON usage WHEN NEW.scope = '{}' AND EXISTS "
                        "(SELECT 1 FROM object WHERE name = 'blocker') BEGIN SELECT RAISE(ABORT, 'no room'); "
                        "END",
                        kLong));
        ASSERT_TRUE(made) << made.error().message;
    }
    host = bring_up(folder.home());
    ASSERT_EQ(host->manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "blocker").code, 0);
    host->job({.handle = 1, .queue = kWork, .owner = "alice", .state = 'R', .vnode = 201});
    host->now += 100;
    const Answer answer = change({{"decay", "True"}});
    EXPECT_EQ(answer.code, PBSE_SYSTEM);
    EXPECT_THAT(answer.text, HasSubstr("no room"));
    EXPECT_EQ(stored("alice"), 0);
    EXPECT_EQ(stored("alice", kLong), 0);
    EXPECT_EQ(stored("bob"), 1000) << "neither is it decayed";

    ASSERT_EQ(host->manager(PBS_CMD_DELETE, PBS_OBJ_POLICY, "blocker").code, 0);
    host->now += 60;
    host->tick();
    EXPECT_EQ(stored("alice", kLong), 2 * 100);
    EXPECT_EQ(stored("alice"), (1 + 2 * 100) / 2.0);
    EXPECT_EQ(stored("bob"), 500) << "it is decayed once";
    EXPECT_TRUE(host->logged("Past usage can be saved again"));
}

TEST_F(FairShare, TrimForgetsThoseInNoGroup) {
    host->job({.handle = 1, .queue = kWork, .owner = "eve"});
    ASSERT_EQ(change({{"usage.eve", "77"}}).code, 0);
    EXPECT_EQ(value(ask(), "eve", "parent"), "unknown");
    ASSERT_EQ(change({{"trim", "True"}}).code, 0);
    EXPECT_EQ(value(ask(), "eve", "usage"), "(none)");
    EXPECT_EQ(value(ask(), "unknown", "usage"), "1");
    EXPECT_EQ(stored("eve"), 0);
}

TEST_F(FairShare, WhatIsWrongIsSaid) {
    const auto refusal = [&](const std::vector<Change>& changes, const std::string& sched = "default") {
        const Answer answer = change(changes, sched);
        return fmt::format("{}: {}", answer.code, answer.text);
    };
    EXPECT_EQ(refusal({{"usage.bob", "-1"}}),
              "15014: usage of bob: bad value '-1': expected a number that isn't negative");
    EXPECT_EQ(refusal({{"usage.bob", "nan"}}),
              "15014: usage of bob: bad value 'nan': expected a number that isn't negative");
    EXPECT_EQ(refusal({{"usage.bob", "7x"}}),
              "15014: usage of bob: bad value '7x': expected a number that isn't negative");
    EXPECT_EQ(refusal({{"usage", "7"}}),
              "15004: usage: expected usage.ENTITY = NUMBER, decay = True or trim = True");
    EXPECT_EQ(refusal({{"color", "7"}}),
              "15002: unknown attribute 'color': expected usage, decay, trim or fs_group");
    EXPECT_EQ(refusal({}), "15004: expected one of usage, decay and trim");
    EXPECT_EQ(refusal({{"decay", "True"}, {"trim", "True"}}), "15004: expected one of usage, decay and trim");
    EXPECT_EQ(refusal({{"usage.nobody", "7"}}), "15014: fs_group f1 has no entity nobody");
    EXPECT_EQ(refusal({{"decay", "True"}, {"fs_group", "f2"}}),
              "15212: no policy of sched default has f2 as its fairshare_group");
    EXPECT_EQ(change({{"decay", "True"}}, "s9").code, PBSE_UNKSCHED);
    EXPECT_EQ(ask("s9").code, PBSE_UNKSCHED);
    EXPECT_THAT(ask("default", "fs_group=f2").text, HasSubstr("has f2 as its fairshare_group"));
    EXPECT_THAT(ask("default", "color=red").text, HasSubstr("unknown key 'color'"));
    ASSERT_EQ(host->set(PBS_OBJ_POLICY, "default_policy", "fairshare", "False").code, 0);
    ASSERT_EQ(host->manager(PBS_CMD_UNSET, PBS_OBJ_POLICY, "default_policy", {{"fairshare_group", ""}}).code,
              0);
    EXPECT_EQ(ask().code, PBSE_FS_GROUP_NOT_FOUND);
    EXPECT_THAT(ask().text, HasSubstr("expected one that names an fs_group"));
    EXPECT_EQ(change({{"decay", "True"}}).code, PBSE_FS_GROUP_NOT_FOUND);
}

TEST_F(FairShare, UsageCanBeSetBeforeAPolicyGoesByIt) {
    ASSERT_EQ(host->set(PBS_OBJ_POLICY, "default_policy", "fairshare", "False").code, 0);
    EXPECT_EQ(ask().objects.front().attributes.at("counts_usage"), "False");
    ASSERT_EQ(change({{"usage.bob", "500"}}).code, 0);
    EXPECT_EQ(stored("bob"), 500);
    ASSERT_EQ(host->set(PBS_OBJ_POLICY, "default_policy", "fairshare", "True").code, 0);
    EXPECT_FALSE(ask().objects.front().attributes.contains("counts_usage"));
    EXPECT_EQ(value(ask(), "bob", "usage"), "500");
}

TEST_F(FairShare, ALargeTreeComesInParts) {
    std::string elements;
    for (int i = 0; i < 2500; ++i) elements += fmt::format("{}u{}:root = 1", i == 0 ? "" : ",", i);
    ASSERT_EQ(host->set(PBS_OBJ_FS_GROUP, "f1", "tree_element", elements).code, 0);
    std::size_t told = 0;
    int parts = 0;
    for (std::string extend;;) {
        const Answer part = ask("default", extend, 7);
        ASSERT_EQ(part.code, 0) << part.text;
        told += part.objects.size();
        ++parts;
        EXPECT_LE(part.objects.size(), 1001U);
        if (!part.attributes.contains("offset")) break;
        extend = "offset=" + part.attributes.at("offset");
    }
    EXPECT_EQ(told, 1 + 2 + 2500U);
    EXPECT_EQ(parts, 3);
    EXPECT_EQ(ask().objects.size(), told) << "all at once where the host can't ask again";
}

}  // namespace
}  // namespace pbs::plugin_test
