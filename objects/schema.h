// The attribute tables: one static table per object type, from which parsing, defaults, listing, help,
// completion, the warnings about values without effect and the manual pages are all made. An attribute is
// added by adding a row; policy_attributes.def has those of policies.
//
// This header and value.h need neither SQLite nor the recurrence library: a program that includes no others
// links pbs_objects_schema.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "values/object_types.h"

namespace pbs::objects {

using values::is_own_type;
using values::ObjectType;
using values::own_types;
using values::type_name;

// The greatest max_range_chunks. To carry out a start with more chunks takes the server too long. A database
// of an earlier release may have up to 100,000, which count as this many.
inline constexpr std::int64_t kMostRangeChunks = 20'000;

// Attribute operators, with the batch protocol's numbers.
enum class Operation : int { set = 0, unset = 1, increment = 2, decrement = 3 };

// The type that documentation and help give to an attribute.
enum class AttributeType {
    boolean,
    boolean_or_date,  // a boolean of an Origin option, or MM/DD/YYYY[@HH:MM:SS]
    integer,
    real,
    size,
    duration,  // HH:MM:SS or seconds
    time,      // time of day
    string,
    string_array,
    fs_group,  // the name of an fs_group; kLastType
};
inline constexpr AttributeType kLastType = AttributeType::fs_group;

// The syntax of a value's text, and the C++ type that holds the value; finer than AttributeType. In PP-748,
// max_starve is a string whose text is a duration: its type is string, its syntax duration.
enum class Syntax {
    boolean,          // bool
    boolean_or_date,  // BooleanOrDate
    integer,          // std::int64_t, within minimum and maximum
    percentage,       // std::int64_t: 90 or 90%
    real,             // double, within minimum and maximum
    size,             // Size
    duration,         // std::chrono::seconds
    time_of_day,      // TimeOfDay
    variance,         // Variance: -mm%,+nn%
    text,             // std::string, anything on one line
    word,             // std::string, one of words
    pathname,         // std::string
    output_file,      // std::string: a name in the scheduler's output folder (output_file.h)
    program,          // std::string: an absolute path
    host,             // std::string: a host name
    formula,          // std::string: an arithmetic expression
    rrule,            // std::string: RFC 5545
    preempt_order,    // std::string: "SCR 70 SC 30"
    preempt_prio,     // std::string: "express_queue, normal_jobs"
    queue,            // std::string: queue or queue@host
    object_name,      // std::string: an object of `refers_to`
    queue_list,       // StringList of queue or queue@host
    resource_list,    // StringList of resource names
    node_sort_keys,   // StringList of "resource HIGH|LOW [total|assigned|unused]"
    place_sort_keys,  // StringList of "word: key + key", the word one of words, each key as in node_sort_keys
    job_sort_keys,    // StringList of "resource HIGH|LOW"
    resource_weights,   // StringList of "resource=weight", a whole number of at least 0
    load_weights,       // StringList of "load=number", the load one of a vnode's loads or resources
    load_thresholds,    // StringList of "queue:load OP number"; without a queue, for all queues
    word_weights,       // StringList of "word=weight", the word one of words
    entity_weights,     // StringList of "[u:name=weight]"; u: user, g: group, p: project, q: queue
    peer_queues,        // StringList of "local_queue queue@server"
    dynamic_resources,  // StringList of "resource !/path/of/program arguments"
    tree_elements,      // StringList of "name:parent=shares"
    quota_rules,        // StringList of "name: rule" (quota_rule.h); each is set by its name, as rule.NAME
    names,              // StringList of names of any kind; @name is a group
    rrule_list,         // StringList of recurrences, MM/DD or MM/DD/YYYY
    object_names,       // StringList of objects of `refers_to`
    policy_slots,       // StringList of [p:|np:]policy; kLastSyntax
};
inline constexpr Syntax kLastSyntax = Syntax::policy_slots;

enum AttributeFlag : unsigned {
    plain = 0,
    kReadOnly = 1,        // shown, never set
    shown_as_string = 2,  // its type is string in PP-748, whatever its syntax
    operator_sets = 4,    // PBS operators may change it, not only managers
    origin = 8,           // an option of the Origin scheduler
};

// The algorithm of a policy under which an attribute has an effect.
enum class ActsWith : std::uint8_t { both, standard, origin, neither };

// The condition under which a value has no effect, and a warning says so.
enum class Asks : std::uint8_t {
    anything,   // any value but False, the default, and, where there is no default, 0 and none
    always,     // as `anything`; also the default of an attribute that isn't set
    element,    // a list element, or a scalar, that has `word` among its words
    elsewhere,  // an output file that isn't the name of a file alone (output_file.h)
    host,       // queue@host under the algorithm `word`
    of,         // any value but False and none (and 0, where there is no default) under another algorithm
                // than `word`
    without,    // as `of`, but while none of the settings in `word` is on: attributes, or attribute=value,
                // separated by " or "
    element_without,  // a formula that uses any name in `word`, while none of the settings in `why` is on;
                      // names and settings are separated by " or "
};

// A case in which an attribute has no effect, in addition to those of Attribute::acts_with.
struct Note {
    Asks asks = Asks::anything;
    std::string_view word{};
    std::string_view why{};  // half a sentence; empty if `word` says enough
};

// A short list within a row of a constant table.
template <class T>
class Few {
  public:
    constexpr Few() = default;
    constexpr Few(std::initializer_list<T> items) : count_(items.size()) {
        std::copy(items.begin(), items.end(), items_.begin());
    }
    constexpr const T* begin() const { return items_.data(); }
    constexpr const T* end() const { return items_.data() + count_; }
    constexpr std::size_t size() const { return count_; }
    constexpr bool empty() const { return count_ == 0; }
    constexpr const T& back() const { return items_[count_ - 1]; }

  private:
    std::array<T, 6> items_{};
    std::size_t count_ = 0;
};

struct Attribute {
    std::string_view name;
    AttributeType type;
    Syntax syntax;
    std::string_view default_value;  // text; empty: no default
    unsigned flags;                  // combined AttributeFlag
    std::string_view help;           // one sentence, without a full stop at its end
    std::string_view example;        // a qmgr command
    Few<std::string_view> words{};   // allowed words of Syntax::word and word_weights
    double minimum = 0;              // range of numbers
    double maximum = 9e15;
    std::string_view alias{};  // another name that is accepted; listings use `name`
    std::optional<ObjectType> refers_to{};
    Few<Note> notes{};
    ActsWith acts_with = ActsWith::both;

    bool is_list() const { return type == AttributeType::string_array; }
    // Returns whether elements are set and shown one by one, as attribute.NAME.
    bool is_keyed() const { return syntax == Syntax::quota_rules; }
};

// Returns the table of a type, in the order of listing; empty if the number is no type. For server, queue and
// sched it has the attributes that pbspolicy adds. It is valid for the life of the process.
std::span<const Attribute> attributes(ObjectType type);

// Finds the row of a name or alias, in any case of letters, as in PBS; null if the type has none.
const Attribute* find_attribute(ObjectType type, std::string_view name);
// Returns the position of a row in its table.
std::size_t attribute_index(ObjectType type, const Attribute& attribute);

// Returns the type that a word means (values/object_types.h): "p" and "policies" mean policy.
std::optional<ObjectType> type_from_word(std::string_view word);
// Returns an object's name for messages: "policy p1", "server".
std::string object_title(ObjectType type, std::string_view name);
// Returns the type's name in PP-748 and the manual pages: "Boolean", "string_array", ...
std::string_view type_text(AttributeType type);
// Returns the form of the attribute's values, for errors and help: "True or False", "HH:MM:SS or seconds".
std::string expected_text(const Attribute& attribute);

}  // namespace pbs::objects
