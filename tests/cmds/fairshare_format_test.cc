#include "ifl/cmds/fairshare_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ifl/cmds/datetime.h"
#include "tests/cmds/status_list.h"

namespace pbs::cmds {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::time_t kShown = 1795262400;

void element(Objects& objects, const std::string& name, const std::string& parent, const std::string& kind,
             const std::string& shares, const std::string& target, const std::string& actual,
             const std::string& usage, const std::string& decayed, const std::string& place) {
    std::vector<Objects::Attribute> attributes = {
        {"kind", "", kind},         {"shares", "", shares},    {"target", "", target},
        {"actual", "", actual},     {"usage", "", usage},      {"decayed", "", decayed},
        {"long_usage", "", "3000"}, {"tree_usage", "", "0.5"}, {"factor", "", "0.25"}};
    if (!parent.empty()) attributes.push_back({"parent", "", parent});
    if (!place.empty()) attributes.push_back({"place", "", place});
    if (name == "alice")
        attributes.insert(attributes.end(), {{"jobs", "", "3"},
                                             {"running", "", "1"},
                                             {"level", "", "0.75"},
                                             {"short_target", "", "0.5"},
                                             {"overall_short_target", "", "0.25"}});
    objects.add(name, attributes);
}

Objects reply() {
    Objects objects;
    objects.add("f1", {{"sched", "", "default"},
                       {"entity", "", "euser"},
                       {"usage_formula", "", "ncpus*walltime"},
                       {"unknown_shares", "", "10"},
                       {"decay_time", "", "86400"},
                       {"decay_factor", "", "0.5"},
                       {"now", "", std::to_string(kShown)},
                       {"last_decay", "", std::to_string(kShown - 400)},
                       {"next_decay", "", std::to_string(kShown + 86000)}});
    element(objects, "root", "", "group", "0", "1", "1", "2001", "1000.5", "");
    element(objects, "physics", "root", "group", "40", "0.4", "0.6", "1200.25", "600.125", "");
    element(objects, "alice", "physics", "entity", "30", "0.3", "0.5", "1000.25", "500.125", "3");
    element(objects, "bob", "physics", "entity", "10", "0.1", "0.1", "200", "100", "2");
    element(objects, "carol", "root", "entity", "60", "0.6", "0.4", "800", "400", "1");
    element(objects, "dan", "root", "entity", "0", "0", "0", "1", "1", "4");
    return objects;
}

std::vector<ShareTree> trees() {
    static Objects objects;
    objects = reply();
    return share_trees(objects.get());
}

TEST(Shares, AReplyIsATree) {
    const auto all = trees();
    ASSERT_EQ(all.size(), 1U);
    const ShareTree& tree = all[0];
    EXPECT_EQ(tree.name, "f1");
    EXPECT_EQ(tree.sched, "default");
    EXPECT_EQ(tree.next_decay, kShown + 86000);
    ASSERT_EQ(tree.elements.size(), 6U);
    EXPECT_EQ(tree.elements[2].name, "alice");
    EXPECT_EQ(tree.elements[2].depth, 2U);
    EXPECT_EQ(tree.elements[4].depth, 1U);
    EXPECT_FALSE(tree.elements[2].is_group);
    EXPECT_DOUBLE_EQ(tree.elements[2].usage, 1000.25);
    EXPECT_TRUE(share_trees(nullptr).empty());
}

TEST(SharesText, IsATableIndentedAsTheTree) {
    EXPECT_EQ(
        shares_text(trees()),
        fmt::format("fs_group f1 of sched default, {}\n"
                    "Usage is ncpus*walltime of each euser; every 24:00:00 it is multiplied by 0.5, next "
                    "at {}\n"
                    "\n"
                    "           Shares    Target    Actual  Usage  Decayed  Long  Place  Jobs  Running    "
                    "Level    Short  "
                    "Overall\n"
                    "root               100.000%  100.000%   2001     1000  3000            0        0   "
                    "0.000%   0.000%  "
                    " "
                    "0.000%\n"
                    "  physics      40   40.000%   60.000%   1200   600.12  3000            0        0   "
                    "0.000%   0.000%  "
                    " "
                    "0.000%\n"
                    "    alice      30   30.000%   50.000%   1000   500.12  3000      3     3        1  "
                    "75.000%  50.000%  "
                    "25.000%\n"
                    "    bob        10   10.000%   10.000%    200      100  3000      2     0        0   "
                    "0.000%   0.000%   "
                    "0.000%\n"
                    "  carol        60   60.000%   40.000%    800      400  3000      1     0        0   "
                    "0.000%   0.000%   "
                    "0.000%\n"
                    "  dan           0    0.000%    0.000%      1        1  3000      4     0        0   "
                    "0.000%   0.000%   "
                    "0.000%\n",
                    instant_text(kShown), instant_text(kShown + 86000)));
}

TEST(SharesText, TheTreeAlone) {
    EXPECT_EQ(shares_outline(trees()),
              "root\n"
              "    physics (40)\n"
              "        alice (30)\n"
              "        bob (10)\n"
              "    carol (60)\n"
              "    dan (0)\n");
}

TEST(SharesText, OneEntityIsShownWithThePathToIt) {
    const auto path = path_to(trees()[0], "alice");
    ASSERT_TRUE(path);
    std::vector<std::string> names;
    for (const ShareElement& one : path->elements) names.push_back(one.name);
    EXPECT_THAT(names, ElementsAre("root", "physics", "alice"));
    const std::string text = entity_text(*path);
    EXPECT_THAT(text, HasSubstr("Usage by target  3334 (on its way: physics 3001, alice 3334)\n"));
    EXPECT_THAT(text, HasSubstr("fairshare_factor in formulas: 0.3, 0.5, 0.25\n"));
    EXPECT_THAT(text, HasSubstr("Of tickets_share  25.000% now, for 1 running and 2 waiting jobs\n"));
    EXPECT_THAT(text, Not(HasSubstr("carol")));
    EXPECT_FALSE(path_to(trees()[0], "nobody"));
}

TEST(SharesComparison, GoesDownFromTheRoot) {
    const ShareTree tree = trees()[0];
    const auto found = compare_shares(tree, "bob", "carol");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, "carol");
    EXPECT_EQ(found->text, "carol goes before bob: usage by target is 1333 of carol and 3001 of physics\n");
    EXPECT_EQ(compare_shares(tree, "alice", "bob")->first, "bob");
    EXPECT_EQ(compare_shares(tree, "bob", "bob")->text, "bob and bob stand equal\n");
    EXPECT_EQ(compare_shares(tree, "dan", "alice")->text,
              "alice goes before dan: usage by target is 3001 of physics and no share of dan\n");
    EXPECT_EQ(compare_shares(tree, "nobody", "bob").error().message,
              "nobody: fs_group f1 has no such entity");
    EXPECT_EQ(compare_shares(tree, "bob", "physics").error().message,
              "physics: it is a group of fs_group f1: expected an entity");
}

TEST(SharesJson, HasTheSame) {
    const auto json = nlohmann::json::parse(shares_json(trees()));
    const auto& tree = json["trees"][0];
    EXPECT_EQ(tree["fs_group"], "f1");
    EXPECT_EQ(tree["decay_factor"], 0.5);
    EXPECT_EQ(tree["enforce_no_shares"], false);
    EXPECT_EQ(tree["elements"].size(), 6U);
    EXPECT_EQ(tree["elements"][2], nlohmann::json({{"name", "alice"},
                                                   {"parent", "physics"},
                                                   {"kind", "entity"},
                                                   {"shares", 30},
                                                   {"target", 0.3},
                                                   {"actual", 0.5},
                                                   {"usage", 1000.25},
                                                   {"decayed", 500.125},
                                                   {"long_usage", 3000},
                                                   {"tree_usage", 0.5},
                                                   {"factor", 0.25},
                                                   {"jobs", 3},
                                                   {"running", 1},
                                                   {"level", 0.75},
                                                   {"short_target", 0.5},
                                                   {"overall_short_target", 0.25},
                                                   {"place", 3}}));
    EXPECT_FALSE(tree["elements"][0].contains("parent"));
    EXPECT_EQ(nlohmann::json::parse(shares_json({}))["trees"].size(), 0U);
}

TEST(SharesPicture, HasABarAndAMarkForEach) {
    auto all = trees();
    all[0].elements[2].name = "<al\x1b&ice>";
    const std::string svg = shares_svg(all);
    EXPECT_THAT(svg, testing::StartsWith("<svg "));
    EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
    EXPECT_THAT(svg, HasSubstr("&lt;al^[&amp;ice&gt;"));
    const auto count = [&](std::string_view what) {
        int found = 0;
        for (auto at = svg.find(what); at != svg.npos; at = svg.find(what, at + 1)) ++found;
        return found;
    };
    EXPECT_EQ(count("<line "), 6);
    // a bar of 400 pixels stands for the whole machine; bob has used a tenth, which is within his share
    EXPECT_THAT(svg, HasSubstr(R"(width="40.0" height="14" fill="#3b82c4")"));
    // alice has used half of the machine, which is more than her share
    EXPECT_THAT(svg, HasSubstr(R"(width="200.0" height="14" fill="#d97706")"));
}

}  // namespace
}  // namespace pbs::cmds
