#include "migrate/sched_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "migrate/words.h"
#include "objects/spelling.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using A = SchedArgument;

constexpr std::string_view kSpace = " \t\r\v\f";

// Reads the words of a line, with their columns. A word in quotes may contain white space.
class Line {
  public:
    explicit Line(std::string_view text) : text_(text) { skip_space(); }

    bool at_end() const { return at_ >= text_.size(); }
    // Returns whether the rest of the line is white space or a comment.
    bool nothing_left() const { return at_end() || text_[at_] == '#'; }
    char next() const { return at_end() ? '\0' : text_[at_]; }
    int column() const { return static_cast<int>(at_) + 1; }

    // Reads the option's name, up to white space or a colon, and skips the colon. `apart`: white space
    // precedes the colon.
    Word name(bool& apart) {
        const Word word = until(text_.find_first_of(" \t\r\v\f:", at_));
        apart = next() != ':';
        skip_space();
        apart = apart && next() == ':';
        if (next() == ':') ++at_;
        skip_space();
        return word;
    }

    Word word() {
        const Word word = until(text_.find_first_of(kSpace, at_));
        skip_space();
        return word;
    }

    // Reads the text between quotes; nullopt: the second quote is missing.
    std::optional<Word> quoted() {
        const auto end = text_.find(text_[at_], at_ + 1);
        if (end == std::string_view::npos) return std::nullopt;
        const Word word{text_.substr(at_ + 1, end - at_ - 1), column() + 1};
        at_ = end + 1;
        skip_space();
        return word;
    }

  private:
    Word until(std::size_t end) {
        end = std::min(end, text_.size());
        const Word word{text_.substr(at_, end - at_), column()};
        at_ = end;
        return word;
    }
    void skip_space() { at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size()); }

    std::string_view text_;
    std::size_t at_ = 0;
};

const SchedOption* find_option(std::string_view name) {
    for (const SchedOption& option : sched_options())
        if (option.name == name) return &option;
    return nullptr;
}

std::string unknown_option(std::string_view name) {
    for (const SchedOption& option : sched_options()) {
        if (values::same_word(option.name, name))
            return fmt::format("{} is not an option: names are lower-case, expected {}", in_quotes(name),
                               option.name);
    }
    std::string message = fmt::format("{} is not an option of sched_config", in_quotes(name));
    for (const SchedOption& option : sched_options())
        if (objects::nearly_same(option.name, name))
            return message + fmt::format(", perhaps {} was meant", option.name);
    return message;
}

std::optional<unsigned> columns_of(std::string_view word) {
    if (values::same_word(word, "prime")) return kPrimeTime;
    if (values::same_word(word, "non_prime")) return kNonPrimeTime;
    if (values::same_word(word, "all")) return kAllTime;
    if (values::same_word(word, "none")) return 0;
    return std::nullopt;
}

std::string_view columns_text(unsigned columns) {
    if (columns == kPrimeTime) return "prime";
    return columns == kNonPrimeTime ? "non_prime" : "all";
}

// Returns whether an empty value of this form means something, such as no prefix or no resources.
bool may_be_empty(A argument) {
    return argument == A::prefix || argument == A::resources || argument == A::any;
}

class SchedConfigReader {
  public:
    explicit SchedConfigReader(const std::string& file) { result_.file = file; }

    void read_line(std::string_view text, int number) {
        Line line(text);
        if (line.at_end() || line.next() == '#' || line.next() == '*') return;
        number_ = number;
        bool apart = false;
        const Word name = line.name(apart);
        if (name.text.empty())
            return mistake(name.column, "", "expected the name of an option before the colon");
        const SchedOption* option = find_option(name.text);
        if (option == nullptr) return mistake(name.column, "", unknown_option(name.text));
        const auto value = value_of(line, name.text);
        if (!value) return;
        if (apart)
            note(name.column, name.text,
                 "white space before the colon: the scheduler of PBS took the colon for the value");
        read_value(*option, *value, columns_of(line, *option));
    }

    SchedConfig finish() {
        check_orders();
        std::erase_if(result_.settings, [](const SchedSetting& s) { return s.columns == 0; });
        return std::move(result_);
    }

  private:
    std::optional<Word> value_of(Line& line, std::string_view name) {
        if (line.nothing_left()) {
            mistake(line.column(), name, "the value is missing, expected one");
            return std::nullopt;
        }
        const int column = line.column();
        const bool in_quotes_ = line.next() == '"' || line.next() == '\'';
        const auto value = in_quotes_ ? line.quoted() : std::optional<Word>(line.word());
        if (!value) mistake(column, name, "the quote isn't closed, expected another one on this line");
        if (!value || !printable(*value, name)) return std::nullopt;
        return value;
    }

    bool printable(const Word& value, std::string_view name) {
        const auto bad = std::find_if(value.text.begin(), value.text.end(),
                                      [](char c) { return (c < ' ' && c != '\t') || c > '~'; });
        if (bad == value.text.end()) return true;
        mistake(value.column + static_cast<int>(bad - value.text.begin()), name,
                fmt::format("the byte {:#04x} stands in {}, expected printable ASCII characters",
                            static_cast<unsigned char>(*bad), in_quotes(value.text)));
        return false;
    }

    // Reads the third word of a line, the columns for which the value holds. Only a comment may follow.
    unsigned columns_of(Line& line, const SchedOption& option) {
        if (line.nothing_left()) return kAllTime;
        const Word word = line.word();
        const auto columns = migrate::columns_of(word.text);
        if (!columns) {
            mistake(word.column, option.name,
                    fmt::format("{} is not prime, non_prime, all or none; a value with blanks is written in "
                                "quotes",
                                in_quotes(word.text)),
                    "the value before it holds at all times");
            return kAllTime;
        }
        if (!line.nothing_left()) {
            const Word rest = line.word();
            mistake(rest.column, option.name,
                    fmt::format("{} is too much, expected the end of the line", in_quotes(rest.text)),
                    "it is left out");
        }
        if ((option.flags & by_time) == 0 && *columns != kAllTime) {
            note(word.column, option.name,
                 fmt::format("{} has no columns: the value holds at all times", option.name));
            return kAllTime;
        }
        if (*columns == 0) note(word.column, option.name, "a line with none sets nothing");
        return *columns;
    }

    void read_value(const SchedOption& option, const Word& word, unsigned columns) {
        if (word.text.empty() && !may_be_empty(option.argument))
            return mistake(word.column, option.name, "the value is empty, expected one");
        auto value = read_sched_argument(option, word.text);
        if (!value) {
            auto truth = truth_of_any_word(option, word.text);
            mistake(
                word.column, option.name, fmt::format("{} is not {}", in_quotes(word.text), value.error()),
                truth ? fmt::format("it is read as {}, as the schedulers of PBS and TORQUE read it", *truth)
                      : kLeftOut);
            if (!truth) return;
            value = read_sched_argument(option, *truth);
        }
        SchedSetting setting{&option, *std::move(value), columns, number_, word.column};
        if ((option.flags & repeats) != 0) {
            drop_repeated(setting);
        } else {
            replace_earlier(setting);
        }
        result_.settings.push_back(std::move(setting));
    }

    // Returns whether the settings set the same value: they have one option, or their options have one
    // attribute that isn't a list.
    static bool same_setting(const SchedSetting& a, const SchedSetting& b) {
        if (a.option == b.option) return true;
        const bool single = ((a.option->flags | b.option->flags) & repeats) == 0;
        return single && a.option->target == b.option->target && a.option->attribute == b.option->attribute &&
               a.option->target != SchedTarget::removed;
    }

    void replace_earlier(const SchedSetting& setting) {
        for (SchedSetting& earlier : result_.settings) {
            const unsigned both = earlier.columns & setting.columns;
            if (both == 0 || !same_setting(earlier, setting)) continue;
            earlier.columns &= ~both;
            if (earlier.value != setting.value)
                note(setting.column, setting.option->name,
                     fmt::format("is set again, line {} doesn't count{}", earlier.line,
                                 both == kAllTime ? "" : fmt::format(" for {}", columns_text(both))));
        }
    }

    void drop_repeated(SchedSetting& setting) {
        for (const SchedSetting& earlier : result_.settings) {
            const unsigned both = earlier.columns & setting.columns;
            if (both == 0 || earlier.option != setting.option || earlier.value != setting.value) continue;
            setting.columns &= ~both;
            note(setting.column, setting.option->name, fmt::format("is in line {} already", earlier.line));
        }
    }

    // Checks the options for the order of jobs: sort_by and job_sort_key exclude each other, and `key` counts
    // only with sort_by: multi_sort.
    void check_orders() {
        for (const unsigned column : {kPrimeTime, kNonPrimeTime}) {
            const SchedSetting* sort_by = find(A::sort_by, column);
            const SchedSetting* job_sort_key = find(A::job_sort_key, column);
            const SchedSetting* key = find(A::key, column);
            if (sort_by != nullptr && job_sort_key != nullptr) {
                leave_out_sort_by(sort_by->line, job_sort_key->line);
                return;
            }
            const bool multi_sort = sort_by != nullptr && sort_by->value == "multi_sort";
            if (key != nullptr && !multi_sort) {
                number_ = key->line;
                note(key->column, "key", "has no effect without sort_by: multi_sort");
            }
        }
    }

    // Takes sort_by and its keys out of the columns in which job_sort_key is set. PBS's scheduler knew only
    // job_sort_key, and TORQUE's only sort_by: the newer option counts.
    void leave_out_sort_by(int line, int other) {
        number_ = line;
        mistake(0, "sort_by",
                fmt::format("orders jobs, and so does job_sort_key in line {}: expected one of them", other),
                "sort_by and key are left out where both hold");
        unsigned keyed = 0;
        for (const SchedSetting& setting : result_.settings)
            if (setting.option->argument == A::job_sort_key) keyed |= setting.columns;
        for (SchedSetting& setting : result_.settings)
            if (setting.option->argument == A::sort_by || setting.option->argument == A::key)
                setting.columns &= ~keyed;
    }

    const SchedSetting* find(A argument, unsigned column) const {
        for (const SchedSetting& setting : result_.settings)
            if (setting.option->argument == argument && (setting.columns & column) != 0) return &setting;
        return nullptr;
    }

    void mistake(int column, std::string_view option, std::string message, std::string then = kLeftOut) {
        result_.mistakes.push_back(
            {result_.file, number_, column, std::string(option), std::move(message), false, std::move(then)});
    }

    void note(int column, std::string_view option, std::string message) {
        std::string text =
            to_text(Problem{result_.file, number_, column, std::string(option), std::move(message)});
        if (std::find(result_.notes.begin(), result_.notes.end(), text) == result_.notes.end())
            result_.notes.push_back(std::move(text));
    }

    SchedConfig result_;
    int number_ = 0;
};

}  // namespace

SchedConfig parse_sched_config(std::string_view text, const std::string& file) {
    SchedConfigReader reader(file);
    for (const LogicalLine& line : logical_lines(text)) reader.read_line(line.text, line.number);
    return reader.finish();
}

}  // namespace pbs::migrate
