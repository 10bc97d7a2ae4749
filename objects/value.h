// Typed values of attributes: reads them from text, writes canonical text, and applies the operators =, +=
// and -=.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "objects/error.h"
#include "objects/schema.h"
#include "values/comparison.h"

namespace pbs::objects {

// A time of day, as seconds after local midnight; 86400 (24:00:00) is the end of the day.
struct TimeOfDay {
    std::chrono::seconds since_midnight{0};
    friend bool operator==(const TimeOfDay&, const TimeOfDay&) = default;
};

// An amount of memory in bytes.
struct Size {
    std::int64_t bytes = 0;
    friend bool operator==(const Size&, const Size&) = default;
};

// A date and time in the server's zone. The zone's rules, which make it an instant, aren't applied yet.
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
    bool value = false;             // the value if there is no date
    std::optional<LocalTime> from;  // if there is a date: the value is true from then on
    friend bool operator==(const BooleanOrDate&, const BooleanOrDate&) = default;
};

// A member that makes a type not trivially copyable.
struct CopiedByCall {
    CopiedByCall() = default;
    CopiedByCall(const CopiedByCall& /*other*/) {}  // NOLINT(modernize-use-equals-default)
    CopiedByCall& operator=(const CopiedByCall& /*other*/) { return *this; }
    friend bool operator==(const CopiedByCall&, const CopiedByCall&) = default;
};

// A tolerated deviation, in percent: -15%,+10% is {15, 10}.
struct Variance {
    int below = 0;
    int above = 0;
    // If all types of a std::variant were trivially copyable, strings or vectors, libstdc++ 12 would take the
    // variant for one that always has a value. A copy that fails for lack of memory has no value yet, and its
    // destructor would jump to any address.
    [[no_unique_address]] CopiedByCall by_call{};
    friend bool operator==(const Variance&, const Variance&) = default;
};
static_assert(!std::is_trivially_copyable_v<Variance>);

using StringList = std::vector<std::string>;

// Refuses a value: "what: bad value 'text': remark; expected a whole number". The message has the beginning
// of a long text.
tl::unexpected<Error> bad_value(std::string_view what, std::string_view text, std::string_view expected,
                                std::string_view remark = {});

using Value = std::variant<bool, std::int64_t, double, std::string, StringList, std::chrono::seconds,
                           TimeOfDay, Size, BooleanOrDate, Variance>;

// Refuses a text of a value that is longer than the attribute allows.
Result<void> check_length(const Attribute& attribute, std::size_t length);
// Refuses an element of an attribute with keys, "name: rule", whose rule is too long.
Result<void> check_element_length(const Attribute& attribute, std::string_view element);
// Reads an attribute's value from text that a user typed. Checks its syntax only; check.h checks whether the
// objects that it names exist, and what a recurrence or a formula means. Errors: bad_value, naming the
// attribute, the value and what was expected.
Result<Value> parse_value(const Attribute& attribute, std::string_view text);

// Returns the canonical text of a value: True and False, HH:MM:SS, list elements joined by commas.
// parse_value() reads the text back to an equal value.
std::string format_value(const Attribute& attribute, const Value& value);
// Returns the elements of a list value in canonical text; a scalar is one element.
StringList format_items(const Attribute& attribute, const Value& value);
// Returns the value of canonical texts as format_items() makes them. Checks the syntax of each element.
// Errors: bad_value.
Result<Value> value_of_items(const Attribute& attribute, const StringList& items);

// Returns the result of `operation` with `text` on the value `current` (null: not set). += appends to a list
// (unless the element is there already), and -= removes from it. For integers, reals, durations and sizes,
// they add and subtract. For strings, += appends the text and -= removes the last place where it occurs, as
// in PBS. nullopt: the attribute has no value afterwards.
Result<std::optional<Value>> combine(const Attribute& attribute, const Value* current, Operation operation,
                                     std::string_view text);

// These functions read and write values of single types, also for migrate/ and the tests. Errors name `what`.
Result<bool> parse_boolean(std::string_view what, std::string_view text);
Result<std::chrono::seconds> parse_duration(std::string_view what, std::string_view text);
Result<TimeOfDay> parse_time_of_day(std::string_view what, std::string_view text);
Result<Size> parse_size(std::string_view what, std::string_view text);
Result<BooleanOrDate> parse_boolean_or_date(std::string_view what, std::string_view text);

// Splits a list as PBS writes it: elements are separated by commas, blanks around them are dropped, and an
// element in quotes is taken literally. Errors: an empty element or a missing quote.
Result<StringList> split_list(std::string_view what, std::string_view text);
// Splits a list of recurrences, in which commas may also separate parts of a rule (BYDAY=MO,TU): a comma
// separates two rules only if a rule or a date such as 01/01 begins after it.
Result<StringList> split_rules(std::string_view what, std::string_view text);
// Returns whether a backslash, which isn't itself escaped, escapes the character at `at`, or would escape
/// one at the end. Names of days escape their commas so.
bool is_escaped(std::string_view text, std::size_t at);

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

// The letters for the owners of jobs in elements such as "[u:ann=100]": users, groups, projects, queues.
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
// Splits a canonical element of node_sort_key_of_place.
PlaceElement place_element(std::string_view element);

// The parts of an element of load_thresholds: "long:np_load_avg >= 1.75".
struct LoadElement {
    std::string_view queue;  // empty: all queues
    std::string_view name;
    values::Comparison how;
    std::string_view number;
};
// Splits a canonical element of load_thresholds.
LoadElement load_element(std::string_view element);

}  // namespace pbs::objects
