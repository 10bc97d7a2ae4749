#include "ifl/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

// A text that quotes what somebody has sent may have a NUL byte, which readers refuse.
TEST(Reply, ATextWithANulByteIsReadAllTheSame) {
    using namespace std::string_literals;
    const auto refusal = decode_reply(encode_reply({15014, 0, TextReply{"found 'x\0y'"s}, false}));
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(std::get<TextReply>(refusal->body).text, "found 'x?y'");
    const ObjectStatus quota{67, "q\0"s, {{"rule", "a\0"s, "users=\0 to jobs=1"s}}};
    const auto status = decode_reply(encode_reply({0, 0, StatusReply{{quota}}, false}));
    ASSERT_TRUE(status.has_value());
    const ObjectStatus& shown = std::get<StatusReply>(status->body).objects.at(0);
    EXPECT_EQ(shown.name, "q?");
    EXPECT_EQ(shown.attributes.at(0).resource, "a?");
    EXPECT_EQ(shown.attributes.at(0).value, "users=? to jobs=1");
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

// Encoded replies equal, byte by byte, those of OpenPBS 23.06 servers.
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

std::string joined(const std::vector<std::string>& pieces) {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    return all;
}

// A status reply with five queues that comes in parts of two queues, followed by another reply.
struct InParts {
    InParts() {
        StatusParts parts(2);
        for (int i = 0; i < 5; ++i) {
            queues.push_back({1, "q" + std::to_string(i), {{"enabled", "", "True"}, {"list", "a", "1"}}});
            parts.add(queues.back().type, queues.back().name, queues.back().attributes);
        }
        StatusReply reply{{}, parts.take()};
        EXPECT_EQ(reply.encoded.size(), 3U);
        stream = joined(status_packets(std::move(reply))) + reply_packet(Reply::ok());
    }
    std::vector<ObjectStatus> queues;
    std::string stream;
};

std::vector<Reply> decode_bytes_of(const std::string& stream, const ObjectSink& sink = nullptr) {
    ReplyDecoder decoder;
    std::vector<Reply> got;
    for (const char c : stream) {
        *decoder.room(10) = c;
        decoder.filled(1);
        auto decoded = decoder.next(sink);
        EXPECT_FALSE(std::holds_alternative<ReplyDecoder::Malformed>(decoded));
        if (auto* reply = std::get_if<Reply>(&decoded)) got.push_back(std::move(*reply));
    }
    return got;
}

TEST(ReplyDecoder, PutsPartsTogether) {
    const InParts sent;
    EXPECT_THAT(decode_bytes_of(sent.stream),
                ElementsAre(Reply{0, 0, StatusReply{sent.queues}, false}, Reply::ok()));
}

TEST(ReplyDecoder, GivesObjectsToASinkAsTheyArrive) {
    const InParts sent;
    std::vector<ObjectStatus> got;
    const auto sink = [&got](const ObjectView& object) {
        ObjectStatus status{object.type, std::string(object.name), {}};
        for (const AttributeView& attribute : object.attributes) {
            status.attributes.push_back({std::string(attribute.name), std::string(attribute.resource),
                                         std::string(attribute.value), attribute.op});
        }
        got.push_back(std::move(status));
    };
    EXPECT_THAT(decode_bytes_of(sent.stream, sink),
                ElementsAre(Reply{0, 0, StatusReply{}, false}, Reply::ok()));
    EXPECT_EQ(got, sent.queues);
    // the decoder passes objects on before the last part has arrived
    got.clear();
    ReplyDecoder decoder;
    decoder.feed(std::string_view(sent.stream).substr(0, sent.stream.size() * 2 / 3));
    EXPECT_TRUE(std::holds_alternative<ReplyDecoder::NeedMore>(decoder.next(sink)));
    EXPECT_THAT(got, ElementsAre(sent.queues[0], sent.queues[1]));
}

TEST(StatusParts, AreFullByObjectsOrBytes) {
    const auto counts = [](StatusParts parts) {
        for (int i = 0; i < 5; ++i) parts.add(1, "q", Attributes{{"comment", "", std::string(50, 'x')}});
        std::vector<std::size_t> result;
        for (const StatusPart& part : parts.take()) result.push_back(part.count);
        EXPECT_THAT(parts.take(), IsEmpty());
        return result;
    };
    EXPECT_THAT(counts(StatusParts(4, 100000)), ElementsAre(4, 1));
    EXPECT_THAT(counts(StatusParts(1000, 100)), ElementsAre(2, 2, 1));
}

TEST(StatusParts, TakeObjectsInAnyFormAndKeepTheirOrder) {
    const std::vector<AttributeView> views{{"Job_Name", {}, "hello"},
                                           {"Resource_List", "ncpus", "2", Op::incr}};
    StatusParts parts;
    parts.add_encoded(encode_object(2, "1.server", views));
    parts.add(2, "1.server", views);
    parts.add(kJob.type, kJob.name, kJob.attributes);
    const Reply reply{0, 0, StatusReply{{kPolicy}, parts.take()}, false};
    const Reply expected{0, 0, StatusReply{{kPolicy, kJob, kJob, kJob}}, false};
    EXPECT_EQ(*decode_reply(encode_reply(reply)), expected);
    ReplyDecoder decoder;
    decoder.feed(joined(status_packets(std::get<StatusReply>(reply.body))));
    EXPECT_EQ(std::get<Reply>(decoder.next()), expected);
}

TEST(StatusParts, NoObjectsAreAReplyToo) {
    EXPECT_EQ(joined(status_packets({})), reply_packet({0, 0, StatusReply{}, false}));
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
