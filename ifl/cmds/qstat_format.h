// The layouts of qstat, from status lists to text. Pure: the current time is an argument.
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/qstat_options.h"

namespace pbs::cmds {

// The server that a list of jobs or queues is from; for the heading.
struct QstatHeading {
    std::string server;
    std::string comment;    // the server's comment attribute
    bool long_ids = false;  // the server's job numbers need a wider column
    bool shown = true;      // write the heading (the first list of a server)
};

// The attributes that the layouts of jobs read, for the server to send no others; none stand for all.
AttrList shown_job_attributes(const QstatOptions& options);
// Jobs, one a line: job, name, user, CPU time used, state, queue.
std::string jobs_text(const batch_status* jobs, const QstatHeading& heading, const QstatOptions& options);
// Jobs in the layout of -a, with what they ask for.
std::string alternate_jobs_text(const batch_status* jobs, const QstatHeading& heading,
                                const QstatOptions& options, std::time_t now);
// Queues: the counts of -Q, and the limits of -q.
std::string queues_text(const batch_status* queues, bool heading);
std::string queue_limits_text(const batch_status* queues, std::string_view server,
                              const QstatOptions& options);
std::string servers_text(const batch_status* servers, bool heading);

// All attributes (-f), as text or delimiter separated. `what` is "Job Id", "Queue" or "Server".
std::string full_text(const batch_status* objects, std::string_view what, const QstatOptions& options);

// All attributes as JSON, of objects of several lists together. `group` is "Jobs", "Queue", "Server" or
// "nodes".
class JsonReport {
  public:
    JsonReport(std::string_view server, std::string_view version, std::time_t now);
    JsonReport(const JsonReport&) = delete;
    JsonReport& operator=(const JsonReport&) = delete;
    ~JsonReport();
    // One whose name an object of another server has already gets its server behind it: "workq@other".
    void add(std::string_view group, std::string_view server, const batch_status* objects);
    // An object that could not be had, with the reason.
    void add_error(std::string_view group, std::string_view object, std::string_view error);
    std::string text() const;

  private:
    struct Document;
    std::unique_ptr<Document> document_;
};

// A size of the server ("1048576kb") in at most five characters: in its own unit, or megawords or gigabytes.
std::string size_text(std::string_view value, const QstatOptions& options);

}  // namespace pbs::cmds
