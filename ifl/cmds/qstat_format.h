// Formats status lists as qstat prints them. The current time is an argument.
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/qstat_options.h"

namespace pbs::cmds {

// The server of a list of jobs or queues, for the heading.
struct QstatHeading {
    std::string server;
    std::string comment;    // the server's comment attribute
    bool long_ids = false;  // the server's job numbers need a wider column
    bool shown = true;      // write the heading (the first list of a server)
};

// The attributes that the job formats read, so that the server sends no others; an empty list stands for all.
AttrList shown_job_attributes(const QstatOptions& options);
// Writes jobs, one line each: job, name, user, CPU time used, state, queue.
std::string jobs_text(const batch_status* jobs, const QstatHeading& heading, const QstatOptions& options);
// Writes jobs in the format of -a, with the resources that they request.
std::string alternate_jobs_text(const batch_status* jobs, const QstatHeading& heading,
                                const QstatOptions& options, std::time_t now);
// These functions write queues: queues_text() the counts of -Q, and queue_limits_text() the limits of -q.
std::string queues_text(const batch_status* queues, bool heading);
std::string queue_limits_text(const batch_status* queues, std::string_view server,
                              const QstatOptions& options);
std::string servers_text(const batch_status* servers, bool heading);

// Writes all attributes (-f), as text or separated by the delimiter. `what` is "Job Id", "Queue" or "Server".
std::string full_text(const batch_status* objects, std::string_view what, const QstatOptions& options);

// All attributes as JSON, of the objects of several lists together. `group` is "Jobs", "Queue" or "Server".
class JsonReport {
  public:
    JsonReport(std::string_view server, std::string_view version, std::time_t now);
    JsonReport(const JsonReport&) = delete;
    JsonReport& operator=(const JsonReport&) = delete;
    ~JsonReport();
    // Adds objects. If an object of another server has the same name already, the server is appended to the
    // name: "workq@other".
    void add(std::string_view group, std::string_view server, const batch_status* objects);
    std::string text() const;

  private:
    struct Document;
    std::unique_ptr<Document> document_;
};

// A size from the server ("1048576kb") in at most five characters: in its own unit, or in megawords or
// gigabytes.
std::string size_text(std::string_view value, const QstatOptions& options);

}  // namespace pbs::cmds
