#include "ifl/cmds/qmgr_grammar.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ifl/cmds/text.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

// Commands in the order in which abbreviations are resolved, which is PBS's: "s" is set, "p" print, "a"
// active.
constexpr std::array kCommands{
    CommandWord{"create", Command::create}, CommandWord{"delete", Command::remove},
    CommandWord{"set", Command::set},       CommandWord{"unset", Command::unset},
    CommandWord{"list", Command::list},     CommandWord{"print", Command::print},
    CommandWord{"active", Command::active}, CommandWord{"help", Command::help},
    CommandWord{"?", Command::help},        CommandWord{"quit", Command::quit},
    CommandWord{"exit", Command::quit},     CommandWord{"history", Command::history},
};

bool operator_at(std::string_view text, std::size_t at) {
    if (at >= text.size()) return false;
    if (text[at] == '=') return true;
    return (text[at] == '+' || text[at] == '-') && at + 1 < text.size() && text[at + 1] == '=';
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
    while (at < text.size() && values::is_space(text[at])) ++at;
    return at;
}

// The end of a word: at white space, an operator, or a character of `stops`.
std::size_t word_end(std::string_view text, std::size_t at, std::string_view stops = "") {
    while (at < text.size() && !values::is_space(text[at]) && !operator_at(text, at) &&
           stops.find(text[at]) == std::string_view::npos)
        ++at;
    return at;
}

bool name_char(char c) {
    return values::is_alnum(c) || c == '_' || c == '-' || c == '.';
}

// Returns whether an "attribute[.resource] op" is at `at`.
bool assignment_at(std::string_view text, std::size_t at) {
    at = skip_blanks(text, at);
    if (at >= text.size() || !values::is_letter(text[at])) return false;
    while (at < text.size() && name_char(text[at]) && !operator_at(text, at)) ++at;
    return operator_at(text, skip_blanks(text, at));
}

tl::unexpected<SyntaxError> syntax_error(std::string message, std::size_t offset, int status) {
    return tl::unexpected(SyntaxError{"qmgr: Syntax error: " + std::move(message), offset, status});
}

// Returns the offset after the bracket that closes the one at `at`; 0: nothing closes it. Brackets in quotes
// don't count.
std::size_t closing_bracket(std::string_view text, std::size_t at) {
    int depth = 0;
    char quote = '\0';
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '[')
            ++depth;
        else if (c == ']' && --depth == 0)
            return at + 1;
    }
    return 0;
}

class AttributeParser {
  public:
    AttributeParser(std::string_view text, std::size_t begin, Command command)
        : text_(text), at_(begin), command_(command) {}

    tl::expected<std::vector<Assignment>, SyntaxError> parse() {
        std::vector<Assignment> attributes;
        at_ = skip_blanks(text_, at_);
        while (at_ < text_.size()) {
            Assignment attribute;
            if (auto error = take_name(attribute)) return tl::unexpected(std::move(*error));
            if (auto error = with_values() ? take_assignment(attribute) : expect_no_value(attribute))
                return tl::unexpected(std::move(*error));
            attributes.push_back(std::move(attribute));
            if (auto error = take_separator()) return tl::unexpected(std::move(*error));
        }
        return attributes;
    }

  private:
    using Problem = std::optional<SyntaxError>;

    bool with_values() const { return command_ == Command::set || command_ == Command::create; }

    Problem problem(std::string message) const { return syntax_error(std::move(message), at_, 4).value(); }

    Problem take_name(Assignment& attribute) {
        const std::size_t end = word_end(text_, at_, ".,");
        if (end == at_) return problem("expected the name of an attribute");
        attribute.name = text_.substr(at_, end - at_);
        at_ = end;
        if (at_ < text_.size() && text_[at_] == '.') {
            ++at_;
            const std::size_t resource_end = word_end(text_, at_, ",");
            if (resource_end == at_) return problem("expected the name of a resource after '.'");
            attribute.resource = text_.substr(at_, resource_end - at_);
            at_ = resource_end;
        }
        return std::nullopt;
    }

    Problem take_assignment(Assignment& attribute) {
        at_ = skip_blanks(text_, at_);
        if (!operator_at(text_, at_))
            return problem(fmt::format("expected =, += or -= after '{}'", attribute.name));
        attribute.op = text_[at_] == '='   ? Operator::set
                       : text_[at_] == '+' ? Operator::increment
                                           : Operator::decrement;
        at_ = skip_blanks(text_, at_ + (attribute.op == Operator::set ? 1 : 2));
        if (at_ >= text_.size()) return problem(fmt::format("expected a value for '{}'", attribute.name));
        return take_whole_value(attribute.value);
    }

    Problem expect_no_value(Assignment& attribute) {
        attribute.op = command_ == Command::unset ? Operator::unset : Operator::set;
        at_ = skip_blanks(text_, at_);
        if (operator_at(text_, at_)) return problem(fmt::format("'{}' takes no value here", attribute.name));
        return std::nullopt;
    }

    // Takes a whole value. It consists of pieces with commas between them, and ends at a comma that an
    // assignment follows.
    Problem take_whole_value(std::string& value) {
        for (;;) {
            if (auto error = take_piece(value)) return error;
            const std::size_t comma = skip_blanks(text_, at_);
            if (comma >= text_.size() || text_[comma] != ',' || assignment_at(text_, comma + 1))
                return std::nullopt;
            at_ = skip_blanks(text_, comma + 1);
            if (at_ >= text_.size()) {
                at_ = comma;
                return problem("nothing follows the comma");
            }
            if (text_[at_] == ',') return problem("nothing stands between the commas");
            value += ',';
        }
    }

    Problem take_piece(std::string& value) {
        if (text_[at_] == '[') {
            if (const std::size_t end = closing_bracket(text_, at_); end != 0) {
                value += text_.substr(at_, end - at_);
                at_ = end;
                return std::nullopt;
            }
        }
        auto piece = take_value(text_, at_);
        if (!piece) {
            at_ = piece.error().offset;
            return problem(piece.error().message);
        }
        value += piece->text;
        at_ = piece->end;
        return std::nullopt;
    }

    Problem take_separator() {
        at_ = skip_blanks(text_, at_);
        if (at_ >= text_.size()) return std::nullopt;
        if (text_[at_] != ',') return problem("expected a comma (quote a value that has blanks)");
        const std::size_t comma = at_;
        at_ = skip_blanks(text_, at_ + 1);
        if (at_ >= text_.size()) {
            at_ = comma;
            return problem("nothing follows the comma");
        }
        return std::nullopt;
    }

    std::string_view text_;
    std::size_t at_;
    Command command_;
};

// Parses name[@server][,...]; a name begins with a letter, a node's with a letter or digit.
tl::expected<std::vector<ObjectName>, SyntaxError> parse_names(std::string_view word, std::size_t begin,
                                                               ObjectType type) {
    std::vector<ObjectName> names;
    std::size_t at = begin;
    for (const std::string_view part : values::split(word, ',')) {
        const std::size_t sign = part.find('@');
        const std::string_view name = part.substr(0, sign);
        const bool good_start = !name.empty() && (values::is_letter(name[0]) ||
                                                  (values::is_digit(name[0]) && type == ObjectType::node));
        if (part.empty() || (!good_start && sign != 0))
            return syntax_error(fmt::format("'{}' is not a name", part), at, 3);
        ObjectName object{std::string(name), std::nullopt};
        if (sign != std::string_view::npos) {
            const std::string_view server = part.substr(sign + 1);
            if (server.empty() || server.find('@') != std::string_view::npos)
                return syntax_error("expected the name of one server after '@'", at + sign, 3);
            if (server == "default")
                object.server = "";
            else if (server != "active")
                object.server = std::string(server);
        }
        names.push_back(std::move(object));
        at += part.size() + 1;
    }
    return names;
}

// Returns whether the word after the object type is an attribute, and not a name.
bool is_attribute_word(std::string_view text, std::size_t begin, std::size_t end, const Directive& directive,
                       const IsAttribute& is_attribute) {
    if (directive.command == Command::create || directive.command == Command::remove ||
        directive.command == Command::active)
        return false;
    // The server and the scheduler need no name, so a word before an operator is meant as an attribute.
    const bool needs_no_name = directive.type == ObjectType::server || directive.type == ObjectType::sched;
    const bool assigned = operator_at(text, skip_blanks(text, end));
    if (directive.command == Command::set && (!assigned || needs_no_name)) return assigned;
    bool all = true;
    for (const std::string_view part : values::split(text.substr(begin, end - begin), ',')) {
        const std::string_view name = part.substr(0, part.find('.'));
        all = all && (name.empty() || is_attribute(directive.type, name));
    }
    return all;
}

// Checks that the directive has the names and attributes that its command needs, and none that the command
// doesn't take.
std::optional<SyntaxError> check_shape(const Directive& directive, std::size_t end) {
    const bool changes = directive.command == Command::set || directive.command == Command::unset;
    if (changes && directive.attributes.empty()) return syntax_error("expected an attribute", end, 4).value();
    if (directive.command == Command::active && !directive.attributes.empty())
        return syntax_error("active takes no attributes", end, 4).value();
    if (directive.command == Command::remove && !directive.attributes.empty())
        return syntax_error("delete takes no attributes", end, 4).value();
    if (directive.command == Command::create || directive.command == Command::remove) {
        const bool named = !directive.names.empty() &&
                           std::all_of(directive.names.begin(), directive.names.end(),
                                       [](const ObjectName& name) { return !name.name.empty(); });
        if (!named && directive.command == Command::create)
            return syntax_error("expected the name of the object to create", end, 3).value();
    }
    return std::nullopt;
}

tl::expected<Directive, SyntaxError> parse_rest(std::string_view text, std::size_t at, Directive directive,
                                                const IsAttribute& is_attribute) {
    at = skip_blanks(text, at);
    const std::size_t end = word_end(text, at);
    if (end > at && !is_attribute_word(text, at, end, directive, is_attribute)) {
        auto names = parse_names(text.substr(at, end - at), at, directive.type);
        if (!names) return tl::unexpected(std::move(names.error()));
        directive.names = std::move(*names);
        at = end;
    }
    auto attributes = AttributeParser(text, at, directive.command).parse();
    if (!attributes) return tl::unexpected(std::move(attributes.error()));
    directive.attributes = std::move(*attributes);
    if (auto error = check_shape(directive, std::min(at, text.size())))
        return tl::unexpected(std::move(*error));
    return directive;
}

// The offset of the first control character other than white space.
std::optional<std::size_t> control_character(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte < 0x20 && !values::is_space(text[i])) || byte == 0x7f) return i;
    }
    return std::nullopt;
}

bool begins_with(std::string_view whole, std::string_view part) {
    return whole.substr(0, part.size()) == part;
}

bool is_hook_word(std::string_view word) {
    return !word.empty() && (begins_with("hook", word) || (word.size() > 1 && begins_with("pbshook", word)));
}

std::string no_hooks(std::string_view word) {
    return fmt::format("qmgr: {}: hooks are not supported here; OpenPBS's own qmgr has them", word);
}

}  // namespace

std::span<const CommandWord> command_words() {
    return kCommands;
}

std::optional<Command> command_from_word(std::string_view word) {
    for (const CommandWord& command : kCommands)
        if (!word.empty() && begins_with(command.word, word)) return command.command;
    return std::nullopt;
}

std::optional<ObjectType> object_type_from_word(std::string_view word) {
    // Object types are in lower case, as all words of qmgr.
    const values::ObjectTypeRow* type = values::lowered(word) == word ? values::type_meant(word) : nullptr;
    return type == nullptr ? std::nullopt : std::optional(type->type);
}

tl::expected<Directive, SyntaxError> parse_directive(std::string_view text, const IsAttribute& is_attribute) {
    if (const auto place = control_character(text)) return syntax_error("control character", *place, 4);
    std::size_t at = skip_blanks(text, 0);
    std::size_t end = word_end(text, at);
    const std::string_view word = text.substr(at, end - at);
    const auto command = command_from_word(word);
    if (!command) {
        const bool hook_only =
            word.size() > 1 && (begins_with("import", word) || begins_with("export", word));
        return tl::unexpected(SyntaxError{
            hook_only
                ? no_hooks(word)
                : fmt::format("qmgr: Illegal operation: {}\nTry 'help' if you are having trouble.", word),
            std::nullopt, 1});
    }
    Directive directive;
    directive.command = *command;
    if (*command == Command::help || *command == Command::quit || *command == Command::history) {
        directive.topic = values::trim(text.substr(end));
        return directive;
    }
    at = skip_blanks(text, end);
    end = word_end(text, at);
    const std::string_view type = text.substr(at, end - at);
    if (type.empty()) return tl::unexpected(SyntaxError{"qmgr: No object type given", std::nullopt, 2});
    const auto object_type = object_type_from_word(type);
    if (!object_type) {
        return tl::unexpected(SyntaxError{
            is_hook_word(type) ? no_hooks(type) : fmt::format("qmgr: Illegal object type: {}.", type),
            std::nullopt, 2});
    }
    directive.type = *object_type;
    return parse_rest(text, end, std::move(directive), is_attribute);
}

std::string marked(std::string_view text, std::size_t offset) {
    const std::size_t before = text.rfind('\n', offset == 0 ? 0 : offset - 1);
    const std::size_t begin = before == std::string_view::npos || before >= offset ? 0 : before + 1;
    const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
    std::string below;
    for (const char c : line.substr(0, offset - begin)) {
        const auto byte = static_cast<unsigned char>(c);
        const bool inside_character = (byte & 0xc0) == 0x80;  // a continuation byte of UTF-8
        const bool two_columns = c != '\t' && (byte < 0x20 || byte == 0x7f);
        below += c == '\t' ? "\t" : inside_character ? "" : two_columns ? "  " : " ";
    }
    return printable(line) + "\n" + below + "^\n";
}

namespace {

// Returns whether the semicolon or newline at `at` ends a directive: a command, a comment or nothing follows
// it.
bool ends_directive(std::string_view line, std::size_t at) {
    at = skip_blanks(line, at + 1);
    if (at >= line.size() || line[at] == '#' || line[at] == ';') return true;
    std::size_t end = word_end(line, at, ";");
    const bool alone = end >= line.size() || values::is_space(line[end]) || line[end] == ';';
    return alone && command_from_word(line.substr(at, end - at)).has_value();
}

// The length of the first directive of a line. `next` gets the offset of the text after it.
std::size_t directive_length(std::string_view line, std::size_t& next) {
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '#' && (i == 0 || values::is_space(line[i - 1]))) {
            next = line.size();
            return i;
        } else if (c == ';' && ends_directive(line, i)) {
            next = i + 1;
            return i;
        }
    }
    next = line.size();
    return line.size();
}

}  // namespace

namespace {

// The length of the first directive line of a text, including lines on which a value or the list of
// attributes continues.
std::size_t text_line_length(std::string_view text) {
    char quote = '\0';
    bool comment = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (!comment && (c == '"' || c == '\''))
            quote = c;
        else if (c == '#' && (i == 0 || values::is_space(text[i - 1])))
            comment = true;
        else if (c == '\n' && (comment || ((i == 0 || text[i - 1] != '\\') && ends_directive(text, i))))
            return i;
    }
    return text.size();
}

// The text with newlines outside quotes, and backslashes before them, replaced by blanks.
std::string joined_lines(std::string_view text) {
    std::string line;
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        const bool continuation = c == '\\' && i + 1 < text.size() && text[i + 1] == '\n';
        line += quote == '\0' && (c == '\n' || continuation) ? ' ' : c;
    }
    return line;
}

}  // namespace

void DirectiveReader::add_text(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = text_line_length(text);
        waiting_.push_back(joined_lines(text.substr(0, length)));
        text.remove_prefix(std::min(length + 1, text.size()));
    }
}

void DirectiveReader::clear() {
    waiting_.clear();
    line_.clear();
    continues_ = false;
    complete_ = false;
}

void DirectiveReader::add_line(std::string_view line) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::string_view content = values::trim(line);
    if (!content.empty() && content.front() == '#') return;  // a comment line, also between continued lines
    continues_ = !line.empty() && line.back() == '\\';
    if (continues_) line.remove_suffix(1);
    line_ += line;
    if (continues_) line_ += ' ';
    complete_ = !continues_;
}

void DirectiveReader::end_of_input() {
    continues_ = false;
    complete_ = true;
}

std::optional<std::string> DirectiveReader::next() {
    while (complete_ || !waiting_.empty()) {
        if (!complete_) {
            add_line(waiting_.front());
            waiting_.pop_front();
            continue;
        }
        std::size_t rest = 0;
        const std::size_t length = directive_length(line_, rest);
        std::string directive(values::trim(std::string_view(line_).substr(0, length)));
        line_.erase(0, rest);
        complete_ = !line_.empty();
        if (!directive.empty()) return directive;
    }
    return std::nullopt;
}

}  // namespace pbs::cmds
