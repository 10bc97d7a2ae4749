#include "ifl/cmds/qdel_options.h"

#include <gtest/gtest.h>

#include "ifl/cmds/hold_types.h"

namespace pbs::cmds {
namespace {

TEST(QdelOptions, MakeTheExtendString) {
    const QdelOptions plain = parse_qdel_options({"1", "2"}).value();
    EXPECT_EQ(qdel_extend(plain, 1, 0), "");
    EXPECT_EQ(qdel_extend(plain, 1, 1), "nomail");
    const QdelOptions all = parse_qdel_options({"-Wforce", "-x", "1"}).value();
    EXPECT_EQ(qdel_extend(all, 1000, 0), "forcedeletehist");
    EXPECT_EQ(qdel_extend(all, -1, 0), "nomailforcedeletehist");
}

TEST(QdelOptions, SuppressEmailLimitsTheNumberOfMails) {
    const QdelOptions plain = parse_qdel_options({"1"}).value();
    EXPECT_EQ(allowed_mails(plain, ""), 1000);
    EXPECT_EQ(allowed_mails(plain, "-Wsuppress_email = 5"), 5);
    EXPECT_EQ(allowed_mails(parse_qdel_options({"-Wsuppress_email=-1", "1"}).value(), "-Wsuppress_email=5"),
              -1);
    EXPECT_EQ(allowed_mails(parse_qdel_options({"-Wsuppress_email=0", "1"}).value(), ""), 1000);
}

TEST(QdelOptions, WrongOptionsAreRefused) {
    EXPECT_FALSE(parse_qdel_options({"-W", "10", "1"}));
    EXPECT_FALSE(parse_qdel_options({"-W", "suppress_email=x", "1"}));
    EXPECT_FALSE(parse_qdel_options({}));
    EXPECT_EQ(parse_qdel_options({"-W", "soon", "1"}).error().status, 2);
}

TEST(HoldOptions, TakeTypes) {
    EXPECT_EQ(parse_hold_options({"1"}).value().types, "u");
    EXPECT_EQ(parse_hold_options({"-h", "so", "1"}).value().types, "so");
    EXPECT_EQ(parse_hold_options({"-hn", "1"}).value().types, "n");
    for (const char* bad : {"", "x", "nu", "u n"}) {
        EXPECT_FALSE(parse_hold_options({"-h", bad, "1"})) << bad;
    }
    EXPECT_FALSE(parse_hold_options({"-h", "u"}));
}

}  // namespace
}  // namespace pbs::cmds
