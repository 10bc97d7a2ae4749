// Accounting records, HOME/server_priv/accounting/YYYYMMDD, one line a record, in PBS's format:
//   MM/DD/YYYY HH:MM:SS;TYPE;id;key=value key=value ...
// Times of day are local, by the server's clock; instants in values are seconds since the Epoch. A value with
// spaces is put in double quotes, in single quotes if it holds a double quote itself.
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

// The facts that a record tells of a job. Empty strings, zero instants and empty lists are left out.
struct AccountedJob {
    std::string id;
    std::string user;
    std::string group;
    std::string account;
    std::string project;
    std::string name;
    std::string queue;
    std::string resv_name;  // the reservation that the job is in
    std::string resv_id;
    std::string array_indices;  // job arrays only
    std::int64_t ctime = 0;
    std::int64_t qtime = 0;
    std::int64_t etime = 0;
    std::string depend;  // in Q records only
    std::int64_t start = 0;
    std::string exec_host;
    std::string exec_vnode;
    // (resource, value) as qstat -f shows them: ("walltime", "01:00:00").
    std::vector<std::pair<std::string, std::string>> resource_list;
    std::vector<std::pair<std::string, std::string>> resource_assigned;  // in S records only
    // In E and R records only:
    std::int64_t session = 0;
    std::int64_t end = 0;
    int exit_status = 0;
    std::vector<std::pair<std::string, std::string>> resources_used;
    std::string eligible_time;  // where it is counted
    std::int64_t run_count = 0;
};

class Accounting {
  public:
    // Writes records to `directory`/YYYYMMDD. A record that can't be written (disk full) is an error in the
    // log and is kept, up to 10,000 of them. When writing works again, at the next record or flush(), they
    // are written in order, each with the time at which it was made.
    Accounting(std::string directory, Log& log, Clock& clock);

    // Reads the records written since `since`. E and R records: a server that died between writing the record
    // and committing the end doesn't record the same end again. Q and S records: the ones that are missing,
    // because it died between committing and writing, are found. Call it at the start, with the earliest
    // start of the jobs that are to be recovered, or gap_begin() if that is earlier.
    void remember_since(std::chrono::sys_seconds since);

    // The instant since which records of committed changes may be missing if the last server was killed: a
    // day before it wrote its last record, by this server's clock.
    std::chrono::sys_seconds gap_begin() const;
    // Writes the record of a job's queueing or start, unless remember_since() has read it. `lacks_` tells
    // beforehand whether it is missing, for the price of a look.
    bool lacks_queueing(std::string_view id) const;
    bool lacks_start(std::string_view id, int64_t start) const;
    void queued_if_missing(AccountedJob job);
    void started_if_missing(const AccountedJob& job);
    // Forgets the queueings and starts that remember_since() has read, once they aren't needed any more.
    void forget_beginnings();

    void queued(const AccountedJob& job);   // Q
    void started(const AccountedJob& job);  // S
    // ended() and rerun() record an end once, however often they are called: call them before the end is
    // committed.
    void ended(const AccountedJob& job);                                // E
    void rerun(const AccountedJob& job);                                // R: requeued after having run
    void suspended(const AccountedJob& job);                            // z
    void resumed(const AccountedJob& job);                              // r
    void checkpointed(const AccountedJob& job);                         // C
    void deleted(const std::string& id, const std::string& requestor);  // D; requestor is user@host
    void aborted(const std::string& id, const std::string& text = {});  // A: ended by the server

    // Records an event of a reservation. `type`: U requested, Y confirmed, B begins, F ends, k deleted by its
    // owner, K deleted by somebody else.
    void reservation(char type, const std::string& id, const std::string& text);

    // Gathers records while it lives and writes them together at its end, so that each costs no write of its
    // own. At most one exists at a time.
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

    // Writes the records that could not be written before. True when none is left.
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
    std::deque<std::string> recent_ends_;  // the keys that this process has put into ended_, the oldest first
    std::unordered_set<std::string> ended_;  // "type id run_count", see remember_since()
    // Keys of Q and S records, ascending; unset before remember_since() and after forget_beginnings().
    std::optional<std::vector<std::uint64_t>> begun_;
};

}  // namespace pbs::host
