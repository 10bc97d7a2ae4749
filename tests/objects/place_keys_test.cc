// Tests which values node_sort_key_of_place accepts.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct PlaceKeys : StoreTest {
    void SetUp() override { run("c p p1"); }
    std::string value(const std::string& change) {
        run(fmt::format("s p p1 node_sort_key_of_place{}", change));
        const auto snapshot = store_->snapshot();
        const Object* policy = snapshot->find(ObjectType::policy, "p1");
        const Attribute& row = *find_attribute(ObjectType::policy, "node_sort_key_of_place");
        return format_value(row, *policy->value(row));
    }
};

TEST_F(PlaceKeys, HaveOneForm) {
    EXPECT_EQ(value("=\"scatter:ncpus high\""), "scatter: ncpus HIGH");
    EXPECT_EQ(value("=\" pack : mem  low unused+color HIGH,group: sort_priority LOW\""),
              "pack: mem LOW unused + color HIGH,group: sort_priority LOW");
    EXPECT_EQ(value("+=\"free: load_formula LOW\""),
              "pack: mem LOW unused + color HIGH,group: sort_priority LOW,free: load_formula LOW");
    EXPECT_EQ(value("-=\"group: sort_priority low\""),
              "pack: mem LOW unused + color HIGH,free: load_formula LOW");
    const PlaceElement parts = place_element("pack: mem LOW unused + color HIGH");
    EXPECT_EQ(parts.place, "pack");
    EXPECT_THAT(parts.keys, ElementsAre("mem LOW unused", "color HIGH"));
}

TEST_F(PlaceKeys, AreRefusedWithTheReason) {
    struct Case {
        std::string text;
        std::string why;
    };
    const std::string expected =
        "expected elements separated by commas, each one of free, pack, scatter, vscatter, group, then : and "
        "keys";
    for (const Case& c : {
             Case{"ncpus HIGH", "'ncpus HIGH' is none of free, pack, scatter, vscatter, group"},
             Case{"excl: ncpus HIGH", "'excl' is none of free, pack, scatter, vscatter, group"},
             Case{"Scatter: ncpus HIGH", "'Scatter' is none of"},
             Case{": ncpus HIGH", "'' is none of"},
             Case{"scatter", "there is no : behind 'scatter'"},
             Case{"scatter:", expected},
             Case{"scatter: ncpus", expected},
             Case{"scatter: ncpus HIGH +", expected},
             Case{"scatter: ncpus HIGH + + mem LOW", expected},
             Case{"scatter: ncpus UP", "'UP' is neither HIGH nor LOW"},
             Case{"scatter: ncpus HIGH most", "'most' is none of total, assigned and unused"},
             Case{"scatter: sort_priority HIGH unused", "sort_priority has no amounts"},
             Case{"scatter: pack: ncpus HIGH", "'pack:' is no name of a resource"},
             Case{"scatter: paint HIGH",
                  "'paint' is not a resource of this server nor sort_priority, load_formula"},
             Case{"scatter: ncpus HIGH + mem LOW + ncpus LOW",
                  "bad value 'ncpus LOW': expected each resource once"},
             Case{"scatter: ncpus HIGH, pack: mem LOW, scatter: mem LOW",
                  "bad value 'scatter: mem LOW': 'scatter' is there twice, expected each place once"},
         })
        EXPECT_THAT(refused("s p p1 node_sort_key_of_place=\"" + c.text + "\"").message,
                    AllOf(HasSubstr("node_sort_key_of_place"), HasSubstr(c.why)))
            << c.text;
    run("s p p1 node_sort_key_of_place=\"scatter: ncpus HIGH\"");
    EXPECT_THAT(refused("s p p1 node_sort_key_of_place+=\"scatter: mem HIGH\"").message,
                HasSubstr("'scatter' is there twice"));
}

TEST_F(PlaceKeys, HoldTheResourcesThatTheyName) {
    store_->define_resource("fuel");
    run("s p p1 node_sort_key_of_place=\"scatter: mem LOW + fuel HIGH unused\"");
    EXPECT_FALSE(store_->check_resource_unused("fuel"));
    run("u p p1 node_sort_key_of_place");
    EXPECT_TRUE(store_->check_resource_unused("fuel"));
}

TEST_F(PlaceKeys, AreToldWhereTheyHaveNoEffect) {
    EXPECT_THAT(run("s p p1 node_sort_key_of_place=\"scatter: ncpus HIGH\"").warnings, IsEmpty());
    run("c p o1 algorithm=origin");
    EXPECT_THAT(
        run("s p o1 node_sort_key_of_place=\"scatter: ncpus HIGH\"").warnings,
        ElementsAre("policy o1: node_sort_key_of_place has no effect: it belongs to algorithm standard"));
}

}  // namespace
}  // namespace pbs::objects
