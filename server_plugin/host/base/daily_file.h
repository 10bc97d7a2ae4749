// The class DailyFile: appends lines to a file for each day, named YYYYMMDD. The log and the accounting
// records use it.
#pragma once

#include <sys/types.h>

#include <string>

#include "server_plugin/host/base/posix.h"

namespace pbs::host {

class DailyFile {
  public:
    // Works on files in `directory`. A missing file is made with `mode`.
    DailyFile(std::string directory, mode_t mode) : directory_(std::move(directory)), mode_(mode) {}

    // Appends `line`, which ends with a line break, to the file of `day` (YYYYMMDD). Opens the file anew when
    // the day changes and after the file was removed. Returns 0 or an errno value. After an error no part of
    // the line is in the file.
    int append(int day, const std::string& line);

    // The path of a day's file.
    std::string path(int day) const;

  private:
    int open(int day);

    std::string directory_;
    mode_t mode_;
    Fd fd_;
    int day_ = 0;
};

}  // namespace pbs::host
