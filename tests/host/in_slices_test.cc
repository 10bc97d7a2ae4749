// Tests requests that change many objects in steps. Other requests are answered in between. In the end the
// whole change has been made, or nothing of it.
#include "server_plugin/host/requests/in_slices.h"

#include <fmt/format.h>

#include "server_plugin/client/backup_folders.h"
#include "server_plugin/host/state/configuration.h"
#include "tests/allocations_left.h"
#include "tests/host/plugin_fixture.h"
#include "tests/windows.h"
#include "values/number.h"

namespace pbs::host {
namespace {
using ::testing::HasSubstr;

class InSlices : public PluginServerTest {
  protected:
    // A request that is answered in steps, as on a connection.
    struct Asking {
        Asking(InSlices& test, int command, int type, ifl::Attributes attributes, std::string name = {})
            : who(test.root()),
              request{ifl::RequestType::manager,
                      who.user,
                      ifl::Manage{static_cast<uint32_t>(command), static_cast<uint32_t>(type),
                                  std::move(name), std::move(attributes)},
                      {}},
              context{*test.server_, who, test.server_->now(), request, session} {
            reply = begin_answer(context);
        }
        // Does one step. Returns false when the request is answered.
        bool step() {
            ifl::StatusParts parts;
            std::optional<ifl::Reply> made;
            if (context.rest == nullptr) return false;
            const auto left = go_on(context, parts, false, made);
            if (made) reply = std::move(*made);
            if (left == Steps::Remaining::later) usleep(1000);
            if (left == Steps::Remaining::nothing) context.rest.reset();
            return left != Steps::Remaining::nothing;
        }
        int finish() {
            while (step()) continue;
            return reply.code;
        }

        Identity who;
        ifl::Request request;
        Session session;
        Context context;
        ifl::Reply reply;
    };

    void make_nodes(int count) {
        for (int i = 0; i < count; ++i) make_node(fmt::format("n{}", i), "4");
    }
    std::string comment(const std::string& node) {
        return std::string(server_->state.node(node)->attributes.text("comment"));
    }
    std::unique_ptr<Asking> comment_all(const std::string& value) {
        return std::make_unique<Asking>(*this, PBS_CMD_SET, PBS_OBJ_NODE,
                                        ifl::Attributes{attribute("comment", value)});
    }
    std::unique_ptr<Asking> import(const std::string& document) {
        return std::make_unique<Asking>(*this, PBS_CMD_SET, PBS_OBJ_CONFIGURATION,
                                        ifl::Attributes{attribute("import", document)});
    }
    static std::string nodes_document(int count) {
        std::string nodes;
        for (int i = 0; i < count; ++i)
            nodes += fmt::format(R"({}"m{}": {{"resources_available.ncpus": "2", "queue": "q1"}})",
                                 i == 0 ? "" : ", ", i);
        return R"({"format": 1, "policy": {"night": {}}, "host": {"queue": {"q1": {"queue_type": "e"}}, "node": {)" +
               nodes + "}}}";
    }
    // Runs a job that requests this vnode. Returns its exec_vnode.
    std::string run_on(const std::string& node) {
        for (const char* name : {"enabled", "started"}) EXPECT_EQ(set(PBS_OBJ_QUEUE, "q1", name, "t"), 0);
        const std::string id =
            submit(user(), {attribute("Resource_List.select", "1:ncpus=2:vnode=" + node)}, "q1");
        EXPECT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "", 0}).code, 0);
        return job_shows(id, "exec_vnode");
    }
    HostConfiguration all() const { return host_configuration(server_->state, folder_); }
    // Returns an attribute of the history's last change.
    std::string last_change(std::string_view name) {
        const ifl::Reply reply =
            ask(root(), ifl::RequestType::status_scheduler, ifl::Status{"", {}}, "object=history;limit=1");
        for (const ifl::Attribute& one : std::get<ifl::StatusReply>(reply.body).objects.back().attributes)
            if (one.name == name) return one.value;
        return "";
    }
    std::string last_command() { return last_change("command"); }
    int64_t last_time() { return values::number<int64_t>(last_change("time")).value_or(0); }
};

// When a change is made, what it has set aside in the database is moved to its places, in transactions of its
// own. An allocation there that fails leaves no transaction open.
TEST_F(InSlices, LackOfMemoryBehindAChangeRefusesNoLaterChange) {
    bool fails = true;
    for (long at = 1; fails; ++at) {
        auto change = import(nodes_document(static_cast<int>(at) + 30));
        const std::string added = fmt::format("m{}", at + 29);
        while (server_->state.node(added) == nullptr) ASSERT_TRUE(change->step());
        allocations_left = at;
        const int code = change->finish();
        fails = std::exchange(allocations_left, 0) == 0;
        EXPECT_EQ(code, 0) << "the change is made, whatever failed behind it: " << at;
        change.reset();
        ASSERT_EQ(set(PBS_OBJ_SERVER, "", "comment", std::to_string(at)), 0) << at;
    }
}

TEST_F(InSlices, OtherRequestsAreAnsweredBetweenTheSlicesOfALongOne) {
    make_queue("work");
    make_nodes(120);
    auto change = comment_all("x");
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(change->step());
    // The change isn't visible yet. Jobs can be submitted, and other changes of the server wait.
    EXPECT_EQ(comment("n0"), "");
    EXPECT_EQ(submit(user(), {}, "work"), "0.svr");
    Asking other(*this, PBS_CMD_SET, PBS_OBJ_SERVER, {attribute("comment", "later")});
    EXPECT_TRUE(other.step());
    EXPECT_EQ(server_->state.server.text("comment"), "");
    // Changes of the plugin's objects alone don't wait.
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_EQ(change->finish(), 0);
    for (int i = 0; i < 120; ++i) EXPECT_EQ(comment(fmt::format("n{}", i)), "x");
    EXPECT_EQ(last_command(), "set node @default comment = x");
    EXPECT_TRUE(server_->cycles_wanted());
    EXPECT_EQ(other.finish(), 0);
    EXPECT_EQ(server_->state.server.text("comment"), "later");
    const HostConfiguration now = all();
    open_server();
    EXPECT_EQ(all(), now);
}

TEST_F(InSlices, AllQueuesAreSetOneAfterTheOther) {
    for (int i = 0; i < 60; ++i) make_queue(fmt::format("q{}", i));
    const auto priorities = [&] {
        int count = 0;
        for (const auto& [name, queue] : server_->state.queues())
            if (queue.attributes.text("Priority") == "5") ++count;
        return count;
    };
    const ifl::Attributes attributes = {attribute("Priority", "5"), attribute("acl_users", "mary")};
    Asking change(*this, PBS_CMD_SET, PBS_OBJ_QUEUE, attributes);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(change.step());
    EXPECT_EQ(priorities(), 0);
    EXPECT_EQ(submit(user(), {}, "q1"), "0.svr");
    EXPECT_EQ(change.finish(), 0);
    EXPECT_EQ(priorities(), 60);
    EXPECT_EQ(last_command(), "set queue @default Priority = 5, acl_users = mary");
    const std::string warnings = std::get<ifl::TextReply>(change.reply.body).text;
    EXPECT_THAT(warnings, HasSubstr("queue q59: acl_users has no effect without acl_user_enable"));
    EXPECT_EQ(std::ranges::count(warnings, '\n'), 59);
    change.context.rest.reset();
    // Queue q0 has a job, so the change of all queues is refused.
    Asking refused(*this, PBS_CMD_SET, PBS_OBJ_QUEUE,
                   {attribute("Priority", "6"), attribute("queue_type", "Route"),
                    attribute("route_destinations", "q5")});
    EXPECT_EQ(refused.finish(), PBSE_OBJBUSY);
    EXPECT_EQ(priorities(), 60);
    refused.context.rest.reset();
    Asking windows(*this, PBS_CMD_SET, PBS_OBJ_QUEUE, {attribute("time_window", "t1")});
    EXPECT_EQ(windows.finish(), PBSE_IVALREQ);
}

TEST_F(InSlices, ARefusalLeavesAllAsItWas) {
    make_nodes(120);
    ASSERT_EQ(set(PBS_OBJ_NODE, "n0", "comment", "first"), 0);
    auto change =
        std::make_unique<Asking>(*this, PBS_CMD_SET, PBS_OBJ_NODE,
                                 ifl::Attributes{attribute("comment", "x"), attribute("queue", "nowhere")});
    EXPECT_EQ(change->finish(), PBSE_UNKQUE);
    EXPECT_EQ(comment("n0"), "first");
    EXPECT_EQ(comment("n1"), "");
    EXPECT_EQ(set(PBS_OBJ_NODE, "n1", "comment", "y"), 0);
}

TEST_F(InSlices, ALongDocumentIsReadInAThread) {
    const std::string blanks(200'000, ' ');
    EXPECT_EQ(import(nodes_document(3) + blanks)->finish(), 0);
    EXPECT_EQ(server_->state.nodes().size(), 3U);
    auto wrong = import(R"({"format": 1, "host": {"node": 5}})" + blanks);
    EXPECT_EQ(wrong->finish(), PBSE_BADATVAL);
    EXPECT_THAT(std::get<ifl::TextReply>(wrong->reply.body).text, HasSubstr("host: node: found number"));
    wrong.reset();
    import(nodes_document(4) + blanks)->step();  // the client closes its connection
    EXPECT_EQ(set(PBS_OBJ_NODE, "m0", "comment", "x"), 0);
    EXPECT_EQ(server_->state.nodes().size(), 3U);
}

TEST_F(InSlices, WhatIsGivenUpHasNotHappened) {
    const HostConfiguration before = all();
    const std::string document = nodes_document(150);
    for (const int steps : {1, 200, 310, 1000}) {
        auto change = import(document);
        for (int i = 0; i < steps && server_->state.node("m0") == nullptr; ++i) change->step();
        if (server_->state.node("m0") != nullptr) continue;
        change.reset();
        EXPECT_EQ(all(), before);
    }
    EXPECT_EQ(import(document)->finish(), 0);
    EXPECT_EQ(server_->state.nodes().size(), 150U);
}

// One crash comes before the change is in force. Another comes while its objects are moved to their places in
// the database.
TEST_F(InSlices, AfterACrashAllHoldsOrNothing) {
    const HostConfiguration before = all();
    {
        auto change = import(nodes_document(150));
        for (int i = 0; i < 320; ++i) ASSERT_TRUE(change->step());
        ASSERT_EQ(server_->state.node("m0"), nullptr);
    }
    open_server();
    EXPECT_EQ(all(), before);
    server_->parts.plugin = plugin_.get();
    HostConfiguration after;
    {
        auto change = import(nodes_document(150));
        while (server_->state.node("m0") == nullptr) ASSERT_TRUE(change->step());
        ASSERT_TRUE(change->context.rest != nullptr) << "there is something left to be brought to its place";
        after = all();
    }
    open_server();
    EXPECT_EQ(all(), after);
    EXPECT_EQ(server_->state.nodes().size(), 150U);
    open_server();
    EXPECT_EQ(all(), after);
}

// The plugin gets a thousand changed objects at a time. Until it has all, it gets no requests for cycles or
// explanations.
TEST_F(InSlices, ThePluginIsToldOfItInSteps) {
    auto change = import(nodes_document(1200));
    while (server_->state.node("m0") == nullptr) ASSERT_TRUE(change->step());
    int steps = 0;
    for (; server_->placing > 0; ++steps) ASSERT_TRUE(change->step());
    EXPECT_EQ(steps, 4) << "what is gone, what is, and what resources are gone, of 1,201 objects";
    EXPECT_EQ(change->finish(), 0);
    EXPECT_EQ(run_on("m1199"), "(m1199:ncpus=2)");
}
TEST_F(InSlices, ThePluginIsToldOfAllOfItThoughWhoAskedHasLeft) {
    auto change = import(nodes_document(1200));
    while (server_->state.node("m0") == nullptr) ASSERT_TRUE(change->step());
    EXPECT_EQ(server_->placing, 1U);
    change.reset();
    EXPECT_EQ(server_->placing, 0U);
    EXPECT_EQ(run_on("m1199"), "(m1199:ncpus=2)");
}

// A second change is made while objects of the first one are moved to their places in the database. The
// second change takes place after the first.
TEST_F(InSlices, ALaterChangeStays) {
    {
        auto change = import(nodes_document(150));
        while (server_->state.node("m0") == nullptr) ASSERT_TRUE(change->step());
    }
    // The first change's client has closed its connection.
    EXPECT_TRUE(server_->cycles_wanted());
    Asking later(*this, PBS_CMD_SET, PBS_OBJ_SERVER, {attribute("comment", "later")});
    EXPECT_TRUE(later.step()) << "a part of what is left is a step";
    EXPECT_EQ(later.finish(), 0);
    ASSERT_EQ(set(PBS_OBJ_NODE, "m149", "comment", "later"), 0);
    open_server();
    EXPECT_EQ(comment("m149"), "later");
    EXPECT_EQ(server_->state.server.text("comment"), "later");
}

// While the plugin works on its part, which is about windows, the server's part becomes impossible.
TEST_F(InSlices, WhatTheServerRefusesAfterAllKeepsNobodyWaiting) {
    const auto windows = pbs::test::yearly_windows(300);
    ASSERT_EQ(import(windows.document)->finish(), 0);
    make_queue("gone");
    for (int i = 0; i < 4; ++i) {
        make_queue(fmt::format("w{}", i));
        ASSERT_EQ(set(PBS_OBJ_QUEUE, fmt::format("w{}", i), "time_window", windows.names), 0);
    }
    Asking days(*this, PBS_CMD_SET, PBS_OBJ_SERVER,
                {attribute("non_work_days", "12/24"), attribute("default_queue", "gone")});
    ASSERT_TRUE(days.step());
    ifl::Attribute print = attribute("migrate", "print\ncreate queue made\nset queue made queue_type = e\n");
    print.resource = "qmgr_print";
    Asking migration(*this, PBS_CMD_SET, PBS_OBJ_CONFIGURATION, {print});
    EXPECT_TRUE(migration.step()) << "it waits";
    server_->state.erase_queue("gone");
    EXPECT_EQ(days.finish(), PBSE_UNKQUE);
    days.context.rest.reset();
    EXPECT_EQ(migration.finish(), 0);
    EXPECT_NE(server_->state.queue("made"), nullptr);
    Asking later(*this, PBS_CMD_SET, PBS_OBJ_SERVER, {attribute("comment", "later")});
    for (int i = 0; i < 5000 && later.step(); ++i) continue;
    EXPECT_EQ(later.reply.code, 0);
    EXPECT_EQ(server_->state.server.text("comment"), "later");
}

// The plugin compares the windows of a new queue in a thread, like those of an existing queue.
TEST_F(InSlices, AQueueIsMadeWithWindowsThatTakeLongToCompare) {
    const auto windows = pbs::test::daily_windows(400);
    ASSERT_EQ(import(windows.document)->finish(), 0);
    const ifl::Attributes attributes = {attribute("queue_type", "e"), attribute("Priority", "5"),
                                        attribute("time_window", windows.names)};
    Asking queue(*this, PBS_CMD_CREATE, PBS_OBJ_QUEUE, attributes, "timed");
    while (!plugin_->busy()) ASSERT_TRUE(queue.step()) << "it waits for the thread";
    EXPECT_EQ(server_->state.queue("timed"), nullptr);
    EXPECT_EQ(queue.finish(), 0);
    ASSERT_NE(server_->state.queue("timed"), nullptr);
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "timed", "time_window"), windows.names);
    EXPECT_THAT(last_command(), HasSubstr("create queue timed queue_type = e, Priority = 5, time_window = "));
    // If the client closes its connection meanwhile, the queue isn't made.
    {
        Asking given_up(*this, PBS_CMD_CREATE, PBS_OBJ_QUEUE, attributes, "other");
        ASSERT_TRUE(given_up.step());
    }
    EXPECT_EQ(server_->state.queue("other"), nullptr);
    Asking again(*this, PBS_CMD_CREATE, PBS_OBJ_QUEUE, attributes, "other");
    EXPECT_EQ(again.finish(), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "other", "Priority"), "5");
}

// A change that had to wait has the time at which it is made, not that of its request: else times would go
// back in the history, and in what the scheduler is told.
TEST_F(InSlices, AChangeThatHasWaitedHasTheTimeAtWhichItIsMade) {
    make_nodes(120);
    auto change = comment_all("x");
    ASSERT_TRUE(change->step());
    Asking off(*this, PBS_CMD_SET, PBS_OBJ_NODE, {attribute("state", "offline")}, "n0");
    ifl::Attributes configuration = {attribute("import", R"({"format": 1, "policy": {"night": {}}})")};
    Asking document(*this, PBS_CMD_SET, PBS_OBJ_CONFIGURATION, std::move(configuration));
    ASSERT_TRUE(off.step());
    ASSERT_TRUE(document.step());
    const int64_t after = server_->now() + 5000;
    move_clock(5000);
    EXPECT_EQ(change->finish(), 0);
    EXPECT_GE(last_time(), after) << "of the change in slices";
    EXPECT_EQ(off.finish(), 0);
    EXPECT_GE(server_->state.node("n0")->last_state_change, after);
    EXPECT_EQ(document.finish(), 0);
    EXPECT_GE(last_time(), after) << "of the import";
}

TEST_F(InSlices, ABackupIsNamedByTheTimeOfItsCopy) {
    server_->options.program = "/bin/true";
    Asking backup(*this, PBS_CMD_SET, PBS_OBJ_CONFIGURATION, {attribute("backup", "True")});
    ASSERT_TRUE(backup.step()) << "it looks for remains of an earlier backup";
    const std::string all = folder_ + "/server_priv/backups";
    const std::string after = client::new_backup_folder(all, server_->now() + 5000);
    move_clock(5000);
    ASSERT_EQ(backup.finish(), 0);
    // The names of backups sort by time.
    EXPECT_GE(std::get<ifl::TextReply>(backup.reply.body).text, "backup " + after);
}

// Requests that need the plugin wait while the plugin works on another client's change.
TEST_F(InSlices, WhatThePluginHasNoTimeForWaits) {
    const auto ask_plugin = [this] {
        std::string warning;
        auto done = plugin_->manager(server_->now(), PBS_CMD_SET, PBS_OBJ_CONFIGURATION, {},
                                     {attribute("import", R"({"format": 1, "policy": {"p1": {}}})")}, root(),
                                     {}, warning, {}, 4711);
        return !done && done.error().code == PBSE_TRYAGAIN;
    };
    const auto begin = [&] {
        while (!plugin_->busy()) ASSERT_TRUE(ask_plugin());
    };
    const auto end = [&] {
        while (ask_plugin()) usleep(1000);
    };
    ifl::Attribute print =
        attribute("migrate", "print\ncreate queue p_made\nset queue p_made queue_type = e\n");
    print.resource = "qmgr_print";
    ifl::Attribute config = attribute("migrate", "config\nprimetime_prefix: p_\n");
    config.resource = "sched_config";
    begin();
    Asking migration(*this, PBS_CMD_SET, PBS_OBJ_CONFIGURATION, {print, config});
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(migration.step());
    EXPECT_EQ(server_->state.queue("p_made"), nullptr);
    end();
    while (server_->state.queue("p_made") == nullptr) ASSERT_TRUE(migration.step());
    // The last step of the migration, which sets execution types of queues, waits as well.
    begin();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(migration.step());
    end();
    EXPECT_EQ(migration.finish(), 0);
    EXPECT_EQ(server_->state.queue("p_made")->attributes.text("execution_type"), "execution_prime");

    auto document = import(R"({"format": 1, "host": {"queue": {"q1": {"queue_type": "e"}},)"
                           R"( "server": {"job_sort_formula": "ncpus * 2"}}})");
    ASSERT_TRUE(document->step());
    begin();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(document->step());
    end();
    EXPECT_EQ(document->finish(), 0);
    EXPECT_EQ(server_->state.server.text("job_sort_formula"), "ncpus * 2");
}

TEST_F(InSlices, AJobThatComesMeanwhileKeepsItsQueue) {
    make_queue("work");
    const std::string then = [&] {
        const ifl::Reply reply =
            ask(root(), ifl::RequestType::status_scheduler, ifl::Status{"", {}}, "object=history;limit=1");
        return std::get<ifl::StatusReply>(reply.body).objects.back().name;
    }();
    make_queue("more");
    make_nodes(60);
    auto change = std::make_unique<Asking>(*this, PBS_CMD_SET, PBS_OBJ_CONFIGURATION,
                                           ifl::Attributes{attribute("revision", then)});
    // After these steps the change has removed the queue in its own tables, but isn't in force yet.
    for (int i = 0; i < 130; ++i) ASSERT_TRUE(change->step());
    EXPECT_EQ(submit(user(), {}, "more"), "0.svr");
    EXPECT_EQ(change->finish(), PBSE_OBJBUSY);
    EXPECT_THAT(std::get<ifl::TextReply>(change->reply.body).text,
                HasSubstr("queue more: a job has come meanwhile, nothing has changed"));
    change.reset();
    EXPECT_NE(server_->state.queue("more"), nullptr);
    EXPECT_EQ(server_->state.nodes().size(), 60U);
    EXPECT_EQ(server_->state.queue_jobs(server_->state.queue("more")->handle).size(), 1U);
}

}  // namespace
}  // namespace pbs::host
