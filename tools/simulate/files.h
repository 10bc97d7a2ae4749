// Files that are read and written whole.
#pragma once

#include <string>

#include "tools/simulate/trace.h"

namespace pbs::simulate {

// "-" is standard input. Errors name the file.
Result<std::string> read_file(const std::string& file);
// "-" is standard output.
Result<void> write_file(const std::string& file, const std::string& text);

}  // namespace pbs::simulate
