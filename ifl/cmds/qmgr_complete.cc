#include "ifl/cmds/qmgr_complete.h"

#include <algorithm>
#include <optional>

#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/qmgr_help.h"
#include "objects/schema.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

using objects::Syntax;
using Words = std::vector<std::string>;

struct Token {
    std::string_view text;
    std::size_t begin = 0;
    bool quoted = false;  // it begins with a quote; the last token of a line may not be closed
};

bool operator_begins(std::string_view line, std::size_t at) {
    return line[at] == '=' ||
           ((line[at] == '+' || line[at] == '-') && at + 1 < line.size() && line[at + 1] == '=');
}

// Returns where the last directive of the line begins: after the last unquoted semicolon that is followed by
// a blank or nothing. The semicolons in an unquoted rrule are followed by other characters.
std::size_t directive_begin(std::string_view line) {
    std::size_t begin = 0;
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == ';' && (i + 1 == line.size() || values::is_space(line[i + 1])))
            begin = i + 1;
    }
    return begin;
}

std::size_t word_end(std::string_view line, std::size_t at) {
    while (at < line.size() && !values::is_space(line[at]) && line[at] != ',' && !operator_begins(line, at))
        ++at;
    return at;
}

// The tokens from `at` on: words, quoted texts, commas and operators. The last one is being typed and may be
// empty.
std::vector<Token> tokens_of(std::string_view line, std::size_t at) {
    std::vector<Token> tokens;
    bool open = false;  // the last token may continue
    while (at < line.size()) {
        const char c = line[at];
        if (values::is_space(c)) {
            open = false;
            ++at;
            continue;
        }
        if (c == '"' || c == '\'') {
            const std::size_t close = line.find(c, at + 1);
            open = close == std::string_view::npos;
            const std::size_t end = open ? line.size() : close;
            tokens.push_back({line.substr(at + 1, end - at - 1), at + 1, true});
            at = open ? end : end + 1;
            continue;
        }
        const bool word = c != ',' && !operator_begins(line, at);
        const std::size_t end = word ? word_end(line, at) : at + (c == ',' || c == '=' ? 1 : 2);
        tokens.push_back({line.substr(at, end - at), at});
        open = word;
        at = end;
    }
    if (!open) tokens.push_back({std::string_view(), line.size()});
    return tokens;
}

bool is_operator(const Token& token) {
    return !token.quoted && (token.text == "=" || token.text == "+=" || token.text == "-=");
}

bool is_comma(const Token& token) {
    return !token.quoted && token.text == ",";
}

Words copied(std::span<const std::string_view> words) {
    return {words.begin(), words.end()};
}

void append(Words& words, Words more) {
    std::move(more.begin(), more.end(), std::back_inserter(words));
}

Words command_candidates() {
    Words words;
    for (const CommandWord& command : command_words()) words.emplace_back(command.word);
    return words;
}

Words type_candidates() {
    Words words;
    for (const values::ObjectTypeRow& type : values::kObjectTypes) words.emplace_back(type.name);
    return words;
}

// Returns the words for an element of a scheduler's attribute policy: each policy for all times, for prime
// time (p:) and for non-prime time (np:).
Words slots(const Words& policies) {
    Words words = policies;
    for (const std::string& policy : policies) {
        words.push_back("p:" + policy);
        words.push_back("np:" + policy);
    }
    return words;
}

// Returns completions within an element "resource HIGH|LOW [total|assigned|unused]". `words_before`: the
// number of words before the one being typed.
Words sort_key(Syntax syntax, std::size_t words_before, const ObjectNames& names) {
    if (words_before == 1) return {"HIGH", "LOW"};
    if (words_before == 2 && syntax != Syntax::job_sort_keys) return {"assigned", "total", "unused"};
    if (words_before > 0) return {};
    Words words = names(ObjectType::resource);
    append(words, syntax == Syntax::job_sort_keys
                      ? Words{"fairshare_perc", "job_priority", "preempt_priority"}
                      : Words{"load_formula", "sort_priority"});
    return words;
}

// Returns the names that a load may have: load_avg, the resources that are numbers, and each of these per CPU
// (np_NAME).
Words loads(const NamesAtServer& at_server) {
    Words words = at_server.numbers();
    words.emplace_back("load_avg");
    const std::size_t count = words.size();
    for (std::size_t i = 0; i < count; ++i) words.push_back("np_" + words[i]);
    return words;
}

Words own_values(const objects::Attribute& attribute, std::size_t words_before,
                 const NamesAtServer& at_server) {
    const ObjectNames& names = at_server.objects;
    switch (attribute.syntax) {
        case Syntax::boolean:
        case Syntax::boolean_or_date:
            return {"False", "True"};
        case Syntax::queue:
        case Syntax::queue_list:
            return names(ObjectType::queue);
        case Syntax::peer_queues:
            return words_before == 0 ? names(ObjectType::queue) : Words();
        case Syntax::resource_list:
        case Syntax::resource_weights:
            return names(ObjectType::resource);
        case Syntax::load_weights:
        case Syntax::load_thresholds:
            return loads(at_server);
        case Syntax::dynamic_resources:
            return words_before == 0 ? names(ObjectType::resource) : Words();
        case Syntax::node_sort_keys:
        case Syntax::job_sort_keys:
            return sort_key(attribute.syntax, words_before, names);
        case Syntax::place_sort_keys: {
            if (words_before > 0) return sort_key(attribute.syntax, words_before - 1, names);
            Words places = copied(attribute.words);
            for (std::string& place : places) place += ':';
            return places;
        }
        case Syntax::policy_slots:
            return slots(names(ObjectType::policy));
        case Syntax::quota_rules:
            return {"groups=", "projects=", "queues=", "shapes=", "to", "users=", "vnodes="};
        default:
            return attribute.refers_to ? names(static_cast<ObjectType>(*attribute.refers_to))
                                       : copied(attribute.words);
    }
}

bool names_queues(ObjectType type, std::string_view name) {
    return (type == ObjectType::server && name == "default_queue") ||
           (type == ObjectType::node && name == "queue") ||
           (type == ObjectType::queue && name == "route_destinations");
}

Words host_values(ObjectType type, const HostAttribute& attribute, const ObjectNames& names) {
    if (attribute.type == HostType::boolean) return {"False", "True"};
    return names_queues(type, attribute.name) ? names(ObjectType::queue) : copied(attribute.words);
}

// Returns completions of an attribute's value. `words_before`: the number of words before the one being typed
// in the same element.
Words values_of(ObjectType type, std::string_view attribute, std::size_t words_before,
                const NamesAtServer& names) {
    if (const auto* own = objects::find_attribute(type, attribute))
        return own_values(*own, words_before, names);
    const HostAttribute* host = find_host_attribute(type, attribute);
    return host == nullptr || words_before > 0 ? Words() : host_values(type, *host, names.objects);
}

bool is_list(ObjectType type, std::string_view attribute) {
    if (const auto* own = objects::find_attribute(type, attribute)) return own->is_list();
    return value_kind(type, attribute) == ValueKind::list;
}

Words operators_of(ObjectType type, std::string_view attribute) {
    const auto* own = objects::find_attribute(type, attribute);
    const HostAttribute* host = find_host_attribute(type, attribute);
    const bool only_set = (own != nullptr && (own->type == objects::AttributeType::boolean ||
                                              own->syntax == Syntax::word || own->refers_to)) &&
                          !own->is_list();
    if (only_set || (own == nullptr && host != nullptr && host->type == HostType::boolean)) return {"="};
    return {"=", "+=", "-="};
}

// Returns the attributes that the command accepts. Once an attribute's name and a dot are typed, returns the
// attribute with each of its resources, or each of its elements in the object.
Words attribute_candidates(ObjectType type, Command command, const std::string& object,
                           std::string_view typed, const ObjectNames& names, const ElementNames& elements) {
    const std::size_t dot = typed.find('.');
    Words candidates;
    if (dot != std::string_view::npos) {
        const std::string attribute(typed.substr(0, dot));
        const HostAttribute* host = find_host_attribute(type, attribute);
        const bool has_resources = host != nullptr && (host->type == HostType::resources ||
                                                       attribute.find("_res") != std::string::npos);
        const auto* own = objects::find_attribute(type, attribute);
        if (own != nullptr && own->is_keyed() && !object.empty())
            for (const std::string& element : elements(type, object, std::string(own->name)))
                candidates.push_back(attribute + "." + element);
        for (const std::string& resource : has_resources ? names(ObjectType::resource) : Words())
            candidates.push_back(attribute + "." + resource);
        return candidates;
    }
    const bool reads = command == Command::list || command == Command::print;
    for (std::string& name : attribute_names(type))
        if (reads || is_writable(type, name)) candidates.push_back(std::move(name));
    return candidates;
}

// Walks through the tokens after command and object type up to the one being typed, and finds its
// completions.
class Place {
  public:
    Place(const std::vector<Token>& tokens, Command command, ObjectType type, const NamesAtServer& names)
        : tokens_(tokens), command_(command), type_(type), names_(names) {
        for (std::size_t i = kFirst; i + 1 < tokens_.size(); ++i) state_ = after(i);
    }

    Words candidates() const {
        const Token& last = tokens_.back();
        if (last.quoted) {
            return state_ == State::value || state_ == State::element_or_attribute ? values(last.text)
                                                                                   : Words();
        }
        switch (state_) {
            case State::name_or_attribute: {
                Words words = object_candidates();
                append(words, attributes());
                return words;
            }
            case State::name:
                return object_candidates();
            case State::after_name:
            case State::attribute:
                return attributes();
            case State::operation:
                return with_values() ? operators_of(type_, attribute_) : Words();
            case State::value:
                return values("");
            case State::element_or_attribute: {
                Words words = attributes();
                append(words, is_list(type_, attribute_) ? values("") : Words());
                return words;
            }
            case State::after_value:
                return {};
        }
        return {};
    }

  private:
    enum class State {
        name_or_attribute,
        name,
        after_name,
        attribute,
        operation,
        value,
        after_value,
        element_or_attribute,
    };
    static constexpr std::size_t kFirst = 2;

    bool with_values() const { return command_ == Command::set || command_ == Command::create; }

    bool begins_attributes(std::size_t i) const {
        switch (command_) {
            case Command::create:
            case Command::remove:
            case Command::active:
                return false;
            case Command::set:
                return is_operator(tokens_[i + 1]) ||
                       (i + 2 == tokens_.size() && is_attribute(type_, without_resource(tokens_[i].text)));
            default:
                return is_attribute(type_, without_resource(tokens_[i].text));
        }
    }

    static std::string_view without_resource(std::string_view attribute) {
        return attribute.substr(0, attribute.find('.'));
    }

    State at_attribute(std::size_t i) {
        attribute_ = without_resource(tokens_[i].text);
        return State::operation;
    }

    // The state after token i.
    State after(std::size_t i) {
        const Token& token = tokens_[i];
        switch (state_) {
            case State::name_or_attribute:
                if (begins_attributes(i)) return at_attribute(i);
                [[fallthrough]];
            case State::name:
                object_ = token.text;
                return State::after_name;
            case State::after_name:
                return is_comma(token) ? State::name : at_attribute(i);
            case State::attribute:
                return at_attribute(i);
            case State::operation:
                return is_operator(token) ? State::value : State::attribute;
            case State::value:
                return is_comma(token) ? State::value : State::after_value;
            case State::after_value:
                return is_comma(token) ? behind_comma(i) : State::after_value;
            case State::element_or_attribute:
                break;  // no token follows this state
        }
        return state_;
    }

    // The state after a comma that follows a value: an attribute comes if an operator follows the next token.
    State behind_comma(std::size_t i) const {
        if (i + 2 == tokens_.size()) return State::element_or_attribute;
        return i + 2 < tokens_.size() && is_operator(tokens_[i + 2]) ? State::attribute : State::value;
    }

    Words object_candidates() const {
        const bool none = command_ == Command::create || type_ == ObjectType::server;
        return none ? Words() : names_.objects(type_);
    }

    Words attributes() const {
        const bool none = command_ == Command::remove || command_ == Command::active ||
                          (command_ == Command::create && state_ == State::name_or_attribute);
        return none ? Words()
                    : attribute_candidates(type_, command_, object_, tokens_.back().text, names_.objects,
                                           names_.elements);
    }

    // `typed`: the part of a quoted value typed so far
    Words values(std::string_view typed) const {
        const auto* own = objects::find_attribute(type_, attribute_);
        if (own != nullptr && own->is_keyed() && typed.find(" to ") != std::string_view::npos) {
            Words words = names_.objects(ObjectType::resource);
            words.emplace_back("jobs");
            return words;
        }
        std::string_view element = typed.substr(typed.rfind(',') + 1);
        std::size_t words = 0;
        for (bool in_word = false; const char c : element) {
            words += in_word && values::is_space(c) ? 1 : 0;
            in_word = !values::is_space(c);
        }
        return values_of(type_, attribute_, words, names_);
    }

    const std::vector<Token>& tokens_;
    Command command_;
    ObjectType type_;
    const NamesAtServer& names_;
    std::string object_;
    std::string_view attribute_;
    State state_ = State::name_or_attribute;
};

Words help_candidates(const std::vector<Token>& tokens) {
    if (tokens.size() == 2) return help_topics();
    const auto type = object_type_from_word(tokens[1].text);
    return tokens.size() == 3 && type ? attribute_names(*type) : Words();
}

// All completions of the last token.
Words possible(const std::vector<Token>& tokens, const NamesAtServer& names) {
    if (tokens.size() == 1) return command_candidates();
    const auto command = command_from_word(tokens[0].text);
    if (!command || *command == Command::quit || *command == Command::history) return {};
    if (*command == Command::help) return help_candidates(tokens);
    if (tokens.size() == 2) return type_candidates();
    const auto type = object_type_from_word(tokens[1].text);
    return type ? Place(tokens, *command, *type, names).candidates() : Words();
}

// The place where the completed part of the last token begins: in a quoted token, its last word.
std::size_t completed_begin(const Token& last) {
    if (!last.quoted) return last.begin;
    const std::size_t before = last.text.find_last_of(", \t");
    return last.begin + (before == std::string_view::npos ? 0 : before + 1);
}

}  // namespace

Completion complete(std::string_view line, const NamesAtServer& names) {
    const std::vector<Token> tokens = tokens_of(line, directive_begin(line));
    Completion completion;
    completion.begin = completed_begin(tokens.back());
    const std::string_view typed = line.substr(completion.begin);
    for (std::string& candidate : possible(tokens, names))
        if (std::string_view(candidate).substr(0, typed.size()) == typed)
            completion.candidates.push_back(std::move(candidate));
    std::sort(completion.candidates.begin(), completion.candidates.end());
    completion.candidates.erase(std::unique(completion.candidates.begin(), completion.candidates.end()),
                                completion.candidates.end());
    return completion;
}

}  // namespace pbs::cmds
