// A file a day, named YYYYMMDD, that lines are appended to: the log and the accounting records.
#pragma once

#include <sys/types.h>

#include <string>

#include "server_plugin/host/base/posix.h"

namespace pbs::host {

class DailyFile {
  public:
    // Works on files in `directory`, made with `mode` when they don't exist.
    DailyFile(std::string directory, mode_t mode) : directory_(std::move(directory)), mode_(mode) {}

    // Appends `line`, which ends with a line break, to the file of `day` (YYYYMMDD). The file is opened anew
    // when the day changes and when it has been removed. Returns 0, or an errno value: then nothing of the
    // line is in the file.
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
