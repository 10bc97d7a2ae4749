#include "ifl/iff/pbs_iff.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ifl/pbs_error.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "text/pointers.h"

namespace pbs::ifl {
namespace {

const char* read(std::vector<std::string> words, iff_arguments& arguments) {
    words.insert(words.begin(), "pbs_iff");
    return iff_read_arguments(static_cast<int>(words.size()), text::pointers(words).data(), &arguments);
}

TEST(IffArguments, AreThoseOfOpenpbs) {
    iff_arguments arguments{};
    EXPECT_EQ(read({"head", "15001", "3", std::to_string(htons(40000))}, arguments), nullptr);
    EXPECT_EQ(arguments.port, 15001);
    EXPECT_EQ(arguments.descriptor, 3);
    EXPECT_EQ(arguments.own_port, 40000);
    EXPECT_EQ(arguments.address, nullptr);
    EXPECT_EQ(read({"head", "15001", "3"}, arguments), nullptr);
    EXPECT_EQ(arguments.own_port, 0);
    EXPECT_EQ(read({"-i", "10.0.0.5", "head", "1024", "1000", "16540"}, arguments), nullptr);
    EXPECT_EQ(read({"-i", "fd00::5", "head", "65535", "1000"}, arguments), nullptr);
}

TEST(IffArguments, AreTakenAsTheyAreOrNotAtAll) {
    iff_arguments arguments{};
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {},
             {"head"},
             {"head", "15001"},
             {"head", "15001", "3", "4", "5"},
             {"-t", "head", "15001", "3"},
             {"-i", "10.0.0", "head", "15001", "3", "4"},
             {"-i", "head", "15001", "3", "4"},
             {"-i"},
             {"--", "head", "15001", "3"},
             {"head", "1023", "3", "4"},
             {"head", "111", "3", "4"},
             {"head", "0", "3", "4"},
             {"head", "65536", "3", "4"},
             {"head", "80537", "3", "4"},
             {"head", "4294982297", "3", "4"},
             {"head", "18446744073709566617", "3", "4"},
             {"head", "-15001", "3", "4"},
             {"head", "+15001", "3", "4"},
             {"head", " 15001", "3", "4"},
             {"head", "15001x", "3", "4"},
             {"head", "", "3", "4"},
             {"head", "15001", "2", "4"},
             {"head", "15001", "0", "4"},
             {"head", "15001", "-1", "4"},
             {"head", "15001", "4294967299", "4"},
             {"head", "15001", "3", "0"},
             {"head", "15001", "3", "65536"},
             {"head", "15001", "3", "x"},
         }) {
        EXPECT_NE(read(words, arguments), nullptr) << testing::PrintToString(words);
    }
}

TEST(IffUser, IsANameOfThisSystem) {
    for (const char* user : {"alice", "a", "_x-1.y$"}) EXPECT_TRUE(iff_is_user(user)) << user;
    EXPECT_TRUE(iff_is_user(std::string(255, 'a').c_str()));
    for (const char* user : {"", "a b", "a\n", "a@b", "\x7f"}) EXPECT_FALSE(iff_is_user(user)) << user;
    EXPECT_FALSE(iff_is_user(std::string(256, 'a').c_str()));
}

TEST(IffRequest, IsWhatTheServerReads) {
    for (const std::string& user : {std::string("alice"), std::string(255, 'u')}) {
        for (const std::uint16_t port : {1, 40000, 65535}) {
            char bytes[512];
            const std::size_t size = iff_write_authenticate(bytes, sizeof bytes, user.c_str(), port);
            EXPECT_EQ(std::string(bytes, size), request_packet({RequestType::authenticate, user,
                                                                Authenticate{"resvport", "", port}, ""}));
            EXPECT_EQ(iff_write_authenticate(bytes, size - 1, user.c_str(), port), 0U);
            EXPECT_EQ(iff_write_authenticate(bytes, 0, user.c_str(), port), 0U);
        }
    }
    char bytes[512];
    const std::size_t size = iff_write_disconnect(bytes, sizeof bytes, "alice");
    EXPECT_EQ(std::string(bytes, size), request_packet({RequestType::disconnect, "alice", Disconnect{}, ""}));
}

TEST(IffAnswer, IsTheServersReply) {
    iff_answer answer{};
    const std::string ok = reply_packet(Reply::ok());
    EXPECT_EQ(iff_read_answer(ok.data(), ok.size(), &answer), iff_complete);
    EXPECT_EQ(answer.code, 0);
    const std::string refused = reply_packet(Reply::error(PBSE_BADCRED, "no credential"));
    for (std::size_t size = 0; size < refused.size(); ++size)
        EXPECT_EQ(iff_read_answer(refused.data(), size, &answer), iff_incomplete) << size;
    EXPECT_EQ(iff_read_answer(refused.data(), refused.size(), &answer), iff_complete);
    EXPECT_EQ(answer.code, PBSE_BADCRED);
    EXPECT_EQ(std::string(answer.text, answer.length), "no credential");
    const std::string bare = make_packet("+2+25+15019+0+1+0");
    EXPECT_EQ(iff_read_answer(bare.data(), bare.size(), &answer), iff_complete);
    EXPECT_EQ(answer.code, PBSE_BADCRED);
    EXPECT_EQ(answer.length, 0U);
    const std::string long_one = reply_packet(Reply::error(PBSE_BADCRED, std::string(3000, 'x')));
    EXPECT_EQ(iff_read_answer(long_one.data(), long_one.size(), &answer), iff_complete);
    EXPECT_EQ(answer.length, static_cast<std::size_t>(iff_longest_text));
}

TEST(IffAnswer, BytesThatAreNoAnswerOfAServerAreMalformed) {
    iff_answer answer{};
    for (const std::string& bytes :
         {std::string("HTTP/1.1 200 OK\r\n"), make_packet("x"), make_packet("+2+3+0+0+1+0"),
          make_packet("+2+2+0+0+0+0"), make_packet("+2+2+0+0+9"), make_packet("+2+25+1501"),
          make_packet("+2+25+15019+0+7+02+99short"), make_packet("+2+25+15019+0+7+0-1x"),
          make_packet("+2+29+99999999999+0+1+0"), make_packet(std::string(5000, '9'))}) {
        EXPECT_EQ(iff_read_answer(bytes.data(), bytes.size(), &answer), iff_malformed) << bytes;
    }
}

}  // namespace
}  // namespace pbs::ifl
