#include "ifl/cmds/qmgr_terminal.h"

#include <histedit.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/text.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {
constexpr int kHistoryLength = 500;
}

struct QmgrTerminal::State {
    EditLine* line = nullptr;
    History* history = nullptr;
    std::string history_file;
    Completer completer;
    bool continued = false;
    bool interrupted = false;

    static State& of(EditLine* line) {
        void* data = nullptr;
        el_get(line, EL_CLIENTDATA, &data);
        return *static_cast<State*>(data);
    }
    static const char* prompt(EditLine* line) { return of(line).continued ? "Qmgr< " : "Qmgr: "; }
    static unsigned char complete_word(EditLine* line, int key);
    static unsigned char interrupt(EditLine* line, int key);
    static unsigned char suspend(EditLine* line, int key);

    void save() const;

    std::vector<std::string> lines() const;
};

namespace {

// The common beginning of all candidates.
std::string common_start(const std::vector<std::string>& words) {
    std::string start = words.front();
    for (const std::string& word : words) {
        const auto [end, ignored] = std::mismatch(start.begin(), start.end(), word.begin(), word.end());
        start.erase(end, start.end());
    }
    return start;
}

void show_candidates(const std::vector<std::string>& words) {
    std::size_t width = 0;
    for (const std::string& word : words) width = std::max(width, word.size() + 2);
    std::printf("\n");
    std::size_t column = 0;
    for (const std::string& word : words) {
        const std::string cell = fmt::format("{:<{}}", word, width);
        if (column + cell.size() > 80) {
            std::printf("\n");
            column = 0;
        }
        std::printf("%s", cell.c_str());
        column += cell.size();
    }
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

unsigned char QmgrTerminal::State::complete_word(EditLine* line, int /*key*/) {
    State& state = of(line);
    const LineInfo* info = el_line(line);
    const std::string_view text(info->buffer, static_cast<std::size_t>(info->cursor - info->buffer));
    const Completion completion = state.completer(text);
    if (completion.candidates.empty()) return CC_REFRESH_BEEP;
    const std::string typed(text.substr(completion.begin));
    std::string start = common_start(completion.candidates);
    if (completion.candidates.size() == 1) start += ' ';
    if (start.size() > typed.size()) {
        el_insertstr(line, start.c_str() + typed.size());
        return CC_REFRESH;
    }
    show_candidates(completion.candidates);
    return CC_REDISPLAY;
}

unsigned char QmgrTerminal::State::interrupt(EditLine* line, int /*key*/) {
    of(line).interrupted = true;
    return CC_NEWLINE;
}

unsigned char QmgrTerminal::State::suspend(EditLine* /*line*/, int /*key*/) {
    std::raise(SIGTSTP);  // libedit restores the terminal before qmgr stops, and sets it up afterwards
    return CC_REFRESH;
}

void QmgrTerminal::State::save() const {
    HistEvent event{};
    if (!history_file.empty()) ::history(history, &event, H_SAVE, history_file.c_str());
}

std::vector<std::string> QmgrTerminal::State::lines() const {
    std::vector<std::string> found;
    HistEvent event{};
    for (int code = ::history(history, &event, H_LAST); code != -1; code = ::history(history, &event, H_PREV))
        found.emplace_back(values::trim(event.str));
    return found;
}

QmgrTerminal::QmgrTerminal(std::string history_file, Completer completer)
    : state_(std::make_unique<State>()) {
    std::setlocale(LC_CTYPE, "");
    State& state = *state_;
    state.history_file = std::move(history_file);
    state.completer = std::move(completer);
    state.history = history_init();
    HistEvent event{};
    ::history(state.history, &event, H_SETSIZE, kHistoryLength);
    ::history(state.history, &event, H_SETUNIQUE, 1);
    if (!state.history_file.empty()) ::history(state.history, &event, H_LOAD, state.history_file.c_str());
    state.line = el_init("qmgr", stdin, stdout, stderr);
    el_set(state.line, EL_CLIENTDATA, &state);
    el_set(state.line, EL_PROMPT, &State::prompt);
    el_set(state.line, EL_EDITOR, "emacs");
    el_set(state.line, EL_SIGNAL, 1);
    el_set(state.line, EL_HIST, ::history, state.history);
    el_set(state.line, EL_ADDFN, "pbs-complete", "Complete a command, object or attribute",
           &State::complete_word);
    el_set(state.line, EL_BIND, "^I", "pbs-complete", nullptr);
    // ^C gives up the line being typed. Keys send no signals while a line is typed; while a request is under
    // way they do as usual.
    el_set(state.line, EL_SETTY, "-d", "-isig", nullptr);
    el_set(state.line, EL_ADDFN, "pbs-interrupt", "Give up the line", &State::interrupt);
    el_set(state.line, EL_BIND, "^C", "pbs-interrupt", nullptr);
    el_set(state.line, EL_ADDFN, "pbs-suspend", "Stop qmgr until the shell continues it", &State::suspend);
    el_set(state.line, EL_BIND, "^Z", "pbs-suspend", nullptr);
    el_source(state.line, nullptr);  // the user's ~/.editrc
}

QmgrTerminal::~QmgrTerminal() {
    el_end(state_->line);
    history_end(state_->history);
}

std::optional<std::string> QmgrTerminal::read_line(bool continued) {
    State& state = *state_;
    state.continued = continued;
    state.interrupted = false;
    int length = 0;
    const char* text = el_gets(state.line, &length);
    if (state.interrupted) {
        std::printf("^C\n");
        return std::nullopt;
    }
    if (text == nullptr || length <= 0) {
        std::printf("\n");
        return std::nullopt;
    }
    std::string line(text, static_cast<std::size_t>(length));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    if (const std::string_view typed = values::trim(line); !typed.empty() && typed[0] == '!') {
        const auto number = parse_integer(typed.substr(1));
        const std::vector<std::string> lines = state.lines();
        if (!number || *number < 1 || static_cast<std::size_t>(*number) > lines.size()) {
            fmt::print(stderr, "qmgr: {}: no such line in the history\n", typed);
            return "";
        }
        line = lines[static_cast<std::size_t>(*number) - 1];
        fmt::print("{}\n", line);
    }
    if (!values::trim(line).empty()) {
        HistEvent event{};
        ::history(state.history, &event, H_ENTER, line.c_str());
        state.save();
    }
    return line;
}

bool QmgrTerminal::interrupted() const {
    return state_->interrupted;
}

std::string QmgrTerminal::history_text(std::string_view count) const {
    const std::vector<std::string> lines = state_->lines();
    std::size_t first = 0;
    if (count != "all") {
        const auto number = parse_integer(count);
        if (!number || *number < 1) return fmt::format("qmgr: history {}: expected a number\n", count);
        first = lines.size() - std::min(lines.size(), static_cast<std::size_t>(*number));
    }
    std::string text;
    for (std::size_t i = first; i < lines.size(); ++i) text += fmt::format("{:>5}  {}\n", i + 1, lines[i]);
    return text;
}

}  // namespace pbs::cmds
