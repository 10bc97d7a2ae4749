// The accounting records, in files HOME/server_priv/accounting/YYYYMMDD. Each record is a line in PBS's
// format:
//   MM/DD/YYYY HH:MM:SS;TYPE;id;key=value key=value ...
// Times of day are local, by the server's clock; instants in values are seconds since the Epoch. A value with
// spaces is in double quotes, or in single quotes if it contains a double quote.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/daily_file.h"

namespace pbs::host {

class Log;

// The facts about a job in its records. Records omit empty strings, zero instants and empty lists.
struct AccountedJob {
    std::string id;
    std::string user;
    std::string group;
    std::string account;
    std::string project;
    std::string name;
    std::string queue;
    std::string resv_name;  // the reservation of the job
    std::string resv_id;
    std::string array_indices;  // job arrays only
    std::int64_t ctime = 0;
    std::int64_t qtime = 0;
    std::int64_t etime = 0;
    std::string depend;  // in Q records only
    std::int64_t start = 0;
    std::string exec_host;
    std::string exec_vnode;
    // (resource, value), with values as qstat -f shows them: ("walltime", "01:00:00").
    std::vector<std::pair<std::string, std::string>> resource_list;
    std::vector<std::pair<std::string, std::string>> resource_assigned;  // in S records only
    // The following members are in E and R records only.
    std::int64_t session = 0;
    std::int64_t end = 0;
    int exit_status = 0;
    std::vector<std::pair<std::string, std::string>> resources_used;
    std::string eligible_time;  // if the server counts it
    std::int64_t run_count = 0;
};

class Accounting {
  public:
    // Writes records to `directory`/YYYYMMDD. If a record can't be written (disk full), logs an error and
    // stores the record in memory, up to 10,000 of them. The next record or flush() tries again: the stored
    // records are written first, in order and with their original times.
    Accounting(std::string directory, Log& log, Clock& clock);

    // Reads the records that earlier servers have written since `since`, so that none is written twice and
    // none is lost:
    // - E and R records: a server may have died after it wrote the record of an end and before it committed
    //   the end. Such an end isn't recorded again.
    // - Q and S records: a server may have died after it committed a queueing or start and before it wrote
    //   the record. Such a missing record is found.
    // Call this at the server's start, with the earliest start of the jobs to recover, or with gap_begin() if
    // that is earlier.
    void remember_since(std::chrono::sys_seconds since);

    // Returns an instant before which the records of committed changes are complete, even if the last server
    // was killed: a day before the last record was written, by this server's clock.
    std::chrono::sys_seconds gap_begin() const;
    // queued_if_missing() and started_if_missing() write the record of a job's queueing or start, unless
    // remember_since() has read that record. The functions `lacks_...` return whether the record is missing,
    // which is cheap.
    bool lacks_queueing(std::string_view id) const;
    bool lacks_start(std::string_view id, int64_t start) const;
    void queued_if_missing(AccountedJob job);
    void started_if_missing(const AccountedJob& job);
    // Forgets the Q and S records that remember_since() has read. Call it when all jobs are recovered.
    void forget_beginnings();

    // Each of these functions writes a record of the type that is named beside it.
    void queued(const AccountedJob& job);   // Q
    void started(const AccountedJob& job);  // S
    // ended() and rerun() record an end once, even if they are called again. Call them before the end is
    // committed.
    void ended(const AccountedJob& job);                                // E
    void rerun(const AccountedJob& job);                                // R: requeued after having run
    void suspended(const AccountedJob& job);                            // z
    void resumed(const AccountedJob& job);                              // r
    void checkpointed(const AccountedJob& job);                         // C
    void deleted(const std::string& id, const std::string& requestor);  // D; requestor is user@host
    void aborted(const std::string& id, const std::string& text = {});  // A: ended by the server

    // Records an event of a reservation. `type`: U requested, Y confirmed, B begins, F ends, k deleted by its
    // owner, K deleted by another user.
    void reservation(char type, const std::string& id, const std::string& text);

    // Collects the records that are made while it exists. Its destructor writes them together, which is
    // faster. At most one exists at a time.
    class Together {
      public:
        explicit Together(Accounting& accounting) : accounting_(accounting) { accounting.together_ = true; }
        ~Together() {
            accounting_.together_ = false;
            accounting_.write_pending();
        }
        Together(const Together&) = delete;
        Together& operator=(const Together&) = delete;

      private:
        Accounting& accounting_;
    };

    // Writes the records that couldn't be written before. Returns true if none is left.
    bool flush();
    std::size_t pending() const { return pending_.size(); }

  private:
    struct Record {
        int day;  // YYYYMMDD
        std::string line;
    };
    void record(char type, const std::string& id, const std::string& text);
    void end_record(char type, const AccountedJob& job);
    void write_pending();
    void complain(int error);

    std::string directory_;
    DailyFile file_;
    Log& log_;
    Clock& clock_;
    bool failing_ = false;
    bool together_ = false;
    std::uint64_t dropped_ = 0;
    std::deque<Record> pending_;
    std::deque<std::string> recent_ends_;    // keys in ended_ that this process added, oldest first
    std::unordered_set<std::string> ended_;  // ends that have a record, each as "type id run_count"
    // Hashes of the Q and S records that remember_since() has read, ascending; nullopt before it is called
    // and after forget_beginnings().
    std::optional<std::vector<std::uint64_t>> begun_;
};

}  // namespace pbs::host
