// Tests vnodes, read from their attributes as servers describe them.
#include "cluster/vnode.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::cluster {
namespace {

Vnode vnode_with(std::string_view state, std::string_view sharing) {
    const std::vector<ifl::AttributeView> attributes{{"state", {}, state}, {"sharing", {}, sharing}};
    return vnode_of(attributes);
}

// A vnode that one job has for itself counts as free, because the job is reported with its place.
TEST(Vnode, AVnodeThatOneJobHasForItselfIsNotDown) {
    EXPECT_EQ(vnode_with("job-exclusive", "default_shared").state, PBS_VNODE_FREE + 0U);
    EXPECT_EQ(vnode_with("job-exclusive,down", "default_shared").state, PBS_VNODE_DOWN + 0U);
    EXPECT_EQ(vnode_with("job-exclusive", "force_excl").state, PBS_VNODE_FREE + 0U);
}

TEST(Vnode, SaysWhetherJobsShareIt) {
    const std::pair<std::string_view, pbs_vnode_sharing> words[] = {
        {"default_shared", PBS_VNODE_DEFAULT_SHARED},     {"default_excl", PBS_VNODE_DEFAULT_EXCL},
        {"default_exclhost", PBS_VNODE_DEFAULT_EXCLHOST}, {"ignore_excl", PBS_VNODE_IGNORE_EXCL},
        {"force_shared", PBS_VNODE_IGNORE_EXCL},          {"force_excl", PBS_VNODE_FORCE_EXCL},
        {"force_exclhost", PBS_VNODE_FORCE_EXCLHOST},     {"", PBS_VNODE_DEFAULT_SHARED}};
    for (const auto& [word, sharing] : words)
        EXPECT_EQ(vnode_with("free", word).sharing, static_cast<std::uint32_t>(sharing)) << word;
}

TEST(Vnode, IsOnTheHostThatItsResourcesName) {
    const std::vector<ifl::AttributeView> both{{"Mom", {}, "box.example"},
                                               {"resources_available", "host", "box"}};
    EXPECT_EQ(vnode_of(both).host, "box");
    EXPECT_EQ(vnode_of(std::span(both).first(1)).host, "box.example");
}

}  // namespace
}  // namespace pbs::cluster
