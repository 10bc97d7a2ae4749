#include "objects/config_json.h"

#include <gmock/gmock.h>

#include "tests/objects/store_fixture.h"

namespace pbs::objects {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ConfigJsonTest : public StoreTest {
  protected:
    static std::string refusal(std::string_view json) {
        const auto read = from_document(json);
        EXPECT_FALSE(read) << json << " was accepted";
        if (read) return {};
        EXPECT_EQ(read.error().code, Code::bad_value);
        return read.error().message;
    }
};

TEST_F(ConfigJsonTest, DocumentHasEveryTypeInOneOrder) {
    run("c f g1 tree_element=\"a:root=3,b:a=1\"");
    run("c p p1 by_queue=False, fairshare_group=g1, comment=\"by, night\"");
    run("s s non_work_days=01/01");
    run("c t t1 rrule=FREQ=DAILY, type=prime");
    run("s q q1 time_window=t1");
    EXPECT_EQ(to_document(*store_->snapshot()), R"({
  "format": 1,
  "server": {"non_work_days": ["FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1"]},
  "queue": {
    "q1": {"time_window": ["t1"]}
  },
  "sched": {
    "default": {"policy": ["default_policy"]}
  },
  "policy": {
    "default_policy": {},
    "p1": {"by_queue": "False", "fairshare_group": "g1", "comment": "by, night"}
  },
  "time_window": {
    "t1": {"rrule": "FREQ=DAILY", "type": "prime"}
  },
  "fs_group": {
    "g1": {"tree_element": ["a:root=3", "b:a=1"]}
  },
  "quota": {}
}
)");
}

TEST_F(ConfigJsonTest, EmptyConfigurationHasEverySection) {
    EXPECT_EQ(
        to_document(Snapshot{}),
        "{\n  \"format\": 1,\n  \"server\": {},\n  \"queue\": {},\n  \"sched\": {},\n  \"policy\": {},\n"
        "  \"time_window\": {},\n  \"fs_group\": {},\n  \"quota\": {}\n}\n");
    const auto read = from_document(to_document(Snapshot{}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->size(), 1U);  // the server object, which always exists
}

TEST_F(ConfigJsonTest, ValuesThatAreNotUtf8AreKeptByteByByte) {
    Object object(ObjectType::policy, "p1");
    const Attribute& comment = *find_attribute(ObjectType::policy, "comment");
    object.assign(comment, Value(std::string("caf\xe9")));
    EXPECT_EQ(to_json(&object), R"({"comment":{"hex":"636166e9"}})");
    const auto back = from_json(ObjectType::policy, "p1", to_json(&object));
    ASSERT_TRUE(back && *back);
    EXPECT_EQ(**back, object);
}

TEST_F(ConfigJsonTest, HistoryRowsReadBack) {
    run("c p p1 by_queue=False, batch_queues=\"queue1,workq\"");
    const Object& p1 = *store_->snapshot()->policy("p1");
    const auto back = from_json(ObjectType::policy, "p1", to_json(&p1));
    ASSERT_TRUE(back && *back);
    EXPECT_EQ(**back, p1);
    const auto nothing = from_json(ObjectType::policy, "p1", "null");
    ASSERT_TRUE(nothing);
    EXPECT_FALSE(*nothing);
    for (const char* senseless : {"", "[]", R"({"no_such":"1"})", R"({"by_queue":"maybe"})",
                                  R"({"by_queue":["True"]})", R"({"batch_queues":"a"})"}) {
        EXPECT_FALSE(from_json(ObjectType::policy, "p1", senseless)) << senseless;
    }
}

TEST_F(ConfigJsonTest, MistakesOfGrammarHaveLineAndColumn) {
    EXPECT_THAT(refusal("{\n  \"format\": 1,\n  \"policy\": }"), HasSubstr("line 3, column 13:"));
    EXPECT_THAT(refusal(""), HasSubstr("line 1, column 1:"));
    EXPECT_THAT(refusal("{\"format\": 1} x"), HasSubstr("line 1, column 15:"));
}

TEST_F(ConfigJsonTest, EverythingThatIsWrongIsToldAtOnce) {
    const std::string message = refusal(R"({"polices": {}, "policy": {"p1": {"by_queue": true},
        "p2": 7, "p3": {"batch_queues": ["a", 1]}}, "time_window": []})");
    EXPECT_THAT(message, AllOf(HasSubstr("there is no \"format\""), HasSubstr("unknown key \"polices\""),
                               HasSubstr("policy p1: by_queue: found true"), HasSubstr("policy p2: found 7"),
                               HasSubstr("policy p3: batch_queues: found 1"),
                               HasSubstr("time_window: found an array")));
}

TEST_F(ConfigJsonTest, RepeatedKeysAndOtherFormatsAreRefused) {
    EXPECT_THAT(refusal(R"({"format": 1, "policy": {"p1": {}, "p1": {}}})"), HasSubstr("\"p1\" is twice"));
    EXPECT_THAT(refusal(R"({"format": 2})"), HasSubstr("found 2, this version reads format 1"));
    EXPECT_THAT(refusal("[]"), HasSubstr("found an array, expected an object"));
    EXPECT_THAT(refusal(R"({"format": 1, "server": {"x": {"hex": "0"}}})"), HasSubstr("server: x: found"));
}

}  // namespace
}  // namespace pbs::objects
