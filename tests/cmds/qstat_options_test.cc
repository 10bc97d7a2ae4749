#include "ifl/cmds/qstat_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::cmds {
namespace {

using testing::ElementsAre;

QstatOptions parsed(const std::vector<std::string>& arguments) {
    auto options = parse_qstat_options(arguments);
    EXPECT_TRUE(options) << (options ? "" : options.error().message);
    return options ? std::move(*options) : QstatOptions{};
}

TEST(QstatOptions, ChooseObjectsAndLayouts) {
    EXPECT_EQ(parsed({}).object, QstatObject::jobs);
    EXPECT_EQ(parsed({"-B"}).object, QstatObject::servers);
    EXPECT_TRUE(parsed({"-Bf"}).full);
    EXPECT_EQ(parsed({"-Qf", "workq"}).object, QstatObject::queues);
    EXPECT_TRUE(parsed({"-q"}).queue_limits);
    EXPECT_TRUE(parsed({"-a"}).alternate);
    EXPECT_TRUE(parsed({"-n1"}).one_line);
    EXPECT_THAT(parsed({"-x", "12", "13"}).operands, ElementsAre("12", "13"));
    EXPECT_EQ(parsed({"-xt"}).extend, "xt");
    EXPECT_EQ(parsed({"-H"}).extend, "x");
    EXPECT_EQ(parsed({"-fF", "json"}).format, ListFormat::json);
    EXPECT_EQ(parsed({"-f", "-F", "dsv", "-D", ";"}).delimiter, ";");
    EXPECT_TRUE(parsed({"-E", "1", "2"}).together);
}

TEST(QstatOptions, MakeCriteria) {
    const auto criteria = [](const std::vector<std::string>& arguments) {
        std::string text;
        const QstatOptions options = parsed(arguments);
        for (const auto& entry : options.criteria.entries()) {
            text += entry.name + "=" + entry.value + ";";
        }
        return text;
    };
    EXPECT_EQ(criteria({"-r"}), "job_state=RS;");
    EXPECT_EQ(criteria({"-i", "-u", "bob,eve"}), "job_state=EHQTW;User_List=bob,eve;");
    EXPECT_EQ(criteria({"-H"}), "job_state=MFX;");
    EXPECT_EQ(criteria({"-J"}), "array=True;");
    EXPECT_EQ(criteria({"-a"}), "");
}

class Conflicts : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Conflicts, AreRefused) {
    const auto options = parse_qstat_options(GetParam());
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().status, 2);
}

INSTANTIATE_TEST_SUITE_P(Table, Conflicts,
                         testing::Values(std::vector<std::string>{"-ai"}, std::vector<std::string>{"-BQ"},
                                         std::vector<std::string>{"-Ba"}, std::vector<std::string>{"-GM"},
                                         std::vector<std::string>{"-F", "json"},
                                         std::vector<std::string>{"-fF", "xml"},
                                         std::vector<std::string>{"-qf"}, std::vector<std::string>{"-1"},
                                         std::vector<std::string>{"-fn"},
                                         std::vector<std::string>{"-fwF", "json"},
                                         std::vector<std::string>{"-fD", ";"}, std::vector<std::string>{"-y"},
                                         std::vector<std::string>{"-u"}));

}  // namespace
}  // namespace pbs::cmds
