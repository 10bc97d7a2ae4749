#include "migrate/host_check.h"

#include "migrate/convert.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Checked {
    std::vector<std::string> kept;
    std::vector<std::string> notes;
};

Checked checked(const std::string& print, const Surroundings& server = {}) {
    const QmgrPrint file = parse_qmgr_print(print, "print");
    HostWork work{file.file, file.commands};
    Checked out{{}, leave_out_refused(work, server)};
    for (const PrintedCommand& printed : work.commands) out.kept.push_back(objects::to_text(printed.command));
    return out;
}

// TORQUE's qmgr prints such directives. If the server doesn't have a resource, the directives with it are
// left out.
TEST(HostCheck, ResourcesThatTheServerDoesNotHaveAreLeftOut) {
    const Checked done = checked(
        "create queue batch\nset queue batch resources_max.procct = 8\nset queue batch resources_min.procs = "
        "1\n"
        "set queue batch resources_default.neednodes = gpu\nset queue batch resources_default.NCPUS = 1\n"
        "unset queue batch resources_default.neednodes\nset server resources_available.gpus += 4\n"
        "set node n1 resources_available.gpus = 4\nset queue batch max_run_res.gpus = [u:ann=1]\n"
        "set server resources_max.walltime = 10\n");
    EXPECT_THAT(done.kept, ElementsAre("create queue batch", "set queue batch resources_default.NCPUS = 1",
                                       "set server resources_max.walltime = 10"));
    EXPECT_THAT(
        done.notes,
        ElementsAre(
            "print:2: set queue batch resources_max.procct = 8: isn't carried over: there is no "
            "resource procct",
            HasSubstr("print:3: set queue batch resources_min.procs = 1: isn't carried over: there is no "
                      "resource procs"),
            HasSubstr("there is no resource neednodes"),
            HasSubstr("print:6: unset queue batch resources_default.neednodes: isn't carried over"),
            HasSubstr("print:7: set server resources_available.gpus += 4: isn't"),
            HasSubstr("print:8: set node n1 resources_available.gpus = 4: isn't"),
            HasSubstr("print:9: set queue batch max_run_res.gpus = [u:ann=1]: isn't")));
}

TEST(HostCheck, ResourcesOfThePrintAndOfTheServerStay) {
    EXPECT_THAT(checked("create resource Lic\nset queue q resources_max.lic = 8\n").notes, IsEmpty());
    EXPECT_THAT(checked("set queue q resources_max.lic = 8\ncreate resource lic\n").notes, IsEmpty());
    EXPECT_THAT(checked("set queue q resources_max.lic = 8\n", {.consumables = {"lic"}}).notes, IsEmpty());
    EXPECT_THAT(checked("set queue q resources_max.big = 8\n", {.others = {"big"}}).notes, IsEmpty());
    EXPECT_THAT(checked("set queue q resources_max.lic = 8\n", {.knows_resources = false}).notes, IsEmpty());
    // If a server reports its consumable resources, the built-in ones are among them. So a resource that it
    // doesn't report doesn't exist.
    EXPECT_THAT(checked("set queue q resources_max.ngpus = 8\n", {.consumables = {"mem", "ncpus"}}).notes,
                ElementsAre(HasSubstr("there is no resource ngpus")));
}

TEST(HostCheck, WhatNoServerTakes) {
    EXPECT_THAT(
        checked("set queue q max_run_res.arch = [u:ann=1]\nset resource ncpus flag = h\n"
                "create resource a\nset resource a type = number\nset resource a type = long\n")
            .notes,
        ElementsAre(HasSubstr("max_run_res can't limit arch: it isn't an amount"),
                    HasSubstr("resource ncpus is built in"),
                    HasSubstr("print:4: set resource a type = number: isn't carried over: there is no type "
                              "number of resources")));
}

// Sites of OpenPBS have created the resources by which jobs tell policies what they want.
TEST(HostCheck, ResourcesForPoliciesMayBeDefined) {
    EXPECT_THAT(
        checked("create resource deadline type=string\nset resource prefer flag = r\n"
                "create resource Start_Within type=long\nset queue q max_run_res.start_within = [u:ann=1]\n")
            .notes,
        IsEmpty());
    EXPECT_THAT(
        checked("set queue q resources_max.per_host = 2\nset queue q max_run_res.deadline = [u:ann=1]\n",
                {.consumables = {"ncpus"}})
            .notes,
        ElementsAre(HasSubstr("max_run_res can't limit deadline: it isn't an amount")));
}

// convert() makes these checks, too, so that a dry run prints the same as a first start.
TEST(HostCheck, IsTheConversions) {
    const auto conversion =
        convert({.qmgr_print =
                     parse_qmgr_print("create queue batch\nset queue batch resources_max.procct = 8\n", "p")},
                {}, nullptr);
    ASSERT_TRUE(conversion);
    EXPECT_EQ(to_qmgr(*conversion), "create queue batch\n");
    EXPECT_THAT(to_text(conversion->report),
                HasSubstr("note: p:2: set queue batch resources_max.procct = 8: isn't "
                          "carried over: there is no resource procct\n"));
}

}  // namespace
}  // namespace pbs::migrate::test
