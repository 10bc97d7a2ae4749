// Tests the text of an exec_vnode: reading and writing it.
#include "cluster/exec_vnode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::cluster {
namespace {

std::string shown(const std::vector<Share>& shares) {
    std::string out;
    for (const Share& share : shares) {
        out += share.joined ? "&" : "|";
        out += share.vnode;
        for (const std::string_view amount : share.amounts) out += " " + std::string(amount);
    }
    return out;
}

TEST(ExecVnode, IsReadShareByShare) {
    const std::pair<std::string_view, std::string_view> rows[] = {
        {"(n1:ncpus=2)", "|n1 ncpus=2"},
        {"(v[0]:ncpus=2:mem=4kb+v[1]:ncpus=1)+(w)", "|v[0] ncpus=2 mem=4kb&v[1] ncpus=1|w"},
        {"(n1:ncpus=1)+(n2:ncpus=1)", "|n1 ncpus=1|n2 ncpus=1"},
        {"n1:ncpus=1+n2", "|n1 ncpus=1|n2"},
        {"n1", "|n1"},
    };
    for (const auto& [text, expected] : rows) EXPECT_EQ(shown(shares_of(text)), expected) << text;
    EXPECT_TRUE(shares_of("").empty());
}

TEST(ExecVnode, IsRefusedWhereItsParenthesesDoNotMatch) {
    for (const char* text : {"(n1", "n1)", "((n1)", "(n1+(n2)", "(n1)(n2)", "n(1)"}) {
        const auto shares = parse_exec_vnode(text);
        ASSERT_FALSE(shares) << text;
        EXPECT_EQ(shares.error().code, PBSE_BADATVAL);
        EXPECT_THAT(shares.error().message, ::testing::HasSubstr(text));
        EXPECT_TRUE(shares_of(text).empty());
    }
}

TEST(ExecVnode, IsWrittenInTheOrderOfWhatWasAskedFor) {
    const std::vector<Place> places{
        {1, "n1", {{0, 2}, {1, 5}, {7, 1}}}, {2, "n2", {{0, 1}}, true}, {3, "n3", {}}};
    const auto write = [](std::uint32_t id, std::int64_t amount) -> std::pair<std::string, std::string> {
        if (id > 1) return {};
        return {id == 0 ? "ncpus" : "mem", std::to_string(amount)};
    };
    EXPECT_EQ(exec_vnode_text(places, write, "1:mem=5:ncpus=2"), "(n1:mem=5:ncpus=2+n2:ncpus=1)+(n3)");
    EXPECT_EQ(exec_vnode_text(places, write, "1:ncpus=2"), "(n1:ncpus=2:mem=5+n2:ncpus=1)+(n3)");
    EXPECT_EQ(exec_vnode_text({}, write, ""), "");
}

}  // namespace
}  // namespace pbs::cluster
