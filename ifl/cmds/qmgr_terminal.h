// Reads lines from a terminal, with editing, history and completion (libedit).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ifl/cmds/qmgr_complete.h"

namespace pbs::cmds {

class QmgrTerminal {
  public:
    using Completer = std::function<Completion(std::string_view line)>;

    // The constructor reads `history_file`, which is then written after each line; empty: no history is kept.
    QmgrTerminal(std::string history_file, Completer completer);
    QmgrTerminal(const QmgrTerminal&) = delete;
    QmgrTerminal& operator=(const QmgrTerminal&) = delete;
    ~QmgrTerminal();

    // The next line without its newline; nullopt at the end of input. A line "!n" is replaced by the n-th
    // line of the history. `continued` selects the prompt: "Qmgr: " or "Qmgr< ".
    std::optional<std::string> read_line(bool continued);

    // Returns whether read_line() returned nullopt because the user gave up the line with ^C.
    bool interrupted() const;

    // The last `count` lines of the history with their numbers, or all of them with "all".
    std::string history_text(std::string_view count) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace pbs::cmds
