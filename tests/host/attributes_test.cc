#include "server_plugin/host/state/attributes.h"

#include <gtest/gtest.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {
namespace {

class AttributesTest : public testing::Test {
  protected:
    int apply(const std::string& name, const std::string& resource, const std::string& value,
              ifl::Op op = ifl::Op::set) {
        ifl::Attribute change{name, resource, value, op};
        auto done = apply_change(attributes_, *server_table().find(name), change, resources_);
        return done ? 0 : done.error().code;
    }
    std::string text(const std::string& name, const std::string& resource = {}) {
        return std::string(attributes_.text(name, resource));
    }

    ResourceTable resources_;
    Attributes attributes_;
};

TEST_F(AttributesTest, AddAndSubtractAmounts) {
    EXPECT_EQ(apply("max_running", "", "5"), 0);
    EXPECT_EQ(apply("max_running", "", "3", ifl::Op::incr), 0);
    EXPECT_EQ(apply("max_running", "", "1", ifl::Op::decr), 0);
    EXPECT_EQ(text("max_running"), "7");
    EXPECT_EQ(apply("resources_max", "mem", "1gb"), 0);
    EXPECT_EQ(apply("resources_max", "mem", "1mb", ifl::Op::incr), 0);
    EXPECT_EQ(text("resources_max", "mem"), "1049600kb");
    EXPECT_EQ(apply("resources_max", "mem", "2gb", ifl::Op::decr), PBSE_BADATVAL);
}

TEST_F(AttributesTest, ListsGrowAndShrink) {
    EXPECT_EQ(apply("managers", "", "a@h,b@h"), 0);
    EXPECT_EQ(apply("managers", "", "c@h", ifl::Op::incr), 0);
    EXPECT_EQ(apply("managers", "", "c@h", ifl::Op::incr), PBSE_DUPLIST);
    EXPECT_EQ(apply("managers", "", "a@h", ifl::Op::decr), 0);
    EXPECT_EQ(text("managers"), "b@h,c@h");
    EXPECT_EQ(apply("managers", "", "b@h,c@h", ifl::Op::decr), 0);
    EXPECT_FALSE(attributes_.has("managers"));
}

// A definition, as one from an older database, takes the place of a built-in resource for policies, and its
// id.
TEST_F(AttributesTest, ResourcesForPoliciesCanBeDefinedAnew) {
    const std::uint32_t id = resources_.find("deadline")->id;
    ASSERT_TRUE(resources_.add("Deadline", "long", "h"));
    const Resource& own = *resources_.find("deadline");
    EXPECT_EQ(own.id, id);
    EXPECT_EQ(own.name, "Deadline");
    EXPECT_FALSE(own.built_in);
    EXPECT_EQ(own.definition_text(), "type long, flag h");
    EXPECT_NE(note_for_policies(own), "");
    EXPECT_EQ(resources_.add("deadline", "string", "").error().code, PBSE_DUPLIST);
    ASSERT_TRUE(resources_.remove("deadline"));
    EXPECT_TRUE(resources_.by_id(id)->built_in);
    EXPECT_EQ(resources_.by_id(id)->name, "deadline");
    EXPECT_EQ(note_for_policies(*resources_.by_id(id)), "");
    EXPECT_EQ(resources_.remove("deadline").error().code, PBSE_ATTRRO);

    Resource prefer = *resources_.find("prefer");
    prefer.flags = resource_read_only;
    ASSERT_TRUE(resources_.change(prefer));
    EXPECT_FALSE(resources_.find("prefer")->built_in);
    EXPECT_EQ(note_for_policies(*resources_.find("prefer")), "") << "as the manual recommends";
    prefer.flags = resource_read_only | resource_host;
    EXPECT_NE(note_for_policies(prefer), "");
    Resource tickets = *resources_.find("override_tickets");
    EXPECT_EQ(note_for_policies(tickets), "");
    tickets.flags = 0;
    EXPECT_NE(note_for_policies(tickets), "") << "every user may ask for them";
    EXPECT_EQ(resources_.add("ncpus", "long", "").error().code, PBSE_DUPLIST);
    EXPECT_EQ(resources_.change(*resources_.find("mem")).error().code, PBSE_ATTRRO);
}

// Very many jobs get a comment at the same time. So a waiting job already has memory for a comment.
TEST_F(AttributesTest, AJobThatWaitsHasRoomForAComment) {
    SharedTexts texts;
    Job job;
    job.state = job_state::kQueued;
    for (const char* name : {"Job_Name", "Job_Owner", "project", "Priority", "Submit_Host"})
        job.attributes.set(*job_table().find(name), {}, "1");
    job.shrink(texts);
    const AttributeValue* const before = job.attributes.values().data();
    job.attributes.set(*job_table().find("comment"), {}, "Not Running");
    EXPECT_EQ(job.attributes.values().data(), before);
    EXPECT_EQ(job.attributes.text("comment"), "Not Running");
    EXPECT_EQ(job.attributes.values().size(), 6U);
}

TEST(JobTexts, NamesOfDefaultedResourcesStayInOrder) {
    Job job;
    for (const char* name : {"place", "ncpus", "nodect", "mem"}) job.set_defaulted(name, true);
    job.set_defaulted("ncpus", true);
    EXPECT_EQ(job.defaulted.text(), "mem,ncpus,nodect,place");
    EXPECT_TRUE(job.is_defaulted("nodect"));
    EXPECT_FALSE(job.is_defaulted("node"));
    job.set_defaulted("mem", false);
    job.set_defaulted("nodect", false);
    EXPECT_EQ(job.defaulted.text(), "ncpus,place");
    for (const char* name : {"place", "ncpus"}) job.set_defaulted(name, false);
    EXPECT_TRUE(job.defaulted.empty());
}

TEST(JobTexts, AVariableIsFoundByItsName) {
    Job job;
    job.attributes.set(*job_table().find("Variable_List"), {},
                       "A=1, B = 2,PATH=/a\\,b:/c=d,EMPTY=,NONE,LAST=x\\");
    EXPECT_EQ(environment_value(job, "A"), "1");
    EXPECT_EQ(environment_value(job, "B "), " 2");
    EXPECT_EQ(environment_value(job, "PATH"), "/a,b:/c=d");
    EXPECT_EQ(environment_value(job, "EMPTY"), "");
    EXPECT_EQ(environment_value(job, "NONE"), "");
    EXPECT_EQ(environment_value(job, "b:/c"), "");
    EXPECT_EQ(environment_value(job, "LAST"), "x\\");
}

TEST_F(AttributesTest, UnsetAndEmptyValueRemove) {
    EXPECT_EQ(apply("comment", "", "hello"), 0);
    EXPECT_EQ(apply("comment", "", ""), 0);
    EXPECT_FALSE(attributes_.has("comment"));
    EXPECT_EQ(apply("resources_max", "ncpus", "5"), 0);
    EXPECT_EQ(apply("resources_max", "mem", "5gb"), 0);
    EXPECT_EQ(apply("resources_max", "ncpus", "", ifl::Op::unset), 0);
    EXPECT_EQ(attributes_.all_of("resources_max").size(), 1U);
    EXPECT_EQ(apply("resources_max", "", "", ifl::Op::unset), 0);
    EXPECT_TRUE(attributes_.values().empty());
}

TEST_F(AttributesTest, ResourcesMustBeKnownAndInAList) {
    EXPECT_EQ(apply("resources_max", "foo", "5"), PBSE_UNKRESC);
    EXPECT_EQ(apply("resources_max", "", "5"), PBSE_BADATVAL);
    EXPECT_EQ(apply("comment", "ncpus", "5"), PBSE_NOATTR);
    EXPECT_EQ(apply("resources_max", "ncpus", "many"), PBSE_BADATVAL);
}

TEST_F(AttributesTest, VariablesAreReplacedByName) {
    const AttributeDef& def = *job_table().find("Variable_List");
    ASSERT_TRUE(
        apply_change(attributes_, def, {"Variable_List", "", "A=1,B=2\\,3", ifl::Op::set}, resources_));
    ASSERT_TRUE(apply_change(attributes_, def, {"Variable_List", "", "A=9", ifl::Op::incr}, resources_));
    EXPECT_EQ(text("Variable_List"), "B=2\\,3,A=9");
    ASSERT_TRUE(
        apply_change(attributes_, def, {"Variable_List", "", "B=2\\,3,A=1", ifl::Op::decr}, resources_));
    EXPECT_EQ(text("Variable_List"), "A=9");
    // The list is stored in the form that OpenPBS's server shows, in whichever form the client sends it.
    ASSERT_TRUE(apply_change(attributes_, def, {"Variable_List", "", "W=/it's/a\\b, X= y ", ifl::Op::set},
                             resources_));
    EXPECT_EQ(text("Variable_List"), "W=/it\\'s/a\\\\b,X= y ");
    ASSERT_TRUE(apply_change(attributes_, def, {"Variable_List", "", " , ", ifl::Op::set}, resources_));
    EXPECT_FALSE(attributes_.has("Variable_List"));
}

}  // namespace
}  // namespace pbs::host
