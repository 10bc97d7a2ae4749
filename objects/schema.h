// The attribute tables: one static table per object type, from which parsing, defaults, listing, help,
// completion, the notes on what isn't acted on and the manual pages all come. An attribute is added by adding
// a row; those of policies are in policy_attributes.def.
//
// This header and value.h need neither SQLite nor the recurrence library: link pbs_objects_schema.
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

namespace pbs::objects {

// The numbers are those of the batch protocol. Nodes and resources have no attributes of this project: they
// are here for the history alone.
enum class ObjectType : int {
    server = 0,
    queue = 1,
    node = 3,
    resource = 5,
    sched = 6,
    policy = 64,
    time_window = 65,
    fs_group = 66
};

// Attribute operators, as the batch protocol numbers them.
enum class Operation : int { set = 0, unset = 1, increment = 2, decrement = 3 };

// The type that the documents give to an attribute, and that help and manual pages show.
enum class AttributeType {
    boolean,
    boolean_or_date,  // of the Origin options: a boolean, or MM/DD/YYYY[@HH:MM:SS]
    integer,
    real,
    size,
    duration,  // HH:MM:SS or seconds
    time,      // time of day
    string,
    string_array,
    fs_group,  // the name of one
};

// How the text of a value is read and what it is held as; finer than the type. max_starve is a string in
// PP-748 whose text is a duration: type string, syntax duration.
enum class Syntax {
    boolean,            // bool
    boolean_or_date,    // BooleanOrDate
    integer,            // std::int64_t, within minimum and maximum
    percentage,         // std::int64_t: 90 or 90%
    real,               // double, within minimum and maximum
    size,               // Size
    duration,           // std::chrono::seconds
    time_of_day,        // TimeOfDay
    variance,           // Variance: -mm%,+nn%
    text,               // std::string, anything on one line
    word,               // std::string, one of words
    pathname,           // std::string
    output_file,        // std::string: a name in the scheduler's folder of outputs (output_file.h)
    program,            // std::string: an absolute path
    host,               // std::string: a host name
    formula,            // std::string: an arithmetic expression
    rrule,              // std::string: RFC 5545
    preempt_order,      // std::string: "SCR 70 SC 30"
    preempt_prio,       // std::string: "express_queue, normal_jobs"
    queue,              // std::string: queue or queue@host
    object_name,        // std::string: an object of `refers_to`
    queue_list,         // StringList of queue or queue@host
    resource_list,      // StringList of resource names
    node_sort_keys,     // StringList of "resource HIGH|LOW [total|assigned|unused]"
    job_sort_keys,      // StringList of "resource HIGH|LOW"
    peer_queues,        // StringList of "local_queue queue@server"
    dynamic_resources,  // StringList of "resource !/path/of/program arguments"
    tree_elements,      // StringList of "name:parent=shares"
    rrule_list,         // StringList of recurrences, MM/DD or MM/DD/YYYY
    object_names,       // StringList of objects of `refers_to`
    policy_slots,       // StringList of [p:|np:]policy
};

enum AttributeFlag : unsigned {
    plain = 0,
    kReadOnly = 1,        // shown, never set
    shown_as_string = 2,  // of type string in PP-748, whatever its syntax
    operator_sets = 4,    // PBS operators may change it, not only managers
    origin = 8,           // an option of the Origin scheduler, in lower case
};

// The algorithm of a policy with which an attribute is acted on.
enum class ActsWith : std::uint8_t { both, standard, origin, neither };

// Which values of an attribute ask for what isn't done.
enum class Asks : std::uint8_t {
    anything,   // all but False, the default, and, where there is no default, 0 and none
    always,     // as `anything`, and the default does too where the attribute isn't set
    element,    // an element with `word` among its words, or a value that isn't a list
    elsewhere,  // an output file that isn't the name of a file alone (output_file.h)
    host,       // a queue with a host, queue@host, with algorithm `word`
    of,         // what is set, but False, 0 and none, with another algorithm than `word`
    without,    // as `of`, while nothing that `word` names is on: attributes, or attribute=value, with " or "
                // between them
    element_without,  // as `element`, of a formula a name in it, of any that `word` names with " or " between
                      // them, while nothing that `why` names is on
};

// What of an attribute isn't acted on, besides with another algorithm.
struct Note {
    Asks asks = Asks::anything;
    std::string_view word{};
    std::string_view why{};  // half a sentence; empty where `word` says it
};

// A list within a row of a constant table.
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
    std::string_view default_value;  // text; empty: not set by default
    unsigned flags;                  // of AttributeFlag
    std::string_view help;           // one sentence, without a full stop at its end
    std::string_view example;        // a qmgr command
    Few<std::string_view> words{};   // of Syntax::word
    double minimum = 0;              // of numbers
    double maximum = 9e15;
    std::string_view alias{};  // another name under which it can be given; listed under `name` only
    std::optional<ObjectType> refers_to{};
    Few<Note> notes{};
    ActsWith acts_with = ActsWith::both;

    bool is_list() const { return type == AttributeType::string_array; }
};

// The table of a type, in the order of listing. For server, queue and sched: the attributes that this
// project adds to them. Valid for the life of the process. Empty for a number that is no type.
std::span<const Attribute> attributes(ObjectType type);

// The row of a name or alias; null if the type has none. The case of letters doesn't count, as in PBS.
const Attribute* find_attribute(ObjectType type, std::string_view name);
// The position of a row in its table.
std::size_t attribute_index(ObjectType type, const Attribute& attribute);

// "policy", "time_window", ...: as qmgr writes it.
std::string_view type_name(ObjectType type);
// The type of a qmgr word: the full name, or an abbreviation down to one letter as in PP-748: "p" is policy,
// "t" time_window, "f" fs_group, "s" server, "q" queue. "sc" and longer: sched.
std::optional<ObjectType> type_from_word(std::string_view word);
// The three types that exist only here: policy, time_window, fs_group.
std::span<const ObjectType> own_types();
bool is_own_type(ObjectType type);
// An object as messages name it: "policy p1", "server".
std::string object_title(ObjectType type, std::string_view name);
// One sentence on what objects of this type are for.
std::string_view type_help(ObjectType type);
// "Boolean", "string_array", ...: as PP-748 and the manual pages write a type.
std::string_view type_text(AttributeType type);
// What a value of this attribute looks like, for errors and help: "True or False", "HH:MM:SS or seconds".
std::string expected_text(const Attribute& attribute);

}  // namespace pbs::objects
