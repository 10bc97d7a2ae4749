#include "ifl/packet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kLimit = 1000;

TEST(Packet, IsMagicTypeLengthAndData) {
    EXPECT_EQ(make_packet("abc", PacketType::auth_token), std::string("PKTV1\0\1\0\0\0\3abc", 14));
    EXPECT_EQ(make_packet(std::string(0x10203, 'x')).substr(6, 5), std::string("\0\0\1\2\3", 5));
}

TEST(Packet, IsFilledInPlace) {
    std::string out = "before";
    const std::size_t begin = begin_packet(out);
    out += "abc";
    end_packet(out, begin);
    EXPECT_EQ(out, "before" + make_packet("abc"));
}

TEST(PacketReader, TakesPacketsThatArriveByteByByte) {
    const std::string stream = make_packet("first") + make_packet("second");
    PacketReader reader(kLimit);
    std::vector<std::string> packets;
    for (const char c : stream) {
        reader.feed({&c, 1});
        auto packet = reader.next();
        ASSERT_TRUE(packet.has_value());
        EXPECT_EQ(reader.in_progress(), !packet->has_value());
        if (*packet) packets.emplace_back(**packet);
    }
    EXPECT_THAT(packets, ::testing::ElementsAre("first", "second"));
}

TEST(PacketReader, TakesPacketsThatArriveTogether) {
    PacketReader reader(kLimit);
    std::string stream;
    for (int i = 0; i < 100; ++i) stream += make_packet(std::to_string(i));
    reader.feed(stream);
    for (int i = 0; i < 100; ++i) {
        auto packet = reader.next();
        ASSERT_TRUE(packet && *packet) << i;
        EXPECT_EQ(**packet, std::to_string(i));
    }
    EXPECT_FALSE(reader.in_progress());
    EXPECT_FALSE(reader.next()->has_value());
}

TEST(PacketReader, SaysTheTypeOfTheLastPacket) {
    PacketReader reader(kLimit);
    reader.feed(make_packet("a", PacketType::auth_token) + make_packet("b", PacketType::auth_done));
    ASSERT_TRUE(*reader.next());
    EXPECT_EQ(reader.type(), PacketType::auth_token);
    ASSERT_TRUE(*reader.next());
    EXPECT_EQ(reader.type(), PacketType::auth_done);
}

TEST(PacketReader, IgnoresTheTypeThatClientsLeaveUndefined) {
    std::string packet = make_packet("abc");
    packet[6] = '\x7f';
    PacketReader reader(kLimit);
    reader.feed(packet);
    EXPECT_EQ(**reader.next(), "abc");
}

TEST(PacketReader, RefusesAnotherProtocolAtItsFirstBytes) {
    for (const char* start : {"GET / HTTP/1.0", "PKTV2", "X", "PKTV1x"}) {
        PacketReader reader(kLimit);
        reader.feed(start);
        const auto packet = reader.next();
        ASSERT_FALSE(packet.has_value()) << start;
        EXPECT_EQ(packet.error().code, PBSE_DISPROTO);
        EXPECT_FALSE(reader.next().has_value()) << "an error stays";
    }
}

TEST(PacketReader, RefusesALengthBeyondTheLimitBeforeItsDataArrives) {
    for (const auto& length :
         {std::string("\0\0\3\xe9", 4), std::string("\xff\xff\xff\xff", 4), std::string(4, '\0')}) {
        PacketReader reader(kLimit);
        reader.feed(std::string("PKTV1\0\0", 7) + length);
        const auto packet = reader.next();
        ASSERT_FALSE(packet.has_value());
        EXPECT_THAT(packet.error().message, HasSubstr("a packet of 1 to 1000 bytes expected, found "));
    }
    PacketReader reader(kLimit);
    reader.feed(make_packet(std::string(kLimit, 'x')));
    EXPECT_EQ((**reader.next()).size(), kLimit);
}

}  // namespace
}  // namespace pbs::ifl
