// Typed attribute values: reading from text, canonical text, and the operators =, += and -=.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "objects/error.h"
#include "objects/schema.h"
#include "values/comparison.h"

namespace pbs::objects {

// Seconds after local midnight, 0 to 86400; 86400 (24:00:00) is the end of the day.
struct TimeOfDay {
    std::chrono::seconds since_midnight{0};
    friend bool operator==(const TimeOfDay&, const TimeOfDay&) = default;
};

// An amount of memory in bytes.
struct Size {
    std::int64_t bytes = 0;
    friend bool operator==(const Size&, const Size&) = default;
};

// A date and time in the server's zone, not yet an instant.
struct LocalTime {
    int year = 0;
    int month = 1;
    int day = 1;
    int hour = 0;
    int minute = 0;
    int second = 0;
    friend bool operator==(const LocalTime&, const LocalTime&) = default;
};

// A boolean of the Origin scheduler: a plain one, or one that is false until a date and true from then on
// (sched-config guide, "ARGUMENT TYPES").
struct BooleanOrDate {
    bool value = false;             // if there is no date
    std::optional<LocalTime> from;  // if there is one: true from then on
    friend bool operator==(const BooleanOrDate&, const BooleanOrDate&) = default;
};

// A tolerated deviation, in percent: -15%,+10% is {15, 10}.
struct Variance {
    int below = 0;
    int above = 0;
    friend bool operator==(const Variance&, const Variance&) = default;
};

using StringList = std::vector<std::string>;

using Value = std::variant<bool, std::int64_t, double, std::string, StringList, std::chrono::seconds,
                           TimeOfDay, Size, BooleanOrDate, Variance>;

// Reads an attribute's value from what a user typed. Checks its syntax only: check.h checks whether the
// objects that it names exist, and what a recurrence or a formula means. Errors: bad_value, naming attribute,
// value, and what is expected.
Result<Value> parse_value(const Attribute& attribute, std::string_view text);

// The canonical text of a value, which parse_value reads back to an equal value: True and False, HH:MM:SS,
// list elements joined by commas.
std::string format_value(const Attribute& attribute, const Value& value);
// The elements of a list value in canonical text; one element for a scalar.
StringList format_items(const Attribute& attribute, const Value& value);
// The value of canonical texts as format_items() makes them; checks the syntax of each element. Errors:
// bad_value.
Result<Value> value_of_items(const Attribute& attribute, const StringList& items);

// The result of `operation` with `text` on an attribute's value: lists append (an element that is there
// already isn't repeated) and remove, integers, reals, durations and sizes add and subtract, strings append
// and remove a last occurrence, as PBS does. nullopt: the attribute ends up without a value. `current` may be
// null: not set.
Result<std::optional<Value>> combine(const Attribute& attribute, const Value* current, Operation operation,
                                     std::string_view text);

// Parsers of single types, also used by migrate/ and the tests. Errors quote `what`.
Result<bool> parse_boolean(std::string_view what, std::string_view text);
Result<std::chrono::seconds> parse_duration(std::string_view what, std::string_view text);
Result<TimeOfDay> parse_time_of_day(std::string_view what, std::string_view text);
Result<Size> parse_size(std::string_view what, std::string_view text);
Result<BooleanOrDate> parse_boolean_or_date(std::string_view what, std::string_view text);
std::string format_duration(std::chrono::seconds duration);

// Splits a list as PBS writes it: elements separated by commas, blanks around them dropped, an element in
// quotes taken literally. Errors: an empty element or an open quote.
Result<StringList> split_list(std::string_view what, std::string_view text);
// Splits a list of recurrences, whose parts have commas of their own (BYDAY=MO,TU): a comma separates two
// rules only if a rule or a date such as 01/01 begins after it.
Result<StringList> split_rules(std::string_view what, std::string_view text);

// Checks that an object may have this name: a letter first, then letters, digits, '-', '_' and '.', at most
// `longest` characters. Errors: bad_value, name_too_long.
Result<void> check_name(std::string_view what, std::string_view name, std::size_t longest = 64);

// The parts of an element of a fairshare tree: "group01:root=30".
struct TreeElement {
    std::string_view name;
    std::string_view parent;
    std::string_view shares;
};
// Splits a canonical tree element.
TreeElement tree_element(std::string_view element);

// The letters of the owners of jobs in such elements: users, groups, projects, queues.
inline constexpr std::string_view kOwnerLetters = "ugpq";
struct OwnerElement {
    char letter;
    std::string_view name;
    std::string_view weight;
};
// Splits a canonical element such as "[u:ann=100]".
OwnerElement owner_element(std::string_view element);

// The parts of an element of node_sort_key_of_place: "scatter: ncpus HIGH unused + mem LOW".
struct PlaceElement {
    std::string_view place;
    std::vector<std::string> keys;  // as elements of node_sort_key
};
// Splits a canonical element.
PlaceElement place_element(std::string_view element);

// The parts of an element of load_thresholds: "long:np_load_avg >= 1.75".
struct LoadElement {
    std::string_view queue;  // empty: all queues
    std::string_view name;
    values::Comparison how;
    std::string_view number;
};
// Splits a canonical element.
LoadElement load_element(std::string_view element);

}  // namespace pbs::objects
