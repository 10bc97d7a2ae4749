// Reads the lines of a file or a pipe, for a program that has work to finish before it waits for more input.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace pbs::cmds {

class InputLines {
  public:
    // Calls `before_waiting` whenever the next line isn't there yet: the writer may be waiting for the
    // results of earlier lines. The descriptor remains the caller's.
    InputLines(int descriptor, std::function<void()> before_waiting)
        : descriptor_(descriptor), before_waiting_(std::move(before_waiting)) {}

    // The next line, without its newline; nullopt at the end. The last line needs no newline.
    std::optional<std::string> next();

  private:
    bool fill();

    int descriptor_;
    std::function<void()> before_waiting_;
    std::string read_;
    std::size_t at_ = 0;
    bool ended_ = false;
};

}  // namespace pbs::cmds
