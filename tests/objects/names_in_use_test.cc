#include "objects/names_in_use.h"

#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NamesInUse : public StoreTest {
  protected:
    NamesInUse() { run("c p p1"); }
    std::string policy(std::string_view attribute) { return shown(ObjectType::policy, "p1", attribute); }
};

// Checks each policy attribute whose value names a queue.
TEST_F(NamesInUse, QueuesHaveToExistInEveryAttributeThatNamesOne) {
    for (const char* name : {"dedicated_queues", "batch_queues", "external_queues", "submit_queue",
                             "special_queue", "background_queue_name", "challenge_queue_name"}) {
        const std::string set = std::string("s p p1 ") + name;
        EXPECT_EQ(refused(set + "=nowhere").message,
                  fmt::format("policy p1: {}: bad value 'nowhere': there is no queue 'nowhere'", name));
        EXPECT_THAT(refused(set + "=nowhere@host").message, HasSubstr("there is no queue 'nowhere'"));
        run(set + "=workq@elsewhere.bar.com");
        run(set + "=workq");
    }
    for (const Attribute& attribute : attributes(ObjectType::policy)) {
        if (attribute.syntax != Syntax::queue && attribute.syntax != Syntax::queue_list) continue;
        EXPECT_EQ(policy(attribute.name), "workq") << attribute.name;
    }
    EXPECT_THAT(refused("s p p1 peer_queue=\"nowhere workq@svr1\"").message,
                HasSubstr("there is no queue 'nowhere'"));
    run("s p p1 peer_queue=\"workq nowhere@svr1\"");
}

TEST_F(NamesInUse, QueuesComeAndGoWithTheServers) {
    store_->define_queue("night");
    run("s p p1 dedicated_queues=\"night,workq\"");
    store_->forget_queue("night");
    // a value may keep the name of a deleted queue, but once removed, the name can't be added again
    run("s p p1 dedicated_queues+=queue1, comment=x");
    run("s p p1 dedicated_queues-=workq");
    EXPECT_EQ(policy("dedicated_queues"), "night,queue1");
    run("s p p1 dedicated_queues-=night");
    refused("s p p1 dedicated_queues+=night");
}

TEST_F(NamesInUse, AQueueThatAPolicyNamesIsNotDeleted) {
    run("s p p1 dedicated_queues=\"queue1,workq@here\", submit_queue=workq");
    run("c p p2 peer_queue=\"workq b@svr\"");
    const Error error = refused("d q workq");
    EXPECT_EQ(error.code, Code::busy);
    EXPECT_EQ(error.message,
              "queue workq is in use by policy p1 (dedicated_queues), policy p1 (submit_queue), policy p2 "
              "(peer_queue)");
    refused("d q queue1");
    run("d q queue2");
    run("d p p2");
    run("u p p1 submit_queue, dedicated_queues");
    run("d q workq");
}

TEST_F(NamesInUse, AResourceThatAnObjectNamesIsNotDeleted) {
    store_->define_resource("fuel");
    ASSERT_TRUE(store_->check_resource_unused("fuel"));
    const auto holds = [&](std::string_view set, std::string_view unset, std::string_view user) {
        run(set);
        const auto checked = store_->check_resource_unused("fuel");
        ASSERT_FALSE(checked) << set;
        EXPECT_EQ(checked.error().code, Code::busy);
        EXPECT_EQ(checked.error().message, fmt::format("resource fuel is in use by {}", user));
        run(unset);
        EXPECT_TRUE(store_->check_resource_unused("fuel")) << set;
    };
    holds("s p p1 job_sort_formula=\"2*fuel+ncpus\"", "u p p1 job_sort_formula",
          "policy p1 (job_sort_formula)");
    holds("s p p1 job_sort_key=\"ncpus HIGH, fuel LOW\"", "u p p1 job_sort_key", "policy p1 (job_sort_key)");
    holds("s p p1 node_sort_key=\"fuel LOW unused\"", "u p p1 node_sort_key", "policy p1 (node_sort_key)");
    holds("s p p1 exclude_resources=\"mem,fuel\"", "u p p1 exclude_resources",
          "policy p1 (exclude_resources)");
    holds(fmt::format("s p p1 server_dyn_res=\"fuel !{}\"", program("level")), "u p p1 server_dyn_res",
          "policy p1 (server_dyn_res)");
    holds("c f f1 usage_formula=fuel*walltime", "d f f1", "fs_group f1 (usage_formula)");
    // names that only contain the name `fuel`, such as fuel_max, aren't uses of the resource
    run("s p p1 job_sort_formula=ncpus");
    store_->define_resource("fuel_max");
    run("s p p1 job_sort_formula=fuel_max*2");
    EXPECT_TRUE(store_->check_resource_unused("fuel"));
    store_->forget_resource("fuel");
    refused("s p p1 job_sort_key=\"fuel HIGH\"");
}

// ngpus and the resources of OpenPBS alone count only where the server has them.
TEST_F(NamesInUse, ResourcesThatThisServerDoesNotHaveAreNone) {
    run("c quota k");
    for (const char* name : {"ngpus", "aoe", "soft_walltime", "nchunk", "energy"}) {
        const std::string none = fmt::format("'{}' is not a resource of this server", name);
        EXPECT_THAT(refused(fmt::format("s p p1 reserved_resources={}", name)).message, HasSubstr(none));
        EXPECT_THAT(refused(fmt::format("s p p1 urgency_of_resources=\"ncpus=1, {}=2\"", name)).message,
                    HasSubstr(none));
        EXPECT_THAT(refused(fmt::format("s quota k rule=\"a: to {}=1\"", name)).message, HasSubstr(none));
        store_->define_resource(name);
        run(fmt::format("s p p1 reserved_resources={}", name));
        EXPECT_FALSE(store_->check_resource_unused(name)) << name;
        run("u p p1 reserved_resources");
        store_->forget_resource(name);
        refused(fmt::format("s p p1 reserved_resources={}", name));
    }
}

TEST_F(NamesInUse, QueuesWithSharesOrTicketsExist) {
    for (const char* attribute : {"functional_shares", "override_tickets"}) {
        EXPECT_EQ(refused(fmt::format("s p p1 {}=\"[u:nix=1],[q:nix=1]\"", attribute)).message,
                  fmt::format("policy p1: {}: bad value '[q:nix=1]': there is no queue 'nix'", attribute));
        run(fmt::format("s p p1 {}=\"[u:nix=1],[q:PBS_GENERIC=2],[q:workq=1]\"", attribute));
        EXPECT_EQ(refused("d q workq").message,
                  fmt::format("queue workq is in use by policy p1 ({})", attribute));
        run(fmt::format("u p p1 {}", attribute));
    }
}

// The server's change of a resource's definition, as it reports it for the history.
Command redefinition(const std::string& name, const std::string& before, const std::string& after) {
    const auto json = [](const std::string& type) {
        return fmt::format(R"({{"flag":"q","type":"{}"}})", type);
    };
    Command command;
    command.kind = CommandKind::set;
    command.type = ObjectType::resource;
    command.object = name;
    command.text = "set resource " + name;
    command.host = {{ObjectType::resource, name, json(before), json(after)}};
    return command;
}

TEST_F(NamesInUse, AResourceGetsNoTypeWithWhichAnObjectWouldBeWrong) {
    store_->define_resource("fuel", values::ResourceKind::integer);
    run("c quota k");
    const auto retyped = [&](const std::string& after) -> std::string {
        const auto done = store_->execute(redefinition("fuel", "long", after), kManager, kNow);
        if (done) return "accepted";
        EXPECT_EQ(done.error().code, Code::busy) << after;
        return done.error().message;
    };
    struct Case {
        const char *set, *unset, *type, *why;
    };
    const Case cases[] = {
        {"s quota k rule=\"a: to fuel=3\"", "u quota k rule", "boolean",
         "resource fuel: type: quota k names the resource, and would be wrong: rule.a: bad value 'to "
         "fuel=3': column 4: "
         "found 'fuel=3', expected True or False"},
        {"s quota k rule=\"a: vnodes={*} to ncpus=(fuel*2)\"", "u quota k rule", "string",
         "the values of 'fuel' are no numbers"},
        {"s p p1 load_thresholds=\"fuel >= 5\"", "u p p1 load_thresholds", "string",
         "the values of 'fuel' are no numbers"},
        {"s p p1 load_thresholds=\"fuel >= 5\"", "u p p1 load_thresholds", "boolean",
         "the values of 'fuel' are no numbers"},
        {"s p p1 job_sort_formula=\"2*fuel\"", "u p p1 job_sort_formula", "string_array",
         "the values of 'fuel' are no numbers"},
        {"s p p1 load_formula=\"2*np_fuel\"", "u p p1 load_formula", "string",
         "the values of 'fuel' are no numbers"},
    };
    for (const Case& one : cases) {
        run(one.set);
        EXPECT_THAT(retyped(one.type), HasSubstr(one.why)) << one.set;
        EXPECT_EQ(retyped("float"), "accepted") << one.set << ": it stays right";
        EXPECT_EQ(retyped("long"), "accepted") << one.set << ": it is no other type";
        run(one.unset);
        EXPECT_EQ(retyped(one.type), "accepted") << one.set;
    }
    // A value that is wrong already, as in a database of an earlier release, is no reason to refuse a change.
    run("s quota k rule=\"a: to fuel=3\"");
    store_->define_resource("fuel", values::ResourceKind::boolean);
    EXPECT_TRUE(store_->execute(redefinition("fuel", "boolean", "boolean"), kManager, kNow));
    EXPECT_TRUE(store_->execute(redefinition("fuel", "boolean", "long"), kManager, kNow));
}

TEST_F(NamesInUse, AFormulaOfARuleNeedsNumbers) {
    store_->define_resource("color", values::ResourceKind::string);
    run("c quota k");
    EXPECT_THAT(refused("s quota k rule=\"a: vnodes={*} to ncpus=(2*color)\"").message,
                HasSubstr("the values of 'color' are no numbers: expected resources with numbers"));
}

// A deleted definition may have had the place of a resource that the server has built in.
TEST_F(NamesInUse, AResourceThatStaysMayBeNamed) {
    store_->define_resource("fuel", {}, true);
    run("s p p1 job_sort_key=\"fuel HIGH\"");
    EXPECT_TRUE(store_->check_resource_unused("fuel"));
    store_->forget_resource("fuel");
    run("s p p1 job_sort_key=\"fuel LOW\"");
    store_->define_resource("oil");
    run("s p p1 job_sort_key=\"oil LOW\"");
    EXPECT_FALSE(store_->check_resource_unused("oil"));
}

// A migration sets policies before the server's queues exist. So unknown names give warnings there, not
// errors.
TEST_F(NamesInUse, AMigrationIsWarnedInsteadOfRefused) {
    ChangeSet changes{
        {parse_command("s p p1 dedicated_queues=\"night,workq\", submit_queue=entry, "
                       "exclude_resources=fuel, job_sort_formula=2*fuel, "
                       "server_dyn_res=\"fuel !/nowhere/level\"")}};
    ASSERT_FALSE(store_->apply(changes, kManager, kNow));
    changes.unknown_names = UnknownNames::warn;
    const auto applied = store_->apply(changes, kManager, kNow);
    ASSERT_TRUE(applied) << applied.error().message;
    EXPECT_THAT(applied->warnings,
                ElementsAre("policy p1: dedicated_queues: there is no queue 'night'",
                            "policy p1: submit_queue: there is no queue 'entry'",
                            "policy p1: exclude_resources: 'fuel' is not a resource of this server",
                            "policy p1: job_sort_formula: 'fuel' is not a resource of this server",
                            "policy p1: server_dyn_res: 'fuel' is not a resource of this server",
                            "policy p1: server_dyn_res: /nowhere/level: No such file or directory",
                            "policy p1: submit_queue has no effect: it belongs to algorithm origin"));
    EXPECT_EQ(policy("dedicated_queues"), "night,workq");
    // in a migration, too, mistakes other than unknown names are errors
    changes.commands = {parse_command("s p p1 job_sort_formula=2*")};
    EXPECT_FALSE(store_->apply(changes, kManager, kNow));
    open();
    EXPECT_EQ(policy("submit_queue"), "entry");
}

TEST_F(NamesInUse, WithoutKnownQueuesAnyNameWillDo) {
    store_.reset();
    auto opened = Store::open(path_, {.time_zone = "UTC"}, kNow);
    ASSERT_TRUE(opened);
    store_.emplace(std::move(*opened));
    run("s p p1 dedicated_queues=anything");
}

}  // namespace
}  // namespace pbs::objects
