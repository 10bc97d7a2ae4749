#include "ifl/cmds/qselect_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

namespace pbs::cmds {
namespace {

using testing::HasSubstr;

std::string criteria(const std::vector<std::string>& arguments) {
    const auto options = parse_qselect_options(arguments, 1'800'000'000);
    if (!options) {
        return options.error().message;
    }
    std::string text;
    for (const auto& entry : options->criteria.entries()) {
        text += fmt::format("{}{}{}:{}:{};", entry.name, entry.resource.empty() ? "" : ".", entry.resource,
                            static_cast<int>(entry.op), entry.value);
    }
    return text + options->server + options->extend;
}

TEST(QselectOptions, ComparisonsBecomeCriteriaWithTheirOperators) {
    EXPECT_EQ(criteria({"-p", ".gt.5"}), fmt::format("Priority:{}:5;", static_cast<int>(GT)));
    EXPECT_EQ(criteria({"-p5"}), fmt::format("Priority:{}:5;", static_cast<int>(EQ)));
    EXPECT_EQ(criteria({"-l", "ncpus.ge.2,mem.lt.1gb"}),
              fmt::format("Resource_List.ncpus:{}:2;Resource_List.mem:{}:1gb;", static_cast<int>(GE),
                          static_cast<int>(LT)));
    EXPECT_EQ(criteria({"-s", "QR"}), fmt::format("job_state:{}:QR;", static_cast<int>(EQ)));
    EXPECT_EQ(criteria({"-q", "workq@srv", "-x"}),
              fmt::format("destination:{}:workq;srvx", static_cast<int>(EQ)));
    EXPECT_EQ(criteria({"-tg.gt.01:00"}), fmt::format("eligible_time:{}:60;", static_cast<int>(GT)));
    EXPECT_EQ(criteria({"-ts.le.202611210830"}).substr(0, 8), fmt::format("stime:{}:", static_cast<int>(LE)));
    EXPECT_EQ(criteria({"-tt202611210830"}).substr(0, 23),
              fmt::format("estimated.start_time:{}:", static_cast<int>(EQ)).substr(0, 23));
    EXPECT_EQ(criteria({"-H"}), fmt::format("job_state:{}:FM;x", static_cast<int>(EQ)));
}

TEST(QselectOptions, RefuseByOption) {
    EXPECT_THAT(criteria({"-p", ".xx.5"}), HasSubstr("illegal -p value"));
    EXPECT_THAT(criteria({"-p", ".gt."}), HasSubstr("illegal -p value"));
    EXPECT_THAT(criteria({"-l", "ncpus=2"}), HasSubstr("expected resource.op.value"));
    EXPECT_THAT(criteria({"-l", "ncpus.eq."}), HasSubstr("expected resource.op.value"));
    EXPECT_THAT(criteria({"-t", "z1200"}), HasSubstr("illegal -t value"));
    EXPECT_THAT(criteria({"-a", "noon"}), HasSubstr("illegal -a value"));
    EXPECT_THAT(criteria({"-r", "x"}), HasSubstr("expected y or n"));
    EXPECT_THAT(criteria({"-s", "RZ"}), HasSubstr("illegal -s value: 'RZ'"));
    EXPECT_THAT(criteria({"-N", "bad name"}), HasSubstr("illegal -N value"));
    EXPECT_THAT(criteria({"-u", ""}), HasSubstr("illegal -u value"));
    EXPECT_THAT(criteria({"-h", "x"}), HasSubstr("illegal -h value: 'x': expected letters"));
    for (const char* wrong : {"x", "cc", "c=", "c=x", "n=5"})
        EXPECT_THAT(criteria({"-c", wrong}), HasSubstr("illegal -c value")) << wrong;
    for (const char* right : {"n", "u", "c=5", ".ne.w"})
        EXPECT_THAT(criteria({"-c", right}), HasSubstr("Checkpoint:")) << right;
    EXPECT_THAT(criteria({"workq"}), HasSubstr("takes no operands"));
}

}  // namespace
}  // namespace pbs::cmds
