#include "objects/value.h"

#include <gmock/gmock.h>

#include "values/amount.h"

namespace pbs::objects {
namespace {

using std::chrono::seconds;

TEST(Boolean, HasTheWordsOfPbs) {
    for (const char* word : {"True", "TRUE", "true", "t", "T", "y", "Y", "1"})
        EXPECT_EQ(parse_boolean("a", word), true) << word;
    for (const char* word : {"False", "FALSE", "f", "n", "0"})
        EXPECT_EQ(parse_boolean("a", word), false) << word;
    for (const char* word : {"", "yes", "on", "11", "tru", "tRue"})
        EXPECT_FALSE(parse_boolean("a", word)) << word;
}

TEST(Duration, IsReadFromTheRight) {
    EXPECT_EQ(parse_duration("a", "90"), seconds(90));
    EXPECT_EQ(parse_duration("a", "01:30"), seconds(90));
    EXPECT_EQ(parse_duration("a", "4:00:00"), seconds(14400));
    EXPECT_EQ(parse_duration("a", "1000:00:01"), seconds(3600001));
    for (const char* text : {"", ":", "1:", "1:2:3:4", "-1", "1.x", "1h"})
        EXPECT_FALSE(parse_duration("a", text)) << text;
    // OpenPBS reads these durations in the same way (see tests/values/amount_test.cc)
    EXPECT_EQ(parse_duration("a", "1:60"), seconds(120));
    EXPECT_EQ(parse_duration("a", "1.5"), seconds(2));
    EXPECT_EQ(values::duration_text(seconds(3600001)), "1000:00:01");
}

TEST(BadValue, NamesTheMistakeBeforeTheForm) {
    EXPECT_EQ(
        parse_duration("walltime", "99999999999").error().message,
        "walltime: bad value '99999999999': it is too long; expected a duration as HH:MM:SS or in seconds");
    EXPECT_EQ(parse_duration("walltime", "soon").error().message,
              "walltime: bad value 'soon': expected a duration as HH:MM:SS or in seconds");
    EXPECT_EQ(bad_value("a", std::string(201, 'x'), "less").value().message,
              "a: bad value '" + std::string(200, 'x') + "...': expected less");
}

TEST(BadValue, SaysTheLeastThatIsAllowed) {
    const Attribute& half_life = *find_attribute(ObjectType::fs_group, "half_life");
    EXPECT_THAT(
        parse_value(half_life, "0").error().message,
        testing::HasSubstr("half_life: bad value '0': it is too short, the least is 00:01:00; expected"));
    const Attribute& size = *find_attribute(ObjectType::policy, "ssinode_mem");
    EXPECT_THAT(parse_value(size, "0").error().message,
                testing::HasSubstr("it is too small, the least is 1b;"));
}

TEST(Weights, AreNumbersOfAtLeast0) {
    for (const char* name : {"weight_job_priority", "weight_urgency", "weight_waiting_time",
                             "weight_deadline", "weight_tickets"}) {
        const Attribute& weight = *find_attribute(ObjectType::policy, name);
        EXPECT_TRUE(parse_value(weight, "3600000000000.5")) << name;
        EXPECT_THAT(parse_value(weight, "-1").error().message,
                    testing::HasSubstr("from 0 to 9000000000000000"))
            << name;
        // Urgencies are products of weights with amounts and times, and have to be numbers.
        for (const char* endless : {"1e302", "9.1e15", "inf", "nan"})
            EXPECT_FALSE(parse_value(weight, endless)) << name << "=" << endless;
    }
}

// Names of users may begin with a digit or an underscore.
TEST(Members, AreUsersAndGroups) {
    const Attribute& users = *find_attribute(ObjectType::policy, "deadline_users");
    for (const char* text : {"ann", "@physics", "1ann,_bob", "m-1.x+2", "@2nd", "svc$"})
        EXPECT_TRUE(parse_value(users, text)) << text;
    for (const char* text : {"@", "a b", "a:b", "@@a", "a@b", "a*"})
        EXPECT_FALSE(parse_value(users, text)) << text;
}

TEST(TimeOfDay, HasThreeForms) {
    EXPECT_EQ(parse_time_of_day("a", "0600")->since_midnight, std::chrono::hours(6));
    EXPECT_EQ(parse_time_of_day("a", "6:00")->since_midnight, std::chrono::hours(6));
    EXPECT_EQ(parse_time_of_day("a", "06:00:01")->since_midnight, seconds(21601));
    EXPECT_EQ(parse_time_of_day("a", "24:00")->since_midnight, std::chrono::hours(24));
    EXPECT_EQ(parse_time_of_day("a", "2400")->since_midnight, std::chrono::hours(24));
    for (const char* text :
         {"", "600", "2401", "24:00:01", "06:0", "06:00:60", "6", "123456", "-6:00", "06:00pm"}) {
        EXPECT_FALSE(parse_time_of_day("a", text)) << text;
    }
}

TEST(Size, HasSuffixesInBytesAndWords) {
    EXPECT_EQ(parse_size("a", "512")->bytes, 512);
    EXPECT_EQ(parse_size("a", "1b")->bytes, 1);
    EXPECT_EQ(parse_size("a", "2KB")->bytes, 2048);
    EXPECT_EQ(parse_size("a", "512mb")->bytes, 512 << 20);
    EXPECT_EQ(parse_size("a", "3gb")->bytes, 3LL << 30);
    EXPECT_EQ(parse_size("a", "1tb")->bytes, 1LL << 40);
    EXPECT_EQ(parse_size("a", "1m")->bytes, 1 << 20);
    EXPECT_EQ(parse_size("a", "2w")->bytes, 16);
    EXPECT_EQ(parse_size("a", "2kw")->bytes, 16384);
    for (const char* text :
         {"", "mb", "-1mb", "1.5mb", "1 mb", "1xb", "1mbb", "99999999999tb", "9223372036854775808"}) {
        EXPECT_FALSE(parse_size("a", text)) << text;
    }
}

TEST(BooleanOrDate, HasOriginsWordsAndDates) {
    for (const char* word : {"True", "yes", "ON", "1"})
        EXPECT_TRUE(parse_boolean_or_date("a", word)->value) << word;
    for (const char* word : {"False", "no", "off", "0"})
        EXPECT_FALSE(parse_boolean_or_date("a", word)->value) << word;
    EXPECT_EQ(parse_boolean_or_date("a", "09/07/1999@05:01:00")->from, (LocalTime{1999, 9, 7, 5, 1, 0}));
    EXPECT_EQ(parse_boolean_or_date("a", "2/29/2028")->from, (LocalTime{2028, 2, 29, 0, 0, 0}));
    for (const char* text : {"13/01/1999", "02/29/2027", "01/01/99", "01/01", "01/01/1999@24:00:00",
                             "01/01/1999@05:01", "maybe"}) {
        EXPECT_FALSE(parse_boolean_or_date("a", text)) << text;
    }
}

TEST(Lists, AreSplitAtCommasOutsideQuotes) {
    EXPECT_EQ(*split_list("a", " x ,y z,\"p,q\",'it\"s'"), (StringList{"x", "y z", "p,q", "it\"s"}));
    for (const char* text : {"", ",", "a,", ",a", "a,,b", "\"a", "\"a\"b"})
        EXPECT_FALSE(split_list("a", text)) << text;
}

// A list that is printed is read again as the same list.
TEST(Rules, ABackslashAtTheEndOfANameStays) {
    const Attribute& days = *find_attribute(ObjectType::server, "non_work_days");
    for (const char* text : {"01/01 A\\ , DAILY=1", "01/01 A\\\\ , DAILY=1", "01/01 A\\", "01/01 A\\, B"}) {
        const auto value = parse_value(days, text);
        ASSERT_TRUE(value) << text;
        const std::string printed = format_value(days, *value);
        const auto again = parse_value(days, printed);
        ASSERT_TRUE(again) << printed;
        EXPECT_EQ(*again, *value) << printed;
    }
}

TEST(Rules, KeepTheirOwnCommas) {
    EXPECT_EQ(
        *split_rules("a", "FREQ=WEEKLY;BYDAY=MO,TU,FREQ=YEARLY;BYMONTH=1,2;BYDAY=1MO,-1FR,01/01, 12/25/2026"),
        (StringList{"FREQ=WEEKLY;BYDAY=MO,TU", "FREQ=YEARLY;BYMONTH=1,2;BYDAY=1MO,-1FR", "01/01",
                    "12/25/2026"}));
    EXPECT_EQ(*split_rules(
                  "a",
                  "DTSTART:20260101 "
                  "RRULE:FREQ=DAILY;COUNT=2,RRULE:FREQ=DAILY,RDATE:20260101,20260102,BYDAY=MO;FREQ=WEEKLY"),
              (StringList{"DTSTART:20260101 RRULE:FREQ=DAILY;COUNT=2", "RRULE:FREQ=DAILY",
                          "RDATE:20260101,20260102", "BYDAY=MO;FREQ=WEEKLY"}));
    EXPECT_EQ(*split_rules("a", "EXDATE;TZID=Europe/Berlin:20260101T000000,20260102T000000 RRULE:FREQ=DAILY"),
              (StringList{"EXDATE;TZID=Europe/Berlin:20260101T000000,20260102T000000 RRULE:FREQ=DAILY"}));
    EXPECT_FALSE(split_rules("a", ""));
    EXPECT_FALSE(split_rules("a", ",01/01"));
}

const Attribute& policy(std::string_view name) {
    return *find_attribute(ObjectType::policy, name);
}

// Applies the operation with `text` to the value `before` (empty: the attribute is unset). Returns the text
// of the new value; "unset" if none is left, "error" if the operation is refused.
std::string combined(std::string_view name, std::string_view before, Operation operation,
                     std::string_view text) {
    std::optional<Value> current;
    if (!before.empty()) current = *parse_value(policy(name), before);
    const auto result = combine(policy(name), current ? &*current : nullptr, operation, text);
    if (!result) return "error";
    return *result ? format_value(policy(name), **result) : "unset";
}

constexpr Operation kPlus = Operation::increment;
constexpr Operation kMinus = Operation::decrement;

TEST(Combine, ListsGainAndLoseElements) {
    EXPECT_EQ(combined("batch_queues", "", kPlus, "a"), "a");
    EXPECT_EQ(combined("batch_queues", "a,b", kPlus, "c,a"), "a,b,c");
    EXPECT_EQ(combined("batch_queues", "a,b,c", kMinus, "b,x"), "a,c");
    EXPECT_EQ(combined("batch_queues", "a", kMinus, "a"), "unset");
    EXPECT_EQ(combined("batch_queues", "a", kPlus, "not a queue"), "error");
    EXPECT_EQ(combined("batch_queues", "a", Operation::set, "b,b"), "error");
    EXPECT_EQ(combined("node_sort_key", "ncpus HIGH", kMinus, "ncpus  high"), "unset");
}

TEST(Combine, NumbersAddAndSubtractWithinTheirLimits) {
    EXPECT_EQ(combined("backfill_depth", "3", kPlus, "2"), "5");
    EXPECT_EQ(combined("backfill_depth", "3", kMinus, "4"), "error");
    EXPECT_EQ(combined("log_event", "2147483647", kPlus, "1"), "error");
    EXPECT_EQ(combined("log_event", "1", kPlus, "9223372036854775807"), "error");
    EXPECT_EQ(combined("max_queued_time", "01:00:00", kPlus, "30:00"), "01:30:00");
    EXPECT_EQ(combined("max_queued_time", "01:00:00", kMinus, "02:00:00"), "error");
    EXPECT_EQ(combined("ssinode_mem", "512mb", kPlus, "512mb"), "1gb");
    EXPECT_EQ(combined("ssinode_mem", "512mb", kMinus, "512mb"), "error");
    EXPECT_EQ(combined("decay_factor", "0.5", kPlus, "0.25"), "0.75");
    EXPECT_EQ(combined("decay_factor", "0.5", kPlus, "0.75"), "error");
}

TEST(Combine, TextIsAppendedAndOtherTypesRefuse) {
    EXPECT_EQ(combined("comment", "down", kPlus, " today"), "down today");
    EXPECT_EQ(combined("comment", "down today", kMinus, " today"), "down");
    EXPECT_EQ(combined("comment", "x", kMinus, "x"), "unset");
    EXPECT_EQ(combined("by_queue", "True", kPlus, "True"), "error");
    EXPECT_EQ(combined("preempt_order", "SCR", kPlus, "S"), "error");
    EXPECT_EQ(combined("prime_time_start", "06:00", kPlus, "01:00"), "error");
}

TEST(Combine, EmptyValueUnsets) {
    EXPECT_EQ(combined("comment", "x", Operation::set, ""), "unset");
    EXPECT_EQ(combined("by_queue", "True", Operation::set, "  "), "unset");
    EXPECT_EQ(combined("by_queue", "True", Operation::unset, "ignored"), "unset");
}

TEST(Format, QuotesElementsThatNeedIt) {
    const Attribute& attribute = policy("server_dyn_res");
    const Result<Value> value = parse_value(attribute, "\"mem !/bin/get -x 1,2\",ncpus !/bin/n");
    ASSERT_TRUE(value);
    EXPECT_EQ(format_value(attribute, *value), "\"mem !/bin/get -x 1,2\",ncpus !/bin/n");
    EXPECT_EQ(*parse_value(attribute, format_value(attribute, *value)), *value);
}

TEST(Parse, NumbersAreWholeTexts) {
    for (const char* text : {"1x", "0x10", "", "--1", "+-1", "1 2"})
        EXPECT_FALSE(parse_value(policy("preempt_queue_prio"), text)) << text;
    EXPECT_EQ(std::get<std::int64_t>(*parse_value(policy("preempt_queue_prio"), " +12 ")), 12);
    EXPECT_EQ(std::get<std::int64_t>(*parse_value(policy("target_load_pct"), "95%")), 95);
    EXPECT_EQ(std::get<Variance>(*parse_value(policy("target_load_variance"), "-90%, +10%")),
              (Variance{90, 10}));
    for (const char* text : {"10%,10%", "+10%,-10%", "-10%", "-10,+10", "-10%,+10%,+1%"}) {
        EXPECT_FALSE(parse_value(policy("target_load_variance"), text)) << text;
    }
}

TEST(CheckName, FollowsTheRulesOfPbs) {
    EXPECT_TRUE(check_name("name", "a-b_c.9"));
    EXPECT_FALSE(check_name("name", ""));
    EXPECT_FALSE(check_name("name", "9a"));
    EXPECT_EQ(check_name("name", "abcdefghijklmnop", 15).error().code, Code::name_too_long);
}

// Returns the elements e<first> to e<end - 1> of a tree in which each element is below the one with the next
// lower number: "e0:root=1,e1:e0=1,...".
std::string tree_text(int first, int end) {
    std::string text;
    for (int i = first; i < end; ++i) {
        if (i > first) text += ',';
        text += "e" + std::to_string(i) + ":" + (i == 0 ? "root" : "e" + std::to_string(i - 1)) + "=1";
    }
    return text;
}

TEST(LongValues, ATreeNamesEveryUserOfASite) {
    const Attribute& tree = *find_attribute(ObjectType::fs_group, "tree_element");
    const auto value = parse_value(tree, tree_text(0, 100'000));
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(std::get<StringList>(*value).size(), 100'000U);
    const std::string blanks(4U << 20U, ' ');
    EXPECT_FALSE(parse_value(tree, tree_text(0, 2) + blanks));
    // += is also refused if it would make the tree longer than the limit
    const auto most = parse_value(tree, tree_text(0, 230'000));
    ASSERT_TRUE(most) << most.error().message;
    const auto more = combine(tree, &*most, Operation::increment, tree_text(230'000, 460'000));
    ASSERT_FALSE(more);
    EXPECT_THAT(more.error().message,
                ::testing::MatchesRegex("tree_element: the value is .* characters long; at most 4194304 are "
                                        "allowed"));
}

TEST(LongValues, OthersAreShort) {
    const Attribute& comment = *find_attribute(ObjectType::fs_group, "comment");
    EXPECT_TRUE(parse_value(comment, std::string(65536, 'a')));
    EXPECT_FALSE(parse_value(comment, std::string(65537, 'a')));
}

}  // namespace
}  // namespace pbs::objects
