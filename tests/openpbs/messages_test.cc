// Tests the messages between the shim and the policy service, and the shim's table of the plugin's
// attributes.
#include "server_plugin/openpbs/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/packet.h"
#include "objects/attribute_tables.h"
#include "server_plugin/openpbs/owned.h"

namespace pbs::openpbs {
namespace {
using ::testing::HasSubstr;

std::string data_of(const std::string& packet) {
    return packet.substr(ifl::kPacketHeaderSize);
}

TEST(Messages, AskComesAsItWent) {
    Ask ask{
        7,
        Ask::Kind::again,
        3,
        "10.0.0.1",
        {ifl::RequestType::manager, "alice",
         ifl::Manage{2, 64, "p1", {{"by_queue", "", "False", ifl::Op::set}, {"x", "y", "", ifl::Op::decr}}},
         "extend"}};
    const auto back = to_service(data_of(packet_of(ToService(ask))));
    ASSERT_TRUE(back) << back.error().message;
    const auto* got = std::get_if<Ask>(&*back);
    ASSERT_NE(got, nullptr);
    EXPECT_EQ(got->ticket, 7U);
    EXPECT_EQ(got->what, Ask::Kind::again);
    EXPECT_EQ(got->privilege, 3U);
    EXPECT_EQ(got->address, "10.0.0.1");
    EXPECT_EQ(got->request, ask.request);
}

TEST(Messages, AnswersAndListingsComeAsTheyWent) {
    const auto answer =
        from_service(data_of(packet_of(FromService(Answer{9, {"one", std::string("\0two", 4)}}))));
    ASSERT_TRUE(answer && std::holds_alternative<Answer>(*answer));
    EXPECT_EQ(std::get<Answer>(*answer).ticket, 9U);
    EXPECT_THAT(std::get<Answer>(*answer).parts, ::testing::ElementsAre("one", std::string("\0two", 4)));
    const ifl::Attributes attributes{{"policy", "", "p1,np:p2", ifl::Op::set}};
    const auto shown =
        from_service(data_of(packet_of(FromService(AddedAttributes{6, "default", attributes}))));
    ASSERT_TRUE(shown && std::holds_alternative<AddedAttributes>(*shown));
    EXPECT_EQ(std::get<AddedAttributes>(*shown).attributes, attributes);
    EXPECT_TRUE(std::holds_alternative<Alive>(*from_service(data_of(packet_of(FromService(Alive{}))))));
}

TEST(Messages, TheEndsOfStartsComeAsTheyWent) {
    const auto started = to_service(data_of(packet_of(ToService(Started{11}))));
    ASSERT_TRUE(started && std::holds_alternative<Started>(*started));
    EXPECT_EQ(std::get<Started>(*started).ticket, 11U);
    const auto abandoned = to_service(data_of(packet_of(ToService(Abandon{12}))));
    ASSERT_TRUE(abandoned && std::holds_alternative<Abandon>(*abandoned));
    EXPECT_EQ(std::get<Abandon>(*abandoned).ticket, 12U);
}

TEST(Messages, WhatIsNoneIsRefused) {
    const std::string good = data_of(packet_of(ToService(Changed{1})));
    EXPECT_TRUE(to_service(good));
    EXPECT_THAT(to_service(good + "+1").error().message, HasSubstr("end of the message"));
    EXPECT_FALSE(to_service(good.substr(0, good.size() - 1)));
    EXPECT_THAT(to_service("+9").error().message, HasSubstr("kind of message"));
    EXPECT_FALSE(to_service(""));
    EXPECT_FALSE(from_service("rubbish"));
    // The message is well formed, but the request in it isn't.
    std::string ask = data_of(packet_of(ToService(Ask{1, Ask::Kind::whole, 0, "", {}})));
    ask.replace(ask.rfind("+2+2+0"), 6, "+3+2+0");
    EXPECT_THAT(to_service(ask).error().message, HasSubstr("request"));
}

// The shim has to recognise attributes of the plugin in requests. So its table has to agree with the tables
// of objects/.
TEST(Owned, IsWhatTheTablesHave) {
    const auto expect_all = [](std::uint32_t type, std::span<const objects::Attribute> table) {
        std::size_t count = 0;
        for (const OwnedAttribute& one : kOwned)
            if (one.object_type == type && one.settable) ++count;
        EXPECT_EQ(count, table.size());
        for (const objects::Attribute& attribute : table)
            EXPECT_TRUE(is_ours(type, std::string(attribute.name))) << attribute.name;
    };
    expect_all(PBS_OBJ_SERVER, objects::server_attributes());
    expect_all(PBS_OBJ_QUEUE, objects::queue_attributes());
    expect_all(PBS_OBJ_SCHED, objects::sched_attributes());
    EXPECT_TRUE(is_ours(PBS_OBJ_SCHED, "POLICY"));
    EXPECT_FALSE(is_ours(PBS_OBJ_SCHED, "active_policy"));
    EXPECT_FALSE(is_ours(PBS_OBJ_QUEUE, "policy"));
}

}  // namespace
}  // namespace pbs::openpbs
