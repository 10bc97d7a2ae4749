// Checks the dependencies between the folders of this project, and checks on small trees that violations are
// found.
#include "tests/structure/arrows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "tests/structure/small_tree.h"

namespace pbs::structure {
namespace {
namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Arrows, ThisTreeHasNoForbiddenDependency) {
    EXPECT_THAT(describe(check_tree(PBS_SOURCE_DIR, rules())), IsEmpty());
}

TEST(Arrows, EveryFolderOfCodeHasARule) {
    std::set<std::string> with_sources;
    for (const char* top :
         {"text", "cluster", "rrule", "sqlite", "objects", "ifl", "migrate", "server_plugin", "tools"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(PBS_SOURCE_DIR) / top)) {
            if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
            with_sources.insert(entry.path().lexically_relative(PBS_SOURCE_DIR).generic_string());
        }
    }
    for (const std::string& file : with_sources) {
        const bool ruled = std::any_of(rules().begin(), rules().end(), [&](const Rule& rule) {
            return file.starts_with(std::string(rule.folder) + "/");
        });
        EXPECT_TRUE(ruled) << file << " belongs to no folder of the table";
    }
}

TEST(Arrows, TableHasNoCircle) {
    std::map<std::string_view, std::set<std::string_view>> uses;
    for (const Rule& rule : rules()) {
        for (std::string_view header : rule.headers) {
            uses[rule.folder].insert(header.substr(0, header.rfind('/')));
        }
    }
    std::function<bool(std::string_view, std::string_view)> reaches = [&](std::string_view from,
                                                                          std::string_view to) {
        return std::any_of(uses[from].begin(), uses[from].end(),
                           [&](std::string_view next) { return next == to || reaches(next, to); });
    };
    for (const Rule& rule : rules()) EXPECT_FALSE(reaches(rule.folder, rule.folder)) << rule.folder;
}

TEST(ArrowsCheck, AcceptsAllowedUse) {
    const Tree tree;
    tree.add("objects/store.cc",
             "#include \"objects/store.h\"\n#include \"rrule/window.h\"\n#include <vector>\n");
    tree.add(
        "objects/CMakeLists.txt",
        "pbs_library(pbs_objects store.cc)\ntarget_link_libraries(pbs_objects PUBLIC pbs_rrule fmt::fmt)\n");
    tree.add("rrule/CMakeLists.txt", "pbs_library(pbs_rrule window.cc)\n");
    tree.add("server_plugin/host/policy/plugin.cc", "#include \"server_plugin/plugin/pbs_plugin.h\"\n");
    EXPECT_THAT(describe(check_tree(tree.root(), rules())), IsEmpty());
}

TEST(ArrowsCheck, CatchesAForbiddenInclude) {
    const Tree tree;
    tree.add("rrule/window.cc", "#include <vector>\n\n#include \"objects/store.h\"\n");
    EXPECT_THAT(describe(check_tree(tree.root(), rules())),
                ElementsAre("rrule/window.cc:3: #include objects/store.h: rrule may not include this"));
}

TEST(ArrowsCheck, CatchesAngleBracketsAndSpaces) {
    const Tree tree;
    tree.add("ifl/dis.h", "#  include <objects/value.h>\n");
    EXPECT_THAT(describe(check_tree(tree.root(), rules())),
                ElementsAre("ifl/dis.h:1: #include objects/value.h: ifl may not include this"));
}

TEST(ArrowsCheck, CatchesAPathThatClimbsOutOfTheFolder) {
    const Tree tree;
    tree.add("objects/store.h", "");
    tree.add("server_plugin/host/change/server.cc", "#include \"../../../objects/store.h\"\n");
    EXPECT_THAT(
        describe(check_tree(tree.root(), rules())),
        ElementsAre(
            "server_plugin/host/change/server.cc:1: #include objects/store.h: server_plugin/host/change "
            "may not include this"));
}

TEST(ArrowsCheck, HostMayIncludeOnlyTheAbiHeaderOfThePlugin) {
    const Tree tree;
    tree.add(
        "server_plugin/host/policy/a.cc",
        "#include \"server_plugin/plugin/pbs_plugin.h\"\n#include \"server_plugin/plugin/translate.h\"\n");
    EXPECT_THAT(describe(check_tree(tree.root(), rules())),
                ElementsAre("server_plugin/host/policy/a.cc:2: #include server_plugin/plugin/translate.h: "
                            "server_plugin/host/policy may not include this"));
}

TEST(ArrowsCheck, ARoomOfTheHostSeesThoseBelowIt) {
    const Tree tree;
    tree.add("server_plugin/host/change/a.cc",
             "#include \"server_plugin/host/state/b.h\"\n#include \"server_plugin/host/life/c.h\"\n");
    EXPECT_THAT(describe(check_tree(tree.root(), rules())),
                ElementsAre("server_plugin/host/change/a.cc:2: #include server_plugin/host/life/c.h: "
                            "server_plugin/host/change may not include this"));
}

TEST(ArrowsCheck, OpenpbsHostMayUseOnlyTheAbiAndTheProtocol) {
    const Tree tree;
    tree.add("server_plugin/openpbs/wrap.c",
             "#include \"server_plugin/plugin/pbs_plugin.h\"\n#include \"ifl/dis.h\"\n"
             "#include <objects/store.h>\n");
    tree.add("server_plugin/openpbs/CMakeLists.txt",
             "add_library(pbs_policy_openpbs MODULE wrap.c)\n"
             "target_link_libraries(pbs_policy_openpbs PRIVATE\n  pbs_ifl_codec pbs_objects dl)\n");
    tree.add("ifl/CMakeLists.txt", "pbs_library(pbs_ifl_codec dis.cc)\n");
    tree.add("objects/CMakeLists.txt", "pbs_library(pbs_objects store.cc)\n");
    EXPECT_THAT(
        describe(check_tree(tree.root(), rules())),
        ElementsAre(
            "server_plugin/openpbs/CMakeLists.txt:2: target_link_libraries pbs_objects: "
            "server_plugin/openpbs may not link this",
            "server_plugin/openpbs/wrap.c:3: #include objects/store.h: server_plugin/openpbs may not include "
            "this"));
}

TEST(ArrowsCheck, SchedulerMayNotReachTheStore) {
    const Tree tree;
    tree.add("server_plugin/scheduler/cycle.cc",
             "#include \"objects/snapshot.h\"\n#include \"objects/store.h\"\n");
    EXPECT_THAT(describe(check_tree(tree.root(), rules())),
                ElementsAre("server_plugin/scheduler/cycle.cc:2: #include objects/store.h: "
                            "server_plugin/scheduler may not include this"));
}

TEST(ArrowsCheck, CommandsUseTheCApiNotTheCodec) {
    const Tree tree;
    tree.add("ifl/cmds/qstat.cc", "#include \"ifl/pbs_ifl.h\"\n#include \"ifl/dis.h\"\n");
    EXPECT_THAT(describe(check_tree(tree.root(), rules())),
                ElementsAre("ifl/cmds/qstat.cc:2: #include ifl/dis.h: ifl/cmds may not include this"));
}

TEST(ArrowsCheck, CatchesAForbiddenLinkInAGeneratorExpression) {
    const Tree tree;
    tree.add("objects/CMakeLists.txt", "pbs_library(pbs_objects a.cc)\n");
    tree.add("server_plugin/host/CMakeLists.txt",
             "pbs_library(pbs_host b.cc)\n"
             "target_link_libraries(pbs_host PRIVATE $<BUILD_INTERFACE:pbs_objects>)\n");
    EXPECT_THAT(describe(check_tree(tree.root(), rules())),
                ElementsAre("server_plugin/host/CMakeLists.txt:2: target_link_libraries pbs_objects: "
                            "server_plugin/host may not link this"));
}

TEST(ArrowsCheck, TestsMayUseEverything) {
    const Tree tree;
    tree.add("tests/rrule/window_test.cc",
             "#include \"objects/store.h\"\n#include \"server_plugin/host/server.h\"\n");
    EXPECT_THAT(describe(check_tree(tree.root(), rules())), IsEmpty());
}

}  // namespace
}  // namespace pbs::structure
