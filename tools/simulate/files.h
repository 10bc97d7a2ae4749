// Reads and writes whole files.
#pragma once

#include <string>

#include "tools/simulate/trace.h"

namespace pbs::simulate {

// Reads a file; "-" is standard input. Errors name the file.
Result<std::string> read_file(const std::string& file);
// Writes a file; "-" is standard output.
Result<void> write_file(const std::string& file, const std::string& text);

}  // namespace pbs::simulate
