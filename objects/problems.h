// Collects all mistakes in one input, so that one error reports them together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "objects/error.h"

namespace pbs::objects {

class Problems {
  public:
    // Adds a problem, unless the same text is there already. The first problem's code becomes the code of the
    // error.
    void add(std::string text, Code code = Code::bad_value) {
        if (std::ranges::find(lines_, text) != lines_.end()) return;
        if (lines_.empty() && left_out_ == 0) code_ = code;
        if (lines_.size() < kMost) {
            lines_.push_back(std::move(text));
        } else {
            ++left_out_;
        }
    }
    void add(const Error& error) { add(error.message, error.code); }
    bool empty() const { return lines_.empty(); }

    // Returns an error with a line for each of the first hundred problems, and the number of further ones.
    Error error() const {
        Error all{code_, {}, -1};
        for (const std::string& line : lines_) {
            if (!all.message.empty()) all.message += '\n';
            all.message += line;
        }
        if (left_out_ != 0) all.message += "\nand " + std::to_string(left_out_) + " more";
        return all;
    }

  private:
    static constexpr std::size_t kMost = 100;
    std::vector<std::string> lines_;
    std::size_t left_out_ = 0;
    Code code_ = Code::bad_value;
};

}  // namespace pbs::objects
