// Tests which values load_formula, job_load_adjustments and load_thresholds accept.
#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

struct LoadValues : StoreTest {
    void SetUp() override { run("c p p1"); }
    std::string value(const std::string& attribute, const std::string& text) {
        run("s p p1 " + attribute + "=\"" + text + "\"");
        const auto snapshot = store_->snapshot();
        const Object* policy = snapshot->find(ObjectType::policy, "p1");
        const Attribute& row = *find_attribute(ObjectType::policy, attribute);
        return format_value(row, *policy->value(row));
    }
    std::string why_not(const std::string& attribute, const std::string& text) {
        return refused("s p p1 " + attribute + "=\"" + text + "\"").message;
    }
};

TEST_F(LoadValues, HaveOneForm) {
    EXPECT_EQ(value("load_thresholds", "np_load_avg>=1.750"), "np_load_avg >= 1.75");
    EXPECT_EQ(value("load_thresholds", " workq : load_avg  < -2,color<=1e3"),
              "workq:load_avg < -2,color <= 1000");
    EXPECT_EQ(value("load_thresholds", "np_color > 0.5"), "np_color > 0.5");
    EXPECT_EQ(value("job_load_adjustments", "np_load_avg = 0.50, color=2"), "np_load_avg=0.5,color=2");
    EXPECT_EQ(value("load_formula", "np_load_avg + 2*np_color"), "np_load_avg + 2*np_color");
    EXPECT_EQ(value("node_sort_key", "load_formula low"), "load_formula LOW");
}

TEST_F(LoadValues, AreRefusedWithTheReason) {
    struct Case {
        std::string attribute;
        std::string text;
        std::string why;
    };
    const std::string no_operator = "there is none of >=, >, <= and < before the number";
    for (const Case& c : {
             Case{"load_thresholds", "np_load_avg", no_operator},
             Case{"load_thresholds", "np_load_avg = 1", no_operator},
             Case{"load_thresholds", "np_load_avg => 1", no_operator},
             Case{"load_thresholds", "np_load_avg >= ", "'' is no number"},
             Case{"load_thresholds", "np_load_avg >= much", "'much' is no number"},
             Case{"load_thresholds", "np_load_avg >= nan", "'nan' is no number"},
             Case{"load_thresholds", "np_load_avg >== 1", "'= 1' is no number"},
             Case{"load_thresholds", ">= 1", "'' is no name of a load or a resource"},
             Case{"load_thresholds", ":load_avg >= 1", "'' is no name of a queue"},
             Case{"load_thresholds", "workq:color:load_avg >= 1", "'color:load_avg' is no name of a load"},
             Case{"load_thresholds", "nowhere:load_avg >= 1", "there is no queue 'nowhere'"},
             Case{"load_thresholds", "np_paint > 1", "'np_paint' is not a resource of this server"},
             Case{"load_thresholds", "load_avg > 1,load_avg>1.0", "is in the list twice"},
             Case{"job_load_adjustments", "np_load_avg", "there is no = before the number"},
             Case{"job_load_adjustments", "np_load_avg=-1", "'-1' is no number from 0 to"},
             Case{"job_load_adjustments", "load_avg=1,load_avg=2", "expected one number for each name"},
             Case{"job_load_adjustments", "paint=1",
                  "'paint' is not a resource of this server nor load_avg, np_load_avg"},
             Case{"load_adjustment_decay_time", "soon", "expected"},
             Case{"load_formula", "load_avg +", "the formula ends too early"},
             Case{"load_formula", "np_paint", "at position 1: unknown name 'np_paint'"},
             Case{"load_formula", "eligible_time", "unknown name 'eligible_time'"},
             Case{"load_formula", "load_avg" + std::string(256, ' ') + "+1",
                  "the formula is 266 characters long"},
             Case{"node_sort_key", "load_formula LOW unused", "load_formula has no amounts"},
         })
        EXPECT_THAT(why_not(c.attribute, c.text), AllOf(HasSubstr(c.attribute), HasSubstr(c.why))) << c.text;
}

TEST_F(LoadValues, AreOfResourcesWithNumbers) {
    using values::ResourceKind;
    for (const auto& [name, kind] : {std::pair("flag", ResourceKind::boolean),
                                     {"model", ResourceKind::string},
                                     {"models", ResourceKind::string_array}}) {
        store_->define_resource(name, kind);
        const std::string why = "' are no numbers: expected a load";
        for (const char* prefix : {"", "np_"}) {
            const std::string load = prefix + std::string(name);
            EXPECT_THAT(why_not("load_thresholds", load + " > 1"), HasSubstr("'" + load + why));
            EXPECT_THAT(why_not("job_load_adjustments", load + "=1"), HasSubstr("'" + load + why));
            EXPECT_THAT(why_not("load_formula", "load_avg + " + load), HasSubstr("'" + load + why));
        }
    }
    for (const auto& [name, kind] : {std::pair("real", ResourceKind::real),
                                     {"whole", ResourceKind::integer},
                                     {"size", ResourceKind::size},
                                     {"time", ResourceKind::duration}}) {
        store_->define_resource(name, kind);
        run(std::string("s p p1 load_thresholds=\"") + name + " > 1\", load_formula=np_" + name);
    }
}

TEST_F(LoadValues, HoldTheQueuesAndResourcesThatTheyName) {
    store_->define_resource("fuel");
    for (const std::string set : {"load_thresholds=\"np_fuel > 1\"", "load_thresholds=\"workq:fuel > 1\"",
                                  "load_formula=\"2*np_fuel\"", "job_load_adjustments=\"np_fuel=1\"",
                                  "job_load_adjustments=\"fuel=1\""}) {
        run("s p p1 " + set);
        EXPECT_FALSE(store_->check_resource_unused("fuel")) << set;
        run("u p p1 " + set.substr(0, set.find('=')));
        EXPECT_TRUE(store_->check_resource_unused("fuel")) << set;
    }
}

TEST_F(LoadValues, AreToldWhereTheyHaveNoEffect) {
    const auto warnings = [&](const std::string& set) { return run("s p p1 " + set).warnings; };
    EXPECT_THAT(warnings("load_formula=load_avg"),
                testing::ElementsAre("policy p1: load_formula has no effect without load_formula in "
                                     "node_sort_key or load_formula in node_sort_key_of_place"));
    EXPECT_THAT(warnings("node_sort_key_of_place=\"scatter: mem LOW + load_formula LOW\""), IsEmpty());
    EXPECT_THAT(warnings("load_formula=load_avg"), IsEmpty());
    run("u p p1 node_sort_key_of_place");
    EXPECT_THAT(warnings("node_sort_key=\"load_formula LOW\""), IsEmpty());
    EXPECT_THAT(warnings("load_formula=load_avg"), IsEmpty());
    EXPECT_THAT(warnings("job_load_adjustments=\"load_avg=1\", load_adjustment_decay_time=60"), IsEmpty());
    run("u p p1 load_formula, job_load_adjustments");
    EXPECT_THAT(warnings("load_adjustment_decay_time=90"),
                testing::ElementsAre(
                    "policy p1: load_adjustment_decay_time has no effect without job_load_adjustments"));
}

}  // namespace
}  // namespace pbs::objects
