// qmgr's language: parses the text of one directive into a structure, without network or clock.
//
//   <command> <object type> [<name>[@<server>][,...]] [<attribute>[.<resource>] [<op> <value>] [,...]]
//
// Commands and object types may be abbreviated: the abbreviation means the first word that begins with it, in
// the order of command_words() and of values::kObjectTypes. The third word is a name, unless an operator
// follows it or (for unset, list, print) it is an attribute of the type.
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

#include "values/object_types.h"

namespace pbs::cmds {

enum class Command { create, remove, set, unset, list, print, active, help, quit, history };

using values::ObjectType;

// Operators with the batch protocol's numbers (enum batch_op in pbs_ifl.h).
enum class Operator : int { set = 0, unset = 1, increment = 2, decrement = 3 };

struct Assignment {
    std::string name;
    std::string resource;
    Operator op = Operator::set;
    std::string value;
};

struct ObjectName {
    std::string name;  // empty: all objects of the type (or the server itself)
    // The object's server. nullopt: the active servers (none given, or @active). "": the default server
    // (@default).
    std::optional<std::string> server;
};

struct Directive {
    Command command = Command::list;
    ObjectType type = ObjectType::server;
    std::vector<ObjectName> names;
    std::vector<Assignment> attributes;
    std::string topic;  // the words after help and history
};

struct SyntaxError {
    // The text for stderr; if `offset` is set, the error is at that place in the directive.
    std::string message;
    std::optional<std::size_t> offset;
    // The part with the error, which is qmgr's exit status. 1: the command, 2: the object type, 3: the names,
    // 4: the attributes.
    int status = 4;
};

// The line of the directive that contains the place `offset`, and a line with a caret below that place.
std::string marked(std::string_view text, std::size_t offset);

// A function that returns whether an object type has an attribute of this name.
using IsAttribute = std::function<bool(ObjectType, std::string_view)>;

// Parses one directive, without a comment or a `;` at its end. A blank text is an error.
tl::expected<Directive, SyntaxError> parse_directive(std::string_view text, const IsAttribute& is_attribute);

// Splits lines of input into directives: removes comments, joins lines that end with a backslash, and splits
// lines at semicolons outside quotes that are followed by a command (so that the semicolons of an unquoted
// rrule=FREQ=WEEKLY;BYDAY=MO stay).
class DirectiveReader {
  public:
    // Adds one line, without its newline.
    void add_line(std::string_view line);
    // Adds a whole text, as -c gives it. A newline in quotes is part of the value. A newline outside ends a
    // directive if a command, a comment or nothing follows it, and is a blank otherwise.
    void add_text(std::string_view text);
    // Drops an incomplete line.
    void clear();
    // The next complete directive; nullopt: more lines are needed.
    std::optional<std::string> next();
    // Ends the input: a last line that ends with a backslash counts as complete.
    void end_of_input();
    // Returns whether the last line ends with a backslash, so that the next one continues it.
    bool continues() const { return continues_; }

  private:
    std::deque<std::string> waiting_;  // lines of add_text() that come after line_
    std::string line_;
    bool continues_ = false;
    bool complete_ = false;
};

struct CommandWord {
    std::string_view word;
    Command command;
};
std::span<const CommandWord> command_words();

std::optional<Command> command_from_word(std::string_view word);
std::optional<ObjectType> object_type_from_word(std::string_view word);

}  // namespace pbs::cmds
