// Tests values of resources as OpenPBS writes them.
#include "cluster/amount.h"

#include <gtest/gtest.h>

#include <limits>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::cluster {
namespace {

TEST(Amount, IsReadByItsKind) {
    EXPECT_EQ(amount_of(PBS_RES_LONG, "12"), 12);
    EXPECT_EQ(amount_of(PBS_RES_SIZE, "12"), 12);
    EXPECT_EQ(amount_of(PBS_RES_SIZE, "4kb"), 4096);
    EXPECT_EQ(amount_of(PBS_RES_SIZE, "2GB"), std::int64_t{2} << 30);
    EXPECT_EQ(amount_of(PBS_RES_SIZE, "1kw"), 8192);
    EXPECT_EQ(amount_of(PBS_RES_SIZE, "9999999pb"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(amount_of(PBS_RES_DURATION, "01:00:10"), 3610);
    EXPECT_EQ(amount_of(PBS_RES_DURATION, "90"), 90);
    EXPECT_EQ(amount_of(PBS_RES_FLOAT, "1.5"), 1500000);
    EXPECT_EQ(amount_of(PBS_RES_BOOLEAN, "True"), 1);
    EXPECT_EQ(amount_of(PBS_RES_BOOLEAN, "False"), 0);
    EXPECT_EQ(amount_of(PBS_RES_STRING, "12"), 0);
    EXPECT_EQ(amount_of(PBS_RES_LONG, "what"), 0);
    EXPECT_EQ(amount_of(PBS_RES_SIZE, "4xb"), 0);
    EXPECT_EQ(amount_of(PBS_RES_SIZE, "4kkb"), 0);
    EXPECT_EQ(amount_of(PBS_RES_DURATION, "1:x"), 0);
}

TEST(Amount, IsWrittenAsExecVnodeHasIt) {
    EXPECT_EQ(amount_text(PBS_RES_LONG, 12), "12");
    EXPECT_EQ(amount_text(PBS_RES_SIZE, 4096), "4kb");
    EXPECT_EQ(amount_text(PBS_RES_SIZE, 4097), "5kb");
    EXPECT_EQ(amount_text(PBS_RES_DURATION, 3610), "01:00:10");
    EXPECT_EQ(amount_text(PBS_RES_FLOAT, 1500000), "1.5");
    EXPECT_EQ(amount_text(PBS_RES_BOOLEAN, 1), "True");
}

}  // namespace
}  // namespace pbs::cluster
