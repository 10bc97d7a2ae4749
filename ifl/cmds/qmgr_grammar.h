// qmgr's language: one directive of text into a structure. Pure: no network, no clock.
//
//   <command> <object type> [<name>[@<server>][,...]] [<attribute>[.<resource>] [<op> <value>] [,...]]
//
// Commands and object types may be abbreviated: the first that begins with the given letters, in the order of
// command_words() and of object_types(), is meant. What stands third is a name, unless an operator follows it
// or (for unset, list, print) it is an attribute of the type.
//
// A value ends at an unquoted comma that an "attribute op" follows, so that `policy=p:p1,np:p2` is one value
// and `by_queue=False, strict_ordering=True` are two. Where no attribute follows, the comma belongs to the
// value. A part in brackets, as in `tree_element = [ g1:root = 30 ]`, may hold blanks and commas.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace pbs::cmds {

enum class Command { create, remove, set, unset, list, print, active, help, quit, history };

// The numbers are those of the batch protocol (enum mgr_obj in pbs_ifl.h).
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

// The numbers are those of the batch protocol (enum batch_op in pbs_ifl.h).
enum class Operator : int { set = 0, unset = 1, increment = 2, decrement = 3 };

struct Assignment {
    std::string name;
    std::string resource;
    Operator op = Operator::set;
    std::string value;
};

struct ObjectName {
    std::string name;  // empty: all objects of the type (or the server itself)
    // Which server has it: none given, or @active: the active ones. "" is the default server (@default).
    std::optional<std::string> server;
};

struct Directive {
    Command command = Command::list;
    ObjectType type = ObjectType::server;
    std::vector<ObjectName> names;
    std::vector<Assignment> attributes;
    std::string topic;  // what follows help and history
};

struct SyntaxError {
    // One line for stderr. When `offset` is set, it is about that place in the directive.
    std::string message;
    std::optional<std::size_t> offset;
    // 1: the command, 2: the object type, 3: the names, 4: the attributes. qmgr's exit status.
    int status = 4;
};

// The line of a directive that has the place `offset`, and a line with a caret below that place.
std::string marked(std::string_view text, std::size_t offset);

// Does an object type have an attribute of this name?
using IsAttribute = std::function<bool(ObjectType, std::string_view)>;

// Parses one directive: no comment, no `;` behind it. Blank text is not a directive.
tl::expected<Directive, SyntaxError> parse_directive(std::string_view text, const IsAttribute& is_attribute);

// Lines of input into directives: takes comments out, joins lines that end with a backslash, and parts lines
// at semicolons outside quotes that are followed by a command (so that the semicolons of an unquoted
// rrule=FREQ=WEEKLY;BYDAY=MO stay).
class DirectiveReader {
  public:
    // Takes one line, without its newline.
    void add_line(std::string_view line);
    // Takes all of a text, as -c gives it: a newline in quotes is part of the value, and one outside ends a
    // directive if a command, a comment or nothing follows it, and is a blank otherwise.
    void add_text(std::string_view text);
    // Forgets a line that is under way.
    void clear();
    // The next complete directive; none: more lines are needed.
    std::optional<std::string> next();
    // At the end of input: a line that ended with a backslash counts as complete.
    void end_of_input();
    // Is a line under way that the next one continues?
    bool continues() const { return continues_; }

  private:
    std::deque<std::string> waiting_;  // lines of a text, after line_
    std::string line_;
    bool continues_ = false;
    bool complete_ = false;
};

struct CommandWord {
    std::string_view word;
    Command command;
};
std::span<const CommandWord> command_words();

struct TypeWord {
    std::string_view word;
    ObjectType type;
    std::string_view title;  // what `list` writes before a name: "Queue"
};
std::span<const TypeWord> object_types();
const TypeWord& type_word(ObjectType type);
// "queue": what one writes of a type for which "queues" is understood too.
std::string_view singular(const TypeWord& type);

std::optional<Command> command_from_word(std::string_view word);
// One of the three types that the plugin adds: policy, time_window, fs_group.
bool is_own(ObjectType type);
std::optional<ObjectType> object_type_from_word(std::string_view word);

}  // namespace pbs::cmds
