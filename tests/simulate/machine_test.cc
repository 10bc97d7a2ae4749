#include "tools/simulate/machine.h"

#include <gmock/gmock.h>

namespace pbs::simulate {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kDocument = R"({"format": 1, "host": {
  "server": {"default_queue": "route"},
  "queue": {"route": {"queue_type": "Route", "route_destinations": "work,other"},
            "work": {"queue_type": "Execution", "started": "True", "resources_max.walltime": "24:00:00"}},
  "node": {"n1": {"resources_available.ncpus": "4", "resources_available.mem": "8gb"},
           "n2": {"resources_available.ncpus": "4"},
           "n3": {"resources_available.ncpus": "16", "state": "offline"}},
  "resource": {"gpus": {"type": "long", "flag": "hn"}, "team": {"type": "string"}},
  "sched": {"default": {"scheduler_iteration": "00:05:00"}}}})";

TEST(Machine, IsReadFromADocument) {
    const auto machine = read_machine(kDocument, "site.json");
    ASSERT_TRUE(machine) << machine.error();
    const auto cluster = Cluster::make(*machine);
    ASSERT_TRUE(cluster) << cluster.error();
    EXPECT_EQ(cluster->cpus(), 8) << "those of an offline vnode don't count";
    EXPECT_EQ(cluster->vnodes(), 2U);
    EXPECT_EQ(cluster->cpus_of_a_vnode(), 4);
    EXPECT_TRUE(cluster->has_memory());
    ASSERT_EQ(cluster->scheds().size(), 1U);
    EXPECT_EQ(cluster->scheds()[0].iteration, 300);
    ASSERT_NE(cluster->resource("gpus"), nullptr);
    EXPECT_TRUE(cluster->resources()[*cluster->resource("gpus")].consumable);
    EXPECT_FALSE(cluster->resources()[*cluster->resource("team")].consumable);
    ASSERT_NE(cluster->entry(""), nullptr);
    EXPECT_EQ(cluster->entry("")->name, "work") << "by the first way of the route queue";
    EXPECT_EQ(cluster->entry("nowhere"), nullptr);
    EXPECT_EQ(cluster->queue(cluster->handle(*cluster->entry("work"))).name, "work");
}

TEST(Machine, RoutesInACircleLeadNowhere) {
    Machine machine;
    machine.queues["a"] = {{"queue_type", "Route"}, {"route_destinations", "b"}};
    machine.queues["b"] = {{"queue_type", "Route"}, {"route_destinations", "a"}};
    EXPECT_EQ(Cluster::make(machine)->entry("a"), nullptr);
}

TEST(Machine, CpusAreSharedAmongTheNodes) {
    Machine machine;
    add_nodes(machine, 3, 8, 1024);
    std::map<std::string, std::string> cpus;
    for (const auto& [name, values] : machine.nodes) {
        cpus[name] = values.at("resources_available.ncpus");
        EXPECT_EQ(values.at("resources_available.mem"), "1024b");
    }
    EXPECT_THAT(cpus, UnorderedElementsAre(Pair("n1", "3"), Pair("n2", "3"), Pair("n3", "2")));
}

TEST(Machine, AmountsAreOfTheirKind) {
    const auto cluster = *Cluster::make(*read_machine(kDocument, "site.json"));
    EXPECT_EQ(cluster.amount("mem", "2kb")->number, 2048);
    EXPECT_EQ(cluster.amount("walltime", "01:00:00")->number, 3600);
    EXPECT_EQ(cluster.amount("gpus", "3")->number, 3);
    EXPECT_EQ(cluster.amount("team", "red")->text, "red");
    EXPECT_THAT(cluster.amount("gpus", "many").error(),
                HasSubstr("gpus: found 'many', expected a whole number"));
    EXPECT_THAT(cluster.amount("colour", "red").error(), HasSubstr("unknown resource colour"));
}

TEST(Machine, WrongDocumentsAreRefusedWithTheirPlace) {
    EXPECT_THAT(read_machine("nonsense", "f").error(), HasSubstr("f: not JSON"));
    EXPECT_THAT(read_machine(R"({"host": 1})", "f").error(), HasSubstr("f: host: found number"));
    EXPECT_THAT(read_machine(R"({"host": {"car": {}}})", "f").error(),
                HasSubstr("f: host: car: unknown key"));
    EXPECT_THAT(read_machine(R"({"host": {"queue": {"q": {"started": true}}}})", "f").error(),
                HasSubstr("f: host: queue q: started: found boolean, expected a string"));
    Machine machine;
    machine.nodes["n1"] = {{"resources_available.ncpus", "four"}};
    EXPECT_THAT(Cluster::make(machine).error(),
                HasSubstr("node n1: resources_available.ncpus: found 'four', expected a whole number"));
    machine = {};
    machine.resources["x"] = {{"type", "number"}};
    EXPECT_THAT(Cluster::make(machine).error(), HasSubstr("resource x: type: found 'number'"));
}

TEST(Machine, WhatTheSchedulerIsToldIsChecked) {
    sched::Scheduler scheduler(rrule::Zone::utc());
    Machine machine;
    machine.queues["q"] = {{"resources_max.walltime", "soon"}};
    EXPECT_THAT(Cluster::make(machine)->tell(scheduler).error(),
                HasSubstr("queue q: resources_max: walltime: found 'soon'"));
    machine = {};
    machine.nodes["n"] = {{"queue", "gone"}};
    EXPECT_THAT(Cluster::make(machine)->tell(scheduler).error(), HasSubstr("node n: queue: found 'gone'"));
    machine = {};
    machine.server["max_running"] = "x";
    EXPECT_THAT(Cluster::make(machine)->tell(scheduler).error(), HasSubstr("server: max_running: found 'x'"));
}

}  // namespace
}  // namespace pbs::simulate
