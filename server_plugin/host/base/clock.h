// The server's clock: the machine's real time shifted by an offset, for tests and demonstrations that have to
// cross a window boundary without waiting for it. The only place of the server that reads a wall clock.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <string>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

using RealTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

// An instant as the log and accounting files show it, in the system's local time.
struct LocalTime {
    int day;            // YYYYMMDD, the name of the day's file
    std::string stamp;  // MM/DD/YYYY HH:MM:SS
};
LocalTime local_time(std::chrono::sys_seconds at);

class Clock {
  public:
    // Is told what is wrong with the clock file, once for each change of the file. May be empty.
    using Complain = std::function<void(const std::string& text)>;

    // A clock that shows real time plus `offset`.
    explicit Clock(std::chrono::seconds offset = {});

    // Adds the offset that `file` holds: one whole number of seconds, signed. The file is looked at again
    // whenever the clock is read (at most every 20 ms) and read again when it changed. A file that is missing
    // or holds something else leaves the last good offset in force and is an error only here, at the first
    // reading.
    Result<void> follow(const std::string& file, Complain complain = {});

    // The file given to follow(); empty: none. A server that follows a file looks at the clock a few times
    // each second, since its timers can't know that time has jumped.
    const std::string& file() const { return file_; }

    // The server's time, whole seconds.
    std::chrono::sys_seconds now();
    // The server's time to the microsecond, for log lines.
    RealTime now_us();
    // The seconds that are added to real time at present.
    std::chrono::seconds offset();
    // The server's time for an instant of the real clock, such as those in a job's exit record.
    std::chrono::sys_seconds from_real(std::chrono::sys_seconds real);

  private:
    void look();
    static Result<std::chrono::seconds> read_file_offset(const std::string& file);

    std::chrono::seconds fixed_;
    std::chrono::seconds from_file_{};
    std::string file_;
    Complain complain_;
    std::string complaint_;  // the last complaint, so that it is made once
    struct stat seen_ {};
    bool settled_ = false;  // the file is old enough that another change would show in its times
    std::chrono::steady_clock::time_point looked_;
};

}  // namespace pbs::host
