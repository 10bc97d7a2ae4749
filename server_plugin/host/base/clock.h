// The server's clock: real time plus an offset. Tests and demonstrations change the offset to cross the
// boundary of a window without waiting. No other code of the server reads a wall clock.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <string>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

using RealTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

// The date and time of an instant as the log and accounting files show them, in the system's local time.
struct LocalTime {
    int day;            // YYYYMMDD, the name of the day's file
    std::string stamp;  // MM/DD/YYYY HH:MM:SS
};
LocalTime local_time(std::chrono::sys_seconds at);

class Clock {
  public:
    // Called with the reason when the clock file has a mistake, once for each change of the file. The
    // function may be empty.
    using Complain = std::function<void(const std::string& text)>;

    // A clock that shows real time plus `offset`.
    explicit Clock(std::chrono::seconds offset = {});

    // Adds the offset in `file`: a whole number of seconds, with a sign. Returns an error if the file can't
    // be read or has a mistake. Later, reading the clock checks the file for changes, at most every 20 ms. If
    // the file is then missing or has a mistake, the last good offset stays in force.
    Result<void> follow(const std::string& file, Complain complain = {});

    // Returns the file given to follow(); empty: none. A server with such a file reads the clock several
    // times a second, because timers don't notice when its time jumps.
    const std::string& file() const { return file_; }

    // The server's time in whole seconds.
    std::chrono::sys_seconds now();
    // The server's time in microseconds, for log lines.
    RealTime now_us();
    // The seconds that are added to real time at present.
    std::chrono::seconds offset();
    // Converts an instant of the real clock, such as those in a job's exit record, to the server's time.
    std::chrono::sys_seconds from_real(std::chrono::sys_seconds real);

  private:
    void look();
    static Result<std::chrono::seconds> read_file_offset(const std::string& file);

    std::chrono::seconds fixed_;
    std::chrono::seconds from_file_{};
    std::string file_;
    Complain complain_;
    std::string complaint_;  // the last text given to complain_, so that it isn't repeated
    struct stat seen_ {};
    bool settled_ = false;  // the file seen last was so old that another change would show in its times
    std::chrono::steady_clock::time_point looked_;
};

}  // namespace pbs::host
