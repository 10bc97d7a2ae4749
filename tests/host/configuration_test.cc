// Tests the server's own part of the configuration: its texts, and its part in the history, in documents and
// in rollbacks.
#include "server_plugin/host/state/configuration.h"

#include <random>

#include "server_plugin/host/change/reconcile.h"
#include "server_plugin/host/policy/config_document.h"
#include "tests/cases.h"
#include "tests/host/plugin_fixture.h"

namespace pbs::host {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(ConfigJson, ReadsBackWhatItWrites) {
    const ConfigValues values{{"Priority", "5"}, {"comment", "a \"b\"\n"}, {"resources_max.ncpus", "4"}};
    EXPECT_EQ(to_json(values), R"({"Priority":"5","comment":"a \"b\"\n","resources_max.ncpus":"4"})");
    EXPECT_EQ(from_json(to_json(values)).value(), values);
    EXPECT_EQ(to_json(std::nullopt), "null");
    EXPECT_EQ(from_json("null").value(), std::nullopt);
    const ConfigValues latin{{"comment", "caf\xe9"}};
    EXPECT_EQ(to_json(latin), R"({"comment":{"hex":"636166e9"}})");
    EXPECT_EQ(from_json(to_json(latin)).value(), latin);
    for (const char* bad : {"", "[]", "{\"a\":1}", "{\"a\":{\"hex\":\"zz\"}}", "{\"a\":{\"hex\":\"1\"}}"})
        EXPECT_FALSE(from_json(bad)) << bad;
}

TEST(ConfigLines, TellWhatIsDifferent) {
    const ConfigName queue{PBS_OBJ_QUEUE, "q1"};
    EXPECT_THAT(config_lines({queue, std::nullopt, ConfigValues{{"enabled", "True"}}}),
                ElementsAre("queue q1 is created", "queue q1: enabled = True"));
    EXPECT_THAT(config_lines({queue, ConfigValues{{"enabled", "True"}}, std::nullopt}),
                ElementsAre("queue q1 is deleted"));
    EXPECT_THAT(config_lines({queue, ConfigValues{{"a", "1"}, {"b", "2"}, {"c", "3"}},
                              ConfigValues{{"a", "1"}, {"b", "5"}}}),
                ElementsAre("queue q1: b = 5", "queue q1: c is unset"));
    EXPECT_EQ(title({PBS_OBJ_SERVER, ""}), "server");
}

TEST(HostDocument, IsAddedAndReadBack) {
    const HostConfiguration configuration{{{PBS_OBJ_SERVER, ""}, {{"default_queue", "q1"}}},
                                          {{PBS_OBJ_QUEUE, "q1"}, {{"enabled", "True"}}},
                                          {{PBS_OBJ_QUEUE, "q2"}, {}},
                                          {{PBS_OBJ_RESOURCE, "fuel"}, {{"type", "long"}}}};
    const std::string text = add_host_document("{\n  \"format\": 1\n}\n", configuration);
    EXPECT_EQ(text,
              "{\n  \"format\": 1,\n  \"host\": {\n    \"server\": {\"default_queue\": \"q1\"},\n"
              "    \"queue\": {\n      \"q1\": {\"enabled\": \"True\"},\n      \"q2\": {}\n    },\n"
              "    \"node\": {},\n    \"resource\": {\n      \"fuel\": {\"type\": \"long\"}\n    },\n"
              "    \"sched\": {}\n  }\n}\n");
    EXPECT_EQ(read_host_document(text).value(), configuration);
    EXPECT_EQ(read_host_document("{\"format\": 1}").value(), std::nullopt);
    EXPECT_EQ(read_host_document("{").value(), std::nullopt);
}

TEST(HostDocument, EachMistakeIsTold) {
    const auto wrong =
        read_host_document(R"({"host": {"queue": {"q1": {"Priority": 5}, "q2": []}, "job": {}, "node": 1}})");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().message,
              "host: unknown key \"job\": expected server, queue, node, resource or sched\n"
              "host: node: found number, expected an object with the name of each node as a key\n"
              "host: queue q1: Priority: found number, expected a string\n"
              "host: queue q2: found array, expected an object of attributes");
    EXPECT_FALSE(read_host_document(R"({"host": 1})"));
}

class HostHistory : public PluginServerTest {
  protected:
    ifl::Reply status(const std::string& extend) {
        return ask(root(), ifl::RequestType::status_scheduler, ifl::Status{"", {}}, extend);
    }
    std::vector<ifl::ObjectStatus> history() {
        return std::get<ifl::StatusReply>(status("object=history").body).objects;
    }
    static std::string of(const ifl::ObjectStatus& row, std::string_view name) {
        for (const ifl::Attribute& attribute : row.attributes)
            if (attribute.name == name) return attribute.value;
        return "";
    }
    std::string last(std::string_view name) { return of(history().back(), name); }
    std::string revision() { return history().back().name; }
    std::string document(const std::string& revision = {}) {
        const ifl::Reply reply =
            status("object=configuration" + (revision.empty() ? "" : ";revision=" + revision));
        const auto* objects = std::get_if<ifl::StatusReply>(&reply.body);
        return objects == nullptr ? "error " + std::to_string(reply.code)
                                  : of(objects->objects.at(0), "json");
    }
    ifl::Reply change(const std::string& what, const std::string& value, const std::string& object = {},
                      bool dry_run = false) {
        ifl::Attributes attributes{attribute(what, value)};
        if (dry_run) attributes.push_back(attribute("dry_run", "True"));
        return manage(root(), PBS_CMD_SET, PBS_OBJ_CONFIGURATION, object, attributes);
    }
    static std::string text(const ifl::Reply& reply) {
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        return text == nullptr ? "" : text->text;
    }
    int make_resource(const std::string& name) {
        return manage(root(), PBS_CMD_CREATE, PBS_OBJ_RESOURCE, name, {attribute("type", "long")}).code;
    }
};

TEST_F(HostHistory, KeepsEveryKindOfChange) {
    make_queue("q1");
    EXPECT_EQ(last("command"), "create queue q1 queue_type = e, enabled = t, started = t");
    EXPECT_EQ(last("type"), "queue");
    EXPECT_EQ(last("object"), "q1");
    EXPECT_EQ(last("user"), "root");
    EXPECT_EQ(last("before"), "null");
    EXPECT_THAT(last("after"), HasSubstr(R"("queue_type":"Execution")"));
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q1", "Priority", "7"), 0);
    EXPECT_EQ(last("command"), "set queue q1 Priority = 7");
    EXPECT_THAT(last("before"), Not(HasSubstr("Priority")));
    EXPECT_THAT(last("after"), HasSubstr(R"("Priority":"7")"));
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "default_queue", "q1"), 0);
    EXPECT_EQ(last("command"), "set server default_queue = q1");
    ASSERT_EQ(set(PBS_OBJ_SCHED, "default", "comment", "two words"), 0);
    EXPECT_EQ(last("command"), "set sched default comment = \"two words\"");
    make_node("n1", "4");
    EXPECT_EQ(last("type"), "node");
    ASSERT_EQ(set(PBS_OBJ_NODE, "n1", "state", "offline"), 0);
    EXPECT_THAT(last("after"), HasSubstr(R"("state":"offline")"));
    ASSERT_EQ(make_resource("fuel"), 0);
    EXPECT_EQ(last("after"), R"({"type":"long"})");
    ASSERT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_RESOURCE, "fuel").code, 0);
    EXPECT_EQ(last("command"), "delete resource fuel");
    EXPECT_EQ(last("after"), "null");
    // Deleting the default queue also unsets default_queue at the server. So the change has two rows.
    ASSERT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_QUEUE, "q1").code, 0);
    const auto rows = history();
    EXPECT_EQ(of(rows[rows.size() - 1], "change"), of(rows[rows.size() - 2], "change"));
    EXPECT_EQ(of(rows[rows.size() - 1], "command"), "delete queue q1");
}

TEST_F(HostHistory, WhatIsRefusedOrChangesNothingLeavesNoRow) {
    make_queue("q1");
    const std::string before = revision();
    EXPECT_NE(set(PBS_OBJ_QUEUE, "q1", "Priority", "9999"), 0);
    EXPECT_NE(set(PBS_OBJ_QUEUE, "nosuch", "Priority", "1"), 0);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "q1", "enabled", "True"), 0);  // the queue is enabled already
    EXPECT_EQ(revision(), before);
}

TEST_F(HostHistory, BothPartsOfARequestAreOneChange) {
    make_queue("q1");
    ASSERT_EQ(
        manage(root(), PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "t1", {attribute("rrule", "FREQ=DAILY")}).code,
        0);
    ASSERT_EQ(manage(root(), PBS_CMD_SET, PBS_OBJ_QUEUE, "q1",
                     {attribute("time_window", "t1"), attribute("Priority", "3")})
                  .code,
              0);
    const auto rows = history();
    const auto& first = rows[rows.size() - 2];
    const auto& second = rows[rows.size() - 1];
    EXPECT_EQ(of(first, "change"), of(second, "change"));
    EXPECT_EQ(of(first, "command"), "set queue q1 time_window = t1, Priority = 3");
    EXPECT_EQ(of(second, "command"), of(first, "command"));
    // The state between the two rows of one change was never in force.
    EXPECT_THAT(text(change("revision", first.name)), HasSubstr("midst of one change"));
    EXPECT_THAT(text(change("revision", first.name, "queue q1")), HasSubstr("midst of one change"));
    ASSERT_EQ(change("revision", std::to_string(std::stoi(first.name) - 1)).code, 0);
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "q1", "Priority"), "");
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "q1", "time_window"), "");
}

TEST_F(HostHistory, GoesBackAsAWholeAndForthAgain) {
    make_queue("q1");
    make_node("n1", "4");
    ASSERT_EQ(make_resource("fuel"), 0);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "resources_available.fuel", "9"), 0);
    const std::string then = revision();
    const std::string before = document();
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q1", "resources_max.ncpus", "3"), 0);
    make_queue("q2", {attribute("partition", "p2")});
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "default_queue", "q2"), 0);
    ASSERT_EQ(set(PBS_OBJ_NODE, "n1", "queue", "q2"), 0);
    ASSERT_EQ(set(PBS_OBJ_NODE, "n1", "partition", "p2"), 0);
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_SCHED, "s2", {attribute("partition", "p2")}).code, 0);
    ASSERT_EQ(
        manage(root(), PBS_CMD_CREATE, PBS_OBJ_POLICY, "busy", {attribute("dedicated_queues", "q2")}).code,
        0);
    ASSERT_EQ(set(PBS_OBJ_SCHED, "s2", "policy", "busy"), 0);
    ASSERT_EQ(
        manage(root(), PBS_CMD_UNSET, PBS_OBJ_SERVER, "", {attribute("resources_available.fuel", "")}).code,
        0);
    ASSERT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_RESOURCE, "fuel").code, 0);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "scheduling", "False"), 0);
    const std::string later = revision();
    const std::string after = document();
    EXPECT_EQ(document(then), before);

    const ifl::Reply dry = change("revision", then, {}, true);
    EXPECT_EQ(dry.code, 0) << text(dry);
    EXPECT_EQ(document(), after);
    EXPECT_EQ(revision(), later);
    const ifl::Reply back = change("revision", then);
    EXPECT_EQ(back.code, 0) << text(back);
    EXPECT_EQ(text(back), text(dry));
    EXPECT_THAT(text(back), AllOf(HasSubstr("queue q2 is deleted"), HasSubstr("sched s2 is deleted"),
                                  HasSubstr("resource fuel is created"), HasSubstr("policy busy is deleted"),
                                  HasSubstr("server: scheduling = True")));
    EXPECT_EQ(document(), before);
    EXPECT_EQ(server_->state.queue("q2"), nullptr);
    EXPECT_EQ(last("command"), "rollback to revision " + then);

    const ifl::Reply forth = change("revision", later);
    EXPECT_EQ(forth.code, 0) << text(forth);
    EXPECT_EQ(document(), after);
    EXPECT_EQ(document(then), before);
    // The database has the change, too: it is in force after a restart.
    plugin_->stop(server_->now());
    plugin_.reset();
    open_server();
    EXPECT_EQ(server_->state.sched("s2")->attributes.text("partition"), "p2");
    EXPECT_EQ(server_->state.resources.find("fuel"), nullptr);
}

TEST_F(HostHistory, OneObjectGoesBack) {
    make_queue("q1");
    const std::string then = revision();
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q1", "Priority", "7"), 0);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "comment", "stays"), 0);
    make_queue("q2");
    ASSERT_EQ(change("revision", then, "queue q1").code, 0);
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "q1", "Priority"), "");
    EXPECT_EQ(shown(ifl::RequestType::status_server, "", "comment"), "stays");
    EXPECT_EQ(last("command"), "rollback queue q1 to revision " + then);
    ASSERT_EQ(change("revision", then, "queue q2").code, 0);
    EXPECT_EQ(server_->state.queue("q2"), nullptr);
    EXPECT_THAT(text(change("revision", then, "queue q3")), HasSubstr("no queue 'q3'"));
    EXPECT_THAT(text(change("revision", then, "node n7")), HasSubstr("no node 'n7'"));
    EXPECT_THAT(text(change("revision", then, "r fuel")), HasSubstr("no resource 'fuel'"));
}

TEST_F(HostHistory, ARefusalLeavesEverythingAsItWas) {
    make_queue("q1");
    const std::string then = revision();
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q1", "Priority", "7"), 0);
    make_queue("q2");
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "default_queue", "q2"), 0);
    // A job in q2 keeps the queue from being deleted.
    const std::string job = submit(user(), {}, "q2");
    const std::string before = document();
    const std::string last_row = revision();
    const ifl::Reply busy = change("revision", then);
    EXPECT_EQ(busy.code, PBSE_OBJBUSY);
    EXPECT_THAT(text(busy), HasSubstr("queue q2: "));
    EXPECT_EQ(document(), before);
    EXPECT_EQ(revision(), last_row);
    ASSERT_EQ(ask(root(), ifl::RequestType::delete_job, ifl::Manage{1, PBS_OBJ_JOB, job, {}}).code, 0);
    // Policy p1, which isn't rolled back, names q2: the plugin refuses, and the server's part is undone.
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    ASSERT_EQ(set(PBS_OBJ_POLICY, "p1", "dedicated_queues", "q2"), 0);
    const std::string named = document();
    const ifl::Reply refused = change("revision", then, "queue q2");
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(text(refused), HasSubstr("policy p1"));
    EXPECT_EQ(document(), named);
    ASSERT_NE(server_->state.queue("q2"), nullptr);
    EXPECT_EQ(server_->state.server.text("default_queue"), "q2");
    // The plugin still knows the queue, too.
    EXPECT_EQ(
        manage(root(), PBS_CMD_CREATE, PBS_OBJ_POLICY, "p2", {attribute("dedicated_queues", "q2")}).code, 0);
}

TEST_F(HostHistory, OnlyManagersGoBack) {
    make_queue("q1");
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "operators", "olga@*"), 0);
    for (const char* name : {"olga", "udo"}) {
        const ifl::Reply reply =
            manage(somebody(name), PBS_CMD_SET, PBS_OBJ_CONFIGURATION, "", {attribute("revision", "1")});
        EXPECT_EQ(reply.code, PBSE_PERM) << name;
    }
    // An operator's change is in the history under the operator's name.
    ASSERT_EQ(
        manage(somebody("olga"), PBS_CMD_SET, PBS_OBJ_QUEUE, "q1", {attribute("started", "False")}).code, 0);
    EXPECT_EQ(last("user"), "olga");
}

TEST_F(HostHistory, ADocumentCarriesTheServersPart) {
    make_queue("q1", {attribute("Priority", "5")});
    ASSERT_EQ(make_resource("fuel"), 0);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "default_queue", "q1"), 0);
    const std::string text_of_all = document();
    EXPECT_THAT(text_of_all, HasSubstr("\"q1\": {\"queue_type\": \"Execution\""));
    ASSERT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_QUEUE, "q1").code, 0);
    ASSERT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_RESOURCE, "fuel").code, 0);
    make_queue("other");
    const ifl::Reply added = change("import", text_of_all);
    EXPECT_EQ(added.code, 0) << text(added);
    EXPECT_NE(server_->state.queue("other"), nullptr);
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "q1", "Priority"), "5");
    const ifl::Reply replaced = change("replace", text_of_all);
    EXPECT_EQ(replaced.code, 0) << text(replaced);
    EXPECT_EQ(server_->state.queue("other"), nullptr);
    EXPECT_EQ(document(), text_of_all);
    // A mistake in one part of a document leaves the other part unchanged, too.
    EXPECT_THAT(text(change("import", R"({"format": 1, "host": {"queue": {"q1": {"Priority": "high"}}}})")),
                HasSubstr("queue q1"));
    EXPECT_THAT(text(change("import", R"({"format": 1, "policy": {"p1": {"by_queue": "perhaps"}},
                                          "host": {"queue": {"q9": {"queue_type": "e"}}}})")),
                HasSubstr("policy p1: by_queue"));
    EXPECT_EQ(server_->state.queue("q9"), nullptr);
    EXPECT_THAT(
        text(change("import", R"({"format": 1, "host": {"node": {"n7": {"Mom": "far.example.com"}}}})")),
        HasSubstr("node n7 is left out"));
    EXPECT_EQ(document(), text_of_all);
}

// server.db is older than the history, as after a crash between the two commits. The start undoes the change.
TEST_F(HostHistory, AChangeThatIsOnlyInTheHistoryIsTakenBack) {
    make_queue("q1");
    const std::string before = document();
    const auto stop = [&] {
        plugin_->stop(server_->now());
        plugin_.reset();
        server_.reset();
        store_.reset();
    };
    const auto start = [&] {
        open_server();
        load_plugin();
        return reconcile_history(*server_);
    };
    stop();
    std::filesystem::copy_file(folder_ + "/server.db", folder_ + "/older.db");
    ASSERT_TRUE(start());
    const std::string text_of_change = R"({"format": 1, "policy": {"p1": {}},
        "host": {"queue": {"q1": {"Priority": "9"}, "q2": {"queue_type": "e"}}}})";
    ASSERT_EQ(change("import", text_of_change).code, 0);
    stop();
    for (const char* end : {"-wal", "-shm", "-mark"}) std::filesystem::remove(folder_ + "/server.db" + end);
    std::filesystem::copy_file(folder_ + "/older.db", folder_ + "/server.db",
                               std::filesystem::copy_options::overwrite_existing);
    ASSERT_TRUE(start());
    EXPECT_EQ(document(), before);
    EXPECT_THAT(last("command"), HasSubstr("rollback to revision "));
    EXPECT_EQ(last("user"), "pbs_server");
    EXPECT_THAT(log_text(), HasSubstr("it is taken back"));
    // The next start finds nothing to undo.
    const std::string rows = revision();
    stop();
    ASSERT_TRUE(start());
    EXPECT_EQ(revision(), rows);
}

TEST_F(HostHistory, WhatChangedBehindItsBackIsNoted) {
    make_queue("q1");
    make_queue("q2");
    server_->parts.plugin = nullptr;
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q1", "Priority", "4"), 0);
    server_->parts.plugin = plugin_.get();
    ASSERT_TRUE(reconcile_history(*server_));
    EXPECT_EQ(last("object"), "q1");
    EXPECT_THAT(last("after"), HasSubstr(R"("Priority":"4")"));
    EXPECT_EQ(last("command"), "server: found so, and not in the history");
    const std::string rows = revision();
    ASSERT_TRUE(reconcile_history(*server_));
    EXPECT_EQ(revision(), rows);
}

TEST_F(HostHistory, ABatchChecksWhatSingleRequestsDo) {
    const std::string before = document();
    EXPECT_NE(
        change("import", R"({"format": 1, "host": {"server": {"job_sort_formula": "rubbish((("}}})").code, 0);
    EXPECT_NE(change("import", R"({"format": 1, "host": {"node": {"@all": {"comment": "x"}}}})").code, 0);
    EXPECT_NE(change("import", R"({"format": 1, "host": {"queue": {"": {"queue_type": "e"}}}})").code, 0);
    EXPECT_THAT(text(change("import", R"({"format": 1, "host": {"sched": {"default": {"policy": "x"}}}})")),
                HasSubstr("expected outside of \"host\""));
    EXPECT_NE(manage(root(), PBS_CMD_CREATE, PBS_OBJ_NODE, "@all").code, 0);
    EXPECT_EQ(document(), before);
    // A dry run creates no folder.
    EXPECT_EQ(change("import", R"({"format": 1, "host": {"sched": {"s2": {}}}})", {}, true).code, 0);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/sched_priv_s2"));
    EXPECT_EQ(document(), before);
}

TEST_F(HostHistory, NamesOfResourcesAndAttributesAreInAnyCase) {
    ASSERT_EQ(make_resource("Fuel"), 0);
    make_queue("q1");
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q1", "resources_max.fuel", "5"), 0);
    const ifl::Reply reply =
        change("replace", R"({"format": 1, "policy": {"default_policy": {}}, "host": {"resource": {"FUEL":
        {"type": "long"}}, "queue": {"q1": {"queue_type": "e", "priority": "3", "resources_max.FUEL": "6"}}}})");
    EXPECT_EQ(reply.code, 0) << text(reply);
    EXPECT_EQ(server_->state.queue("q1")->attributes.text("Priority"), "3");
    EXPECT_NE(server_->state.resources.find("fuel"), nullptr);
    EXPECT_THAT(text(change("import", R"({"format": 1, "host": {"resource": {"a": {}, "A": {}}}})")),
                HasSubstr("there twice"));
}

TEST_F(HostHistory, AResourceGoesBackToAnotherType) {
    ASSERT_EQ(make_resource("rl"), 0);
    make_queue("q1", {attribute("resources_max.rl", "5")});
    const std::string then = revision();
    const std::string before = document();
    ASSERT_EQ(manage(root(), PBS_CMD_UNSET, PBS_OBJ_QUEUE, "q1", {attribute("resources_max.rl", "")}).code,
              0);
    ASSERT_EQ(set(PBS_OBJ_RESOURCE, "rl", "type", "size"), 0);
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q1", "resources_max.rl", "5gb"), 0);
    const ifl::Reply back = change("revision", then);
    EXPECT_EQ(back.code, 0) << text(back);
    EXPECT_EQ(document(), before);
}

// The nodes in the history have the host's earlier name.
TEST_F(HostHistory, ARollbackGoesAcrossANewNameOfTheHost) {
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "managers", "root@*"), 0);
    make_node("n1", "4");
    make_node("n2", "4");
    const std::string then = revision();
    ASSERT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_NODE, "n1").code, 0);
    ASSERT_EQ(set(PBS_OBJ_NODE, "n2", "comment", "later"), 0);
    server_->state.host_name = "renamed.example.com";
    const ifl::Reply back = change("revision", then);
    ASSERT_EQ(back.code, 0) << text(back);
    for (const char* name : {"n1", "n2"}) {
        const Node* node = server_->state.node(name);
        ASSERT_NE(node, nullptr);
        EXPECT_EQ(node->attributes.text("Mom"), "renamed.example.com") << name;
        EXPECT_EQ(node->attributes.text("resources_available", "host"), "renamed") << name;
        EXPECT_EQ(node->attributes.text("comment"), "") << name;
    }
    EXPECT_THAT(text(back), Not(HasSubstr("Warning")));
}

TEST_F(HostHistory, ANodeComesBackWithoutWhatNewOnesHave) {
    make_node("n1", "4");
    ASSERT_EQ(
        manage(root(), PBS_CMD_UNSET, PBS_OBJ_NODE, "n1", {attribute("resources_available.mem", "")}).code,
        0);
    const std::string then = revision();
    const std::string before = document();
    ASSERT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_NODE, "n1").code, 0);
    EXPECT_EQ(change("revision", then).code, 0);
    EXPECT_EQ(document(), before);
    ASSERT_EQ(manage(root(), PBS_CMD_SET, PBS_OBJ_NODE, "@default", {attribute("comment", "x")}).code, 0);
    EXPECT_EQ(last("command"), "set node @default comment = x");
}

// After random changes, the configuration of each revision that was in force can be shown and restored.
TEST_F(HostHistory, EveryRevisionCanBeShownAndReached) {
    std::mt19937 random(20261121);
    const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    const auto name = [&](const char* stem) { return stem + std::to_string(pick(3)); };
    std::map<std::string, std::string> documents;
    documents[revision()] = document();
    int reached = 0;
    for (int step = 0; step < pbs::test::cases(1000); ++step) {
        switch (pick(11)) {
            case 0:
                (void)manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, name("q"),
                             {attribute("queue_type", "e")});
                break;
            case 1:
                (void)manage(root(), PBS_CMD_DELETE, PBS_OBJ_QUEUE, name("q"));
                break;
            case 2:
                (void)set(PBS_OBJ_QUEUE, name("q"), pick(2) == 0 ? "Priority" : "partition",
                          std::to_string(pick(3)));
                break;
            case 3:
                (void)manage(root(), PBS_CMD_UNSET, PBS_OBJ_QUEUE, name("q"), {attribute("partition", "")});
                break;
            case 4:
                (void)manage(root(), pick(2) == 0 ? PBS_CMD_CREATE : PBS_CMD_DELETE, PBS_OBJ_NODE, name("n"));
                break;
            case 5:
                (void)set(PBS_OBJ_NODE, name("n"), pick(2) == 0 ? "queue" : "partition",
                          pick(2) == 0 ? name("q") : std::to_string(pick(3)));
                break;
            case 6:
                (void)set(PBS_OBJ_SERVER, "", "default_queue", name("q"));
                break;
            case 7:
                (void)manage(root(), pick(2) == 0 ? PBS_CMD_CREATE : PBS_CMD_DELETE, PBS_OBJ_SCHED,
                             name("s"));
                break;
            case 8:
                (void)set(PBS_OBJ_SCHED, name("s"), pick(2) == 0 ? "partition" : "policy",
                          pick(2) == 0 ? std::to_string(pick(3)) : "default_policy");
                break;
            case 9:
                (void)make_resource(name("r"));
                (void)set(PBS_OBJ_SERVER, "", "resources_available." + name("r"), std::to_string(pick(9)));
                break;
            default:
                (void)manage(root(), PBS_CMD_UNSET, PBS_OBJ_SERVER, "",
                             {attribute("resources_available." + name("r"), "")});
                (void)manage(root(), PBS_CMD_DELETE, PBS_OBJ_RESOURCE, name("r"));
        }
        documents[revision()] = document();
        if (step % 10 != 9) continue;
        auto at = documents.begin();
        std::advance(at, pick(static_cast<int>(documents.size())));
        EXPECT_EQ(document(at->first), at->second) << at->first;
        const ifl::Reply back = change("revision", at->first);
        ASSERT_EQ(back.code, 0) << "to " << at->first << " at step " << step << ": " << text(back);
        EXPECT_EQ(document(), at->second) << at->first << "\n" << text(back);
        documents[revision()] = document();
        ++reached;
    }
    EXPECT_EQ(reached, pbs::test::cases(100));
}

}  // namespace
}  // namespace pbs::host
