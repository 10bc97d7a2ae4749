// Tables for people: columns with two blanks between them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pbs::text {

using TableRow = std::vector<std::string>;

// Writes a line for each row. The first `left` columns are aligned left, the others right. A row may have
// fewer cells than others. Blanks at the end of a line are left out.
std::string table(const std::vector<TableRow>& rows, std::size_t left = 1);

}  // namespace pbs::text
