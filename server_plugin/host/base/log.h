// The server's log: HOME/server_logs/YYYYMMDD, a line for each event, in PBS's format:
//   MM/DD/YYYY HH:MM:SS.uuuuuu;event;module;class;object;text
// `event` is the kind of event as four hexadecimal digits. Times are local, by the server's clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/daily_file.h"

namespace pbs::host {

// Kinds of events: the bits of the server attribute log_events.
enum class LogEvent : unsigned {
    error = 0x0001,
    system = 0x0002,
    admin = 0x0004,
    job = 0x0008,
    job_usage = 0x0010,
    security = 0x0020,
    sched = 0x0040,
    debug = 0x0080,
    debug2 = 0x0100,
    debug3 = 0x0400
};

// The kind of object that a line is about. Written as Svr, Que, Job, Req, Fil, Act, Node, Resv, Sched, Hook.
enum class LogClass { server, queue, job, request, file, account, node, reservation, sched, hook };

class Log {
  public:
    // Writes lines to `directory`/YYYYMMDD; opens the file at the first line and again when the day changes.
    // `module` is the third field, "Server@host". The caller needn't handle errors: lines that can't be
    // written are counted, and the next line that can be written comes after a line with the count. Each line
    // also goes to stderr after echo(true).
    Log(std::string directory, std::string module, Clock& clock);

    // Sets the events that are written, as bits of LogEvent. The default is PBS's, 0x1ff.
    void set_events(unsigned mask) { mask_ = mask; }
    bool writes(LogEvent event) const { return (static_cast<unsigned>(event) & mask_) != 0; }
    void echo(bool to_stderr) { echo_ = to_stderr; }

    // Writes a line. Line breaks and other control characters of `text` and `object` become spaces.
    void write(LogEvent event, LogClass kind, std::string_view object, std::string_view text);
    // Writes an error of the server itself (LogEvent::error).
    void error(std::string_view object, std::string_view text);
    void job(std::string_view job_id, std::string_view text);

    // Collects the lines that are logged while it exists. Its destructor writes them together, which is
    // faster. At most one exists at a time.
    class Together {
      public:
        explicit Together(Log& log) : log_(log) { log_.together_ = true; }
        ~Together();
        Together(const Together&) = delete;
        Together& operator=(const Together&) = delete;

      private:
        Log& log_;
    };

    // The number of lines lost since the start.
    std::uint64_t lost() const { return lost_; }

  private:
    void append(int day, const std::string& line);
    void write_gathered();

    DailyFile file_;
    std::string module_;
    Clock& clock_;
    unsigned mask_ = 0x1ff;
    bool echo_ = false;
    bool together_ = false;
    std::string gathered_;  // lines of one day
    int gathered_day_ = 0;
    std::uint64_t gathered_lines_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t lost_told_ = 0;
};

}  // namespace pbs::host
