#include "server_plugin/host/life/block_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

class EndReasons : public ServerTest {
  protected:
    static Job job(const char* attribute) {
        Job job;
        job.sequence = 77;
        job.id = "77.svr";
        set_attribute(job, attribute, "1");
        return job;
    }
};

// Each call of a qsub may take a while, so the server makes few of them in a turn of its loop.
TEST_F(EndReasons, AreToldAFewAtATime) {
    for (int i = 0; i < kMostCallsAtOnce + 1; ++i) tell_reason(*server_, job("interactive"), "no room");
    ASSERT_EQ(server_->untold_reasons.size(), std::size_t{kMostCallsAtOnce + 1});
    EXPECT_EQ(server_->untold_reasons.front().port, 1);
    EXPECT_THAT(server_->untold_reasons.front().text, testing::EndsWith("without having run: no room"));
    tell_untold_reasons(*server_);
    EXPECT_EQ(server_->untold_reasons.size(), 1U);
    tell_untold_reasons(*server_);
    EXPECT_TRUE(server_->untold_reasons.empty());
}

TEST_F(EndReasons, AreBounded) {
    for (int i = 0; i < 10'001; ++i) tell_reason(*server_, job("interactive"), "no room");
    EXPECT_EQ(server_->untold_reasons.size(), 10'000U);
}

TEST_F(EndReasons, AreKeptOnlyForAnAnswer) {
    tell_reason(*server_, job("block"), "no room");
    EXPECT_EQ(server_->take_end_reason(77), "");
    Dependencies& links = server_->state.dependencies;
    links.add({links.new_id(), 77, LinkKind::to_answer, 1});
    tell_reason(*server_, job("block"), "no room");
    EXPECT_EQ(server_->take_end_reason(77), "no room");
}

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
