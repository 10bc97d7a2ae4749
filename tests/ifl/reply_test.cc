#include "ifl/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

using ::testing::HasSubstr;

const ObjectStatus kJob{
    2, "1.server", {{"Job_Name", "", "hello"}, {"Resource_List", "ncpus", "2", Op::incr}}};
const ObjectStatus kPolicy{64, "default_policy", {{"comment", "", ""}}};

std::vector<ReplyBody> all_bodies() {
    return {
        NullReply{},
        QueueReply{"1.server"},
        ReadyToCommitReply{"1.server"},
        CommitReply{"1.server"},
        SelectReply{{"1.server", "2.server"}},
        SelectReply{},
        StatusReply{{kJob, kPolicy}},
        StatusReply{},
        TextReply{"Unknown Job Id 1.server"},
        LocateReply{"server"},
        ResourceQueryReply{{1, 2}, {3, 4}, {5, 6}, {7, 4294967295U}},
        PreemptReply{{{"1.server", "S"}, {"2.server", "000"}}},
        DeleteReply{{{"1.server", 15001}, {"2.server", 15007}}},
        DeleteReply{},
    };
}

TEST(Reply, EveryChoiceComesBackAsItWasSent) {
    for (const ReplyBody& body : all_bodies()) {
        for (const int code : {0, 15001, -1}) {
            const Reply reply{code, code ? 2 : 0, body, false};
            const auto decoded = decode_reply(encode_reply(reply));
            ASSERT_TRUE(decoded.has_value()) << body.index() << ": " << decoded.error().message;
            EXPECT_EQ(*decoded, reply);
        }
    }
}

TEST(Reply, EveryProperPrefixIsRefused) {
    for (const ReplyBody& body : all_bodies()) {
        const std::string data = encode_reply({0, 0, body, false});
        for (std::size_t length = 0; length < data.size(); ++length) {
            const auto decoded = decode_reply(std::string_view(data).substr(0, length));
            ASSERT_FALSE(decoded.has_value()) << body.index() << ", " << length << " bytes";
            EXPECT_EQ(decoded.error().code, PBSE_PROTOCOL);
        }
        EXPECT_FALSE(decode_reply(data + "+0"));
    }
}

// The bytes that OpenPBS 23.06 servers send, written out.
TEST(Reply, MatchesTheWire) {
    EXPECT_EQ(encode_reply(Reply::ok()), "+2+2+0+0+1+0");
    EXPECT_EQ(encode_reply(Reply::error(15007, "no")), "+2+25+15007+0+7+0+2no");
    EXPECT_EQ(encode_reply({0, 0, CommitReply{"7.s"}, false}), "+2+2+0+0+4+0+37.s");
    EXPECT_EQ(encode_reply({0, 0, StatusReply{{{1, "q", {{"enabled", "", "True"}}}}}, true}),
              "+2+2+0+0+6+1+1+1+1q+12+13+7enabled+0+4True+0");
    EXPECT_EQ(encode_reply({0, 0, DeleteReply{{{"9.s", 15001}}}, false}), "+2+2+0+02+11+0+1+39.s5+15001");
    EXPECT_EQ(encode_reply({0, 0, SelectReply{{"7.s"}}, false}), "+2+2+0+0+5+0+1+37.s");
}

TEST(Reply, RefusalsNameThePlaceAndWhatIsWrong) {
    const struct {
        const char* data;
        const char* reason;
    } rows[] = {
        {"+1+2+0+0+1+0", "protocol type"},
        {"+2+3+0+0+1+0", "protocol version"},
        {"+2+2+0+0+0+0", "choice, at byte 10: a number from 1 to 11 expected, found 0"},
        {"+2+2+0+02+12+0", "choice"},
        {"+2+2+0+0+1+2", "more parts follow"},
        {"+2+2210+2147483648+0+1+0", "code, at byte"},
        {"+2+2+0+0+6+0210+4000000000", "number of objects"},
        {"+2+2+0+0+9+0+2+1+1+1+1", "number of resources"},
    };
    for (const auto& row : rows) {
        const auto decoded = decode_reply(row.data);
        ASSERT_FALSE(decoded.has_value()) << row.data;
        EXPECT_THAT(decoded.error().message, HasSubstr("malformed reply: "));
        EXPECT_THAT(decoded.error().message, HasSubstr(row.reason)) << row.data;
    }
}

TEST(Reply, AnErrorHasTheTextOfItsNumberIfItIsGivenNone) {
    EXPECT_EQ(Reply::error(PBSE_UNKJOBID), (Reply{PBSE_UNKJOBID, 0, TextReply{"Unknown Job Id"}, false}));
    EXPECT_EQ(Reply::error(PBSE_UNKJOBID, "mine"), (Reply{PBSE_UNKJOBID, 0, TextReply{"mine"}, false}));
    EXPECT_EQ(Reply::error(12345), (Reply{12345, 0, NullReply{}, false}));
    EXPECT_EQ(Reply::warning("careful"), (Reply{0, 0, TextReply{"careful"}, false}));
}

TEST(ReplyDecoder, PutsPartsTogether) {
    StatusReplyWriter writer(2);
    std::string stream;
    std::size_t parts = 0;
    std::vector<ObjectStatus> expected;
    for (int i = 0; i < 5; ++i) {
        expected.push_back({1, "q" + std::to_string(i), {{"enabled", "", "True"}}});
        writer.add(expected.back().type, expected.back().name, expected.back().attributes);
        if (writer.part_full()) {
            stream += writer.take_part();
            ++parts;
        }
    }
    stream += writer.finish();
    EXPECT_EQ(parts, 2U);
    stream += reply_packet(Reply::ok());

    ReplyDecoder decoder;
    std::vector<Reply> got;
    for (const char c : stream) {
        decoder.feed({&c, 1});
        auto decoded = decoder.next();
        ASSERT_FALSE(std::holds_alternative<ReplyDecoder::Malformed>(decoded));
        if (auto* reply = std::get_if<Reply>(&decoded)) got.push_back(std::move(*reply));
    }
    ASSERT_EQ(got.size(), 2U);
    EXPECT_EQ(got[0], (Reply{0, 0, StatusReply{expected}, false}));
    EXPECT_EQ(got[1], Reply::ok());
}

TEST(StatusReplyWriter, CountsBytesToo) {
    StatusReplyWriter writer(1000, 100);
    writer.add(1, "q", {{"comment", "", std::string(50, 'x')}});
    EXPECT_FALSE(writer.part_full());
    writer.add(1, "q", {{"comment", "", std::string(50, 'x')}});
    EXPECT_TRUE(writer.part_full());
    writer.take_part();
    EXPECT_FALSE(writer.part_full());
}

TEST(ReplyDecoder, RefusesAPartOfAnotherKind) {
    ReplyDecoder decoder;
    decoder.feed(reply_packet({0, 0, StatusReply{{kJob}}, true}));
    decoder.feed(reply_packet(Reply::error(15010)));
    for (int i = 0; i < 2; ++i) {
        const auto decoded = decoder.next();
        const auto* bad = std::get_if<ReplyDecoder::Malformed>(&decoded);
        ASSERT_TRUE(bad);
        EXPECT_THAT(bad->error.message, HasSubstr("a further part of a status reply expected"));
    }

    ReplyDecoder null;
    null.feed(reply_packet({0, 0, NullReply{}, true}));
    EXPECT_TRUE(std::holds_alternative<ReplyDecoder::Malformed>(null.next()));
}

}  // namespace
}  // namespace pbs::ifl
