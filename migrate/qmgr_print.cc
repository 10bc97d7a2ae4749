#include "migrate/qmgr_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "migrate/words.h"
#include "objects/text.h"

namespace pbs::migrate {
namespace {

constexpr std::string_view kSpace = " \t\r\v\f";
constexpr std::size_t kLongestQueueName = 15;

// In the order in which qmgr looks for an abbreviation.
constexpr std::array<std::string_view, 10> kCommands = {"create", "delete", "set",    "unset",  "list",
                                                        "print",  "active", "import", "export", "quit"};
constexpr std::array<std::string_view, 8> kTypes = {"server", "queue", "node",    "resource",
                                                    "sched",  "hook",  "pbshook", "vnode"};

// The first word that begins with these letters; empty: none.
template <std::size_t n>
std::string_view unabbreviated(const std::array<std::string_view, n>& words, std::string_view given) {
    const std::string word = objects::lowered(given);
    const auto* found = std::ranges::find_if(words, [&](std::string_view w) { return w.starts_with(word); });
    return word.empty() || found == words.end() ? std::string_view{} : *found;
}

bool is_queue_name(std::string_view text) {
    return !text.empty() && text.size() <= kLongestQueueName &&
           (objects::is_letter(text.front()) || objects::is_digit(text.front())) &&
           std::ranges::all_of(text, [](char c) {
               return objects::is_letter(c) || objects::is_digit(c) || c == '-' || c == '_' || c == '.';
           });
}

bool is_resource_name(std::string_view text) {
    return !text.empty() && text.size() <= 64 && objects::is_letter(text.front()) &&
           std::ranges::all_of(text, [](char c) {
               return objects::is_letter(c) || objects::is_digit(c) || c == '-' || c == '_';
           });
}

// A directive with the lines that go on after a backslash, and where it began.
struct Directive {
    std::string text;
    int line = 0;
};

std::vector<Directive> directives_of(std::string_view text) {
    std::vector<Directive> out;
    bool goes_on = false;
    for_each_line(text, [&](std::string_view line, int number) {
        while (!line.empty() && kSpace.find(line.back()) != std::string_view::npos) line.remove_suffix(1);
        if (!goes_on) out.push_back({{}, number});
        goes_on = line.ends_with('\\');
        if (goes_on) line.remove_suffix(1);
        out.back().text += line;
    });
    return out;
}

// The words and values of one directive.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) { skip(); }

    bool at_end() const { return at_ >= text_.size() || text_[at_] == '#'; }
    int column() const { return static_cast<int>(at_) + 1; }

    Word word(std::string_view ends = " \t\r\v\f") {
        const std::size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
        const Word found{text_.substr(at_, end - at_), column()};
        at_ = end;
        skip();
        return found;
    }

    // =, += or -=, which is skipped; empty: there is none.
    std::string_view operation() {
        for (const std::string_view op :
             {std::string_view("+="), std::string_view("-="), std::string_view("=")}) {
            if (!text_.substr(at_).starts_with(op)) continue;
            at_ += op.size();
            skip();
            return op;
        }
        return {};
    }

    // Up to a comma outside quotes or the end; nullopt: a quote is open.
    std::optional<std::string> value() {
        std::string out;
        char quote = '\0';
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (quote != '\0') {
                if (c == quote) {
                    quote = '\0';
                } else {
                    out += c;
                }
            } else if (c == '"' || c == '\'') {
                quote = c;
            } else if ((c == ',' && attribute_follows(at_ + 1)) ||
                       (c == '#' && (out.empty() || kSpace.find(out.back()) != std::string_view::npos))) {
                break;
            } else {
                out += c;
            }
        }
        if (quote != '\0') return std::nullopt;
        return std::string(objects::trim(out));
    }

    bool comma() {
        if (at_ >= text_.size() || text_[at_] != ',') return false;
        ++at_;
        skip();
        return true;
    }

  private:
    void skip() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

    // "name =" or "name +=": the comma before it ends a value.
    bool attribute_follows(std::size_t from) const {
        from = std::min(text_.find_first_not_of(kSpace, from), text_.size());
        std::size_t end = from;
        while (end < text_.size() && (objects::is_letter(text_[end]) || objects::is_digit(text_[end]) ||
                                      text_[end] == '_' || text_[end] == '.' || text_[end] == '-'))
            ++end;
        if (end == from) return false;
        if (text_[end - 1] == '-' && end < text_.size() && text_[end] == '=') --end;
        end = std::min(text_.find_first_not_of(kSpace, end), text_.size());
        const std::string_view rest = text_.substr(end);
        return rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with("-=");
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

class Reader {
  public:
    explicit Reader(const std::string& file) { result_.file = file; }

    void read(const Directive& directive) {
        number_ = directive.line;
        Scanner scanner(directive.text);
        if (scanner.at_end()) return;
        const Word command = scanner.word();
        const std::string_view known = unabbreviated(kCommands, command.text);
        if (known.empty())
            return problem(command, "",
                           fmt::format("{} is no command of qmgr, expected create, set or another",
                                       in_quotes(command.text)));
        if (known != "create" && known != "set") return;
        if (scanner.at_end()) return problem({{}, scanner.column()}, known, "expected a type of object");
        const Word type = scanner.word();
        const std::string_view of = unabbreviated(kTypes, type.text);
        if (of == "server") return read_settings(scanner, of, {});
        if (of != "queue" && of != "resource") return;
        if (scanner.at_end())
            return problem({{}, scanner.column()}, type.text, fmt::format("expected the name of a {}", of));
        read_object(scanner, of, known == "create");
    }

    Result<QmgrPrint> finish() {
        if (!problems_.empty()) return tl::unexpected(std::move(problems_));
        for (auto& [name, consumable] : resources_)
            if (consumable) result_.consumables.push_back(name);
        return std::move(result_);
    }

  private:
    void read_object(Scanner& scanner, std::string_view type, bool create) {
        const Word name = scanner.word();
        if (type == "queue" && !is_queue_name(name.text))
            return problem(name, "",
                           fmt::format("{} is no name of a queue, expected at most {} letters, digits, '-', "
                                       "'_' or '.'",
                                       in_quotes(name.text), kLongestQueueName));
        if (type == "resource" && !is_resource_name(name.text))
            return problem(
                name, "",
                fmt::format("{} is no name of a resource, expected a letter, then letters, digits, "
                            "'-' or '_'",
                            in_quotes(name.text)));
        if (type == "queue" && queue(name.text) == nullptr)
            result_.queues.push_back({std::string(name.text), false, {}, number_});
        if (create && scanner.at_end()) return;
        read_settings(scanner, type, std::string(name.text));
    }

    void read_settings(Scanner& scanner, std::string_view type, const std::string& object) {
        do {
            const Word name = scanner.word(" \t\r\v\f=+,");
            const std::string_view op = scanner.operation();
            if (name.text.empty() || op.empty())
                return problem({{}, scanner.column()}, name.text, "expected an attribute, = and a value");
            const int column = scanner.column();
            const auto value = scanner.value();
            if (!value)
                return problem({{}, column}, name.text, "the quote isn't closed, expected another one");
            if (op == "=") set(type, object, {name.text, column}, *value);
        } while (scanner.comma());
    }

    void set(std::string_view type, const std::string& object, const Word& name, const std::string& value) {
        if (type == "server") return set_server(name, value);
        if (type == "resource") {
            if (objects::same_word(name.text, "flag")) resources_[object] = uses_up(value);
            return;
        }
        PrintedQueue& of = *queue(object);
        const std::string word = objects::lowered(value);
        if (objects::same_word(name.text, "queue_type")) of.route = !word.empty() && word.front() == 'r';
        const bool says_when =
            word == "execution_prime" || word == "execution_non_prime" || word == "execution_dedicated";
        if (objects::same_word(name.text, "execution_type") ||
            (says_when && objects::same_word(name.text, "queue_type")))
            of.execution_type = says_when ? word : "";
    }

    void set_server(const Word& name, const std::string& value) {
        if (objects::same_word(name.text, "job_sort_formula")) {
            result_.job_sort_formula = {value, number_};
        } else if (objects::same_word(name.text, "backfill_depth")) {
            std::int32_t depth = -1;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), depth);
            if (error != std::errc{} || end != value.data() + value.size() || depth < 0)
                return problem(
                    name, name.text,
                    fmt::format("{} is no depth, expected a number of 0 to 2147483647", in_quotes(value)));
            result_.backfill_depth = {std::to_string(depth), number_};
        }
    }

    PrintedQueue* queue(std::string_view name) {
        const auto found = std::ranges::find(result_.queues, name, &PrintedQueue::name);
        return found == result_.queues.end() ? nullptr : &*found;
    }

    void problem(const Word& word, std::string_view option, std::string message) {
        problems_.push_back({result_.file, number_, word.column, printable(option), std::move(message)});
    }

    QmgrPrint result_;
    Problems problems_;
    std::map<std::string, bool> resources_;  // name -> is it used up?
    int number_ = 0;
};

}  // namespace

bool uses_up(std::string_view flag) {
    return flag.find_first_of("nfq") != std::string_view::npos;
}

Result<QmgrPrint> parse_qmgr_print(std::string_view text, const std::string& file) {
    Reader reader(file);
    for (const Directive& directive : directives_of(text)) reader.read(directive);
    return reader.finish();
}

}  // namespace pbs::migrate
