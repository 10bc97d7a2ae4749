#include "ifl/cmds/qmgr_print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/cmds/host_attributes.h"
#include "tests/cmds/status_list.h"

namespace pbs::cmds {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string list_text(ObjectType type, const batch_status* objects) {
    std::string text;
    for (; objects != nullptr; objects = objects->next) append_list_text(text, type, *objects);
    return text;
}

TEST(ListText, HasOneAttributeALine) {
    Objects objects;
    objects.add("workq", {{"queue_type", "", "Execution"}, {"resources_max", "ncpus", "4"}}).add("q2", {});
    EXPECT_EQ(list_text(ObjectType::queue, objects.get()),
              "Queue workq\n"
              "    queue_type = Execution\n"
              "    resources_max.ncpus = 4\n"
              "\n"
              "Queue q2\n"
              "\n");
}

TEST(ListText, BreaksLongListsAtCommas) {
    Objects objects;
    objects.add("default", {{"managers", "",
                             "alice@one.example.org,bob@two.example.org,carol@three.example.org,"
                             "dave@four.example.org"}});
    EXPECT_EQ(list_text(ObjectType::server, objects.get()),
              "Server default\n"
              "    managers = alice@one.example.org,bob@two.example.org,\n"
              "\tcarol@three.example.org,dave@four.example.org\n"
              "\n");
}

TEST(ListText, WritesResourceTypesAsWords) {
    Objects objects;
    objects.add("scratch", {{"type", "", "5"}, {"flag", "", "164867"}})
        .add("colour", {{"type", "", "string"}});
    EXPECT_EQ(list_text(ObjectType::resource, objects.get()),
              "Resource scratch\n    type = size\n    flag = hnm\n\nResource colour\n    type = string\n\n");
}

TEST(PrintText, CanBeReadBackAsDirectives) {
    Objects objects;
    objects.add("p1", {{"fairshare", "", "True"},
                       {"fairshare_group", "", "g1"},
                       {"node_sort_key", "", "sort_priority HIGH,ncpus HIGH"},
                       {"comment", "", "it's \"late\""}});
    const std::string text = print_text(ObjectType::policy, objects.get());
    EXPECT_EQ(text,
              "#\n# Create policies and set their attributes.\n#\n"
              "#\n# Create and define policy p1\n#\n"
              "create policy p1\n"
              "set policy p1 fairshare_group = g1\n"
              "set policy p1 fairshare = True\n"
              "set policy p1 node_sort_key = \"sort_priority HIGH,ncpus HIGH\"\n"
              "set policy p1 comment = \"it's \"'\"late\"'\n");
    DirectiveReader reader;
    std::size_t begin = 0;
    std::vector<std::string> values;
    while (begin < text.size()) {
        const std::size_t end = text.find('\n', begin);
        reader.add_line(std::string_view(text).substr(begin, end - begin));
        begin = end + 1;
        while (const auto line = reader.next()) {
            const auto directive = parse_directive(*line, is_attribute);
            ASSERT_TRUE(directive) << *line;
            for (const Assignment& attribute : directive->attributes) {
                values.push_back(attribute.value);
            }
        }
    }
    EXPECT_THAT(values, testing::ElementsAre("g1", "True", "sort_priority HIGH,ncpus HIGH", "it's \"late\""));
}

TEST(PrintText, WritesListsOfPbsElementByElement) {
    Objects objects;
    objects.add("srv", {{"scheduling", "", "True"},
                        {"managers", "", "a@x,b@y"},
                        {"total_jobs", "", "3"},
                        {"state_count", "", "Queued:3 "},
                        {"resources_default", "ncpus", "1"}});
    EXPECT_EQ(print_text(ObjectType::server, objects.get(), PrintScope::some),
              "#\n# Set server attributes.\n#\n"
              "set server scheduling = True\n"
              "set server managers = a@x\n"
              "set server managers += b@y\n"
              "set server resources_default.ncpus = 1\n");
}

TEST(PrintText, LeavesOutWhatAVnodeFoundItself) {
    Objects objects;
    objects
        .add("n1", {{"Mom", "", "h1.site.org"},
                    {"Port", "", "15002"},
                    {"state", "", "job-busy"},
                    {"jobs", "", "1/0"}})
        .add("n2", {{"Mom", "", "n2"}, {"Port", "", "15010"}, {"state", "", "down,offline"}});
    const std::string text = print_text(ObjectType::node, objects.get(), PrintScope::some);
    EXPECT_THAT(text, HasSubstr("create node n1 Mom=h1.site.org\n"));
    EXPECT_THAT(text, HasSubstr("create node n2 Port=15010\nset node n2 state = offline\n"));
    EXPECT_THAT(text, Not(HasSubstr("job-busy")));
    EXPECT_THAT(text, Not(HasSubstr("jobs")));
}

TEST(PrintText, DoesNotCreateWhatIsAlwaysThere) {
    Objects sched;
    sched.add("default", {{"policy", "", "default_policy,p:p1"}}).add("s2", {{"scheduling", "", "True"}});
    const std::string text = print_text(ObjectType::sched, sched.get(), PrintScope::some);
    EXPECT_THAT(text, Not(HasSubstr("create sched default")));
    EXPECT_THAT(text, HasSubstr("set sched policy = \"default_policy,p:p1\"\n"));
    EXPECT_THAT(text, HasSubstr("create sched s2\nset sched s2 scheduling = True\n"));
    Objects policy;
    policy.add("default_policy", {{"by_queue", "", "True"}});
    EXPECT_THAT(print_text(ObjectType::policy, policy.get()), Not(HasSubstr("create policy")));
}

// Prints the folders of a scheduler without the path of the server's home, as a server with another home may
// read the directives.
TEST(PrintText, FoldersOfSchedulersHaveNoPath) {
    Objects sched;
    sched
        .add("default", {{"sched_priv", "", "/var/spool/pbs/sched_priv"},
                         {"sched_log", "", "/var/spool/pbs/sched_logs"}})
        .add("s2", {{"sched_priv", "", "/var/spool/pbs/sched_priv_s2"},
                    {"sched_log", "", "/var/spool/pbs/sched_logs_s2"}})
        .add("s3", {{"sched_priv", "", "/var/spool/pbs/sched_priv_x"},
                    {"sched_log", "", "/var/spool/pbs/sched_logs_s3"}})
        .add("s4",
             {{"sched_priv", "", "/data/sched_priv_s4"}, {"sched_log", "", "/var/spool/pbs/sched_logs_s4"}});
    const std::string text = print_text(ObjectType::sched, sched.get(), PrintScope::some);
    EXPECT_THAT(text, Not(HasSubstr("/var/spool")));
    EXPECT_THAT(text, HasSubstr("create sched s2\n#"));
    EXPECT_THAT(text, HasSubstr("set sched s3 sched_priv = sched_priv_x\n"));
    EXPECT_THAT(text, HasSubstr("set sched s4 sched_priv = /data/sched_priv_s4\n"))
        << "elsewhere, as root chose";
}

TEST(PrintText, UnsetsWhatANewObjectWouldHave) {
    Objects sched;
    sched.add("default", {{"scheduling", "", "True"}})
        .add("s2", {{"policy", "", "p1"}, {"scheduling", "", "True"}});
    EXPECT_EQ(
        print_text(ObjectType::sched, sched.get()),
        "#\n# Create schedulers and set their attributes.\n#\n"
        "#\n# Create and define sched default\n#\n"
        "unset sched policy\nunset sched scheduler_iteration\nset sched scheduling = True\n"
        "#\n# Create and define sched s2\n#\ncreate sched s2\n"
        "unset sched s2 scheduler_iteration\nset sched s2 policy = p1\nset sched s2 scheduling = True\n");
    Objects server;
    server.add("srv", {{"resources_default", "mem", "1gb"}});
    EXPECT_THAT(print_text(ObjectType::server, server.get()),
                HasSubstr("unset server resources_default.ncpus\n"));
}

TEST(PrintText, EnablesARouteQueueAfterItHasDestinations) {
    Objects queue;
    queue.add("r", {{"queue_type", "", "Route"}, {"enabled", "", "True"}, {"route_destinations", "", "a,b"}});
    EXPECT_THAT(print_text(ObjectType::queue, queue.get()),
                HasSubstr("set queue r queue_type = Route\nset queue r route_destinations = a\n"
                          "set queue r route_destinations += b\nset queue r enabled = True\n"));
}

TEST(PrintText, WritesBothKindsOfQuotesSoThatPbsReadsThem) {
    Objects server;
    server.add("srv", {{"comment", "", "it's \"late\", 'isn't it"}});
    EXPECT_THAT(print_text(ObjectType::server, server.get()),
                HasSubstr("set server comment = \"it's \"\n"
                          "set server comment += '\"late\", '\n"
                          "set server comment += \"'isn't it\"\n"));
}

TEST(PrintText, SaysWhereALineBreakIsLost) {
    Objects server;
    server.add("srv", {{"comment", "", "one\ntwo"}});
    EXPECT_THAT(print_text(ObjectType::server, server.get()),
                HasSubstr("# comment has line breaks, which a directive can't have: blanks stand for them.\n"
                          "set server comment = \"one two\"\n"));
}

TEST(CustomResources, FollowTheMarker) {
    Objects with;
    with.add("ncpus", {}).add("|unknown|", {}).add("mine", {});
    EXPECT_STREQ(custom_resources(with.get())->name, "mine");
    Objects without;
    without.add("mine", {});
    EXPECT_STREQ(custom_resources(without.get())->name, "mine");
    Objects none;
    none.add("ncpus", {}).add("|unknown|", {});
    EXPECT_EQ(custom_resources(none.get()), nullptr);
}

}  // namespace
}  // namespace pbs::cmds
