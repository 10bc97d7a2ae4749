#include "server_plugin/host/life/block_answer.h"

#include <gtest/gtest.h>

namespace pbs::host {
namespace {

TEST(BlockAnswerTest, KeepsAllItsParts) {
    // Directory services give uids of more than 2^30.
    for (const BlockAnswer& answer :
         {BlockAnswer{15001, 0, true, 1000}, BlockAnswer{65535, 271, true, 1U << 30U},
          BlockAnswer{1, -21, true, 0xfffffffeU}, BlockAnswer{40000, 0, false, 0},
          BlockAnswer{1024, 16383, true, 0x80000000U}, BlockAnswer{1024, -16384, false, 0x7fffffffU}})
        EXPECT_EQ(BlockAnswer::unpacked(answer.packed()), answer)
            << answer.port << ", " << answer.exit_status << ", " << answer.ran << ", " << answer.uid;
}

}  // namespace
}  // namespace pbs::host
