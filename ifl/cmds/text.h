// Functions on text that the commands share. They use no clock, environment or network.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

// The first word of `text`, without white space.
std::string_view first_word(std::string_view text);

// Returns the text with control characters as ^X, so that an attribute's value can't move the cursor or hide
// text. Tabs and newlines stay.
std::string printable(std::string_view text);

// These functions put `text` into a column of `width`, at its left or right edge. A longer text is cut, and
// its last shown character becomes '*'.
std::string left(std::string_view text, std::size_t width);
std::string right(std::string_view text, std::size_t width);

// Reads the whole text as an integer.
Result<long long> parse_integer(std::string_view text);

// A value as in qmgr and `-l`: the text up to an unquoted comma or white space. The first quote character, '
// or ", is the one that quotes; the other one is then a plain character. Another kind of quote right after a
// closing one opens a further quoted part. `end` is the offset of the first character not taken.
struct QuotedValue {
    std::string text;
    std::size_t end = 0;
};
// The error of take_value(): what is wrong, and where.
struct QuoteError {
    std::string message;
    std::size_t offset = 0;
};
tl::expected<QuotedValue, QuoteError> take_value(std::string_view text, std::size_t begin);

// Returns `value` in the quotes that take_value() needs to give it back, or as it is if it needs none.
// Newlines and other control characters, which no line of qmgr's input can hold, become spaces.
std::string quote_value(std::string_view value);

// Reads pairs "a=b,c=d" as in -W. A value may be quoted, and ends at a comma that another "word=" follows:
// "depend=afterok:1:2,umask=022".
Result<std::vector<std::pair<std::string, std::string>>> parse_pairs(std::string_view text);

}  // namespace pbs::cmds
