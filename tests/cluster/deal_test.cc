#include "cluster/deal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::cluster {
namespace {

class Resources : public Names {
  public:
    std::optional<ResourceRef> resource(std::string_view name) const override {
        if (name == "ncpus") return ResourceRef{1, PBS_RES_LONG, "ncpus", true};
        if (name == "mem") return ResourceRef{2, PBS_RES_SIZE, "mem", true};
        if (name == "arch") return ResourceRef{3, PBS_RES_STRING, "arch", false};
        return std::nullopt;
    }
    std::optional<ResourceRef> resource(std::uint32_t) const override { return std::nullopt; }
    std::uint64_t queue(std::string_view) const override { return 0; }
    std::uint64_t vnode(std::string_view) const override { return 0; }
    std::string_view vnode_name(std::uint64_t) const override { return {}; }
};

Place on(std::uint64_t node, std::string name) {
    Place place;
    place.node = node;
    place.node_name = std::move(name);
    return place;
}

TEST(Deal, GivesOneChunkToEachVnodeInTurn) {
    const std::vector<Place> vnodes{on(7, "n1"), on(8, "n2")};
    const auto places = deal_chunks("2:ncpus=4:mem=1kb:arch=x+ncpus=1", vnodes, Resources());
    ASSERT_EQ(places.size(), 3U);
    EXPECT_EQ(places[0].node_name, "n1");
    EXPECT_EQ(places[1].node_name, "n2");
    EXPECT_EQ(places[2].node, 7U);
    EXPECT_EQ(places[0].amounts, (Amounts{{1, 4}, {2, 1024}}));
    EXPECT_EQ(places[1].amounts, places[0].amounts);
    EXPECT_EQ(places[2].amounts, (Amounts{{1, 1}}));
}

TEST(Deal, CountsChunks) {
    EXPECT_EQ(chunk_count(""), 0);
    EXPECT_EQ(chunk_count("ncpus=1"), 1);
    EXPECT_EQ(chunk_count("12:ncpus=1+3"), 15);
    EXPECT_TRUE(deal_chunks("", std::vector<Place>{on(7, "n1")}, Resources()).empty());
}

}  // namespace
}  // namespace pbs::cluster
