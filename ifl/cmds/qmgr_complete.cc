#include "ifl/cmds/qmgr_complete.h"

#include <algorithm>
#include <optional>

#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/text.h"
#include "objects/schema.h"

namespace pbs::cmds {

namespace {

struct Word {
    std::string_view text;
    std::size_t begin;
};

// Words of a line; the last one is the one being typed and may be empty. Operators and commas are words.
std::vector<Word> words_of(std::string_view line) {
    std::vector<Word> words;
    std::size_t at = 0;
    while (at < line.size()) {
        const char c = line[at];
        if (is_space(c)) {
            ++at;
            continue;
        }
        std::size_t end = at + 1;
        if (c == '+' || c == '-') {
            end += end < line.size() && line[end] == '=' ? 1 : 0;
        } else if (c != ',' && c != '=') {
            while (
                end < line.size() && !is_space(line[end]) && line[end] != ',' && line[end] != '=' &&
                !((line[end] == '+' || line[end] == '-') && end + 1 < line.size() && line[end + 1] == '=')) {
                ++end;
            }
        }
        words.push_back({line.substr(at, end - at), at});
        at = end;
    }
    const bool fresh = words.empty() || is_space(line.back()) || line.back() == ',' || line.back() == '=';
    if (fresh) {
        words.push_back({std::string_view(), line.size()});
    }
    return words;
}

bool is_operator(std::string_view word) {
    return word == "=" || word == "+=" || word == "-=";
}

std::vector<std::string> commands() {
    std::vector<std::string> words;
    for (const CommandWord& command : command_words()) {
        words.emplace_back(command.word);
    }
    return words;
}

std::vector<std::string> types() {
    std::vector<std::string> words;
    for (const TypeWord& type : object_types()) {
        // "queues" is understood; "queue" is what one writes.
        const bool plural = type.word.back() == 's';
        words.emplace_back(plural ? type.word.substr(0, type.word.size() - 1) : type.word);
    }
    return words;
}

std::vector<std::string> values_of(ObjectType type, std::string_view attribute,
                                   const ObjectNames& object_names) {
    const auto* row = objects::find_attribute(static_cast<objects::ObjectType>(type),
                                              attribute.substr(0, attribute.find('.')));
    if (row == nullptr) {
        return {};
    }
    if (row->refers_to) {
        return object_names(static_cast<ObjectType>(*row->refers_to));
    }
    if (row->type == objects::AttributeType::boolean) {
        return {"False", "True"};
    }
    return {row->words.begin(), row->words.end()};
}

// Everything that may stand at the last word.
std::vector<std::string> possible(const std::vector<Word>& words, const ObjectNames& object_names) {
    const std::size_t last = words.size() - 1;
    if (last == 0) {
        return commands();
    }
    const auto command = command_from_word(words[0].text);
    if (!command || *command == Command::quit || *command == Command::history) {
        return {};
    }
    if (*command == Command::help) {
        return last == 1 ? commands() : std::vector<std::string>();
    }
    if (last == 1) {
        return types();
    }
    const auto type = object_type_from_word(words[1].text);
    if (!type) {
        return {};
    }
    if (is_operator(words[last - 1].text)) {
        return values_of(*type, words[last - 2].text, object_names);
    }
    std::vector<std::string> candidates;
    const bool names_go_on = last >= 3 && words[last - 1].text == "," && last <= 4 &&
                             words[last - 1].begin + 1 == words[last].begin;
    if ((last == 2 || names_go_on) && *command != Command::create && *type != ObjectType::server) {
        candidates = object_names(*type);
    }
    const bool takes_attributes = *command != Command::remove && *command != Command::active &&
                                  (*command != Command::create || last > 2);
    if (takes_attributes) {
        for (std::string& name : attribute_names(*type)) {
            candidates.push_back(std::move(name));
        }
    }
    return candidates;
}

}  // namespace

Completion complete(std::string_view line, const ObjectNames& object_names) {
    const std::vector<Word> words = words_of(line);
    const Word& last = words.back();
    Completion completion;
    completion.begin = last.begin;
    for (std::string& candidate : possible(words, object_names)) {
        if (std::string_view(candidate).substr(0, last.text.size()) == last.text) {
            completion.candidates.push_back(std::move(candidate));
        }
    }
    std::sort(completion.candidates.begin(), completion.candidates.end());
    completion.candidates.erase(std::unique(completion.candidates.begin(), completion.candidates.end()),
                                completion.candidates.end());
    return completion;
}

}  // namespace pbs::cmds
