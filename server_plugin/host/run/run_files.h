// The paths of the files of a job's start under PBS_HOME, and the formats of their contents. runner.h
// explains the files.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "server_plugin/host/base/error.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

class RunFiles {
  public:
    RunFiles(const std::string& home, const RunId& id)
        : base_(home + "/mom_priv/jobs/" + id.job + "." + std::to_string(id.run)),
          nodes_(home + "/aux/" + id.job + "." + std::to_string(id.run)) {}

    std::string job() const { return base_ + ".job"; }
    std::string started() const { return base_ + ".started"; }
    std::string session() const { return base_ + ".session"; }
    std::string exit() const { return base_ + ".exit"; }
    // Holds space on the disk for the exit record. It is reserved before the job starts, so that a full disk
    // can't lose the record. While the job runs, the file has a record of the usage so far, ended by a zero
    // byte.
    std::string exit_room() const { return base_ + ".exit.room"; }
    std::string withdrawn() const { return base_ + ".withdrawn"; }
    std::string script() const { return base_ + ".SC"; }
    const std::string& nodes() const { return nodes_; }  // PBS_NODEFILE

    void remove_all() const;

  private:
    std::string base_;
    std::string nodes_;
};

// The size of the space for an exit record, in bytes.
inline constexpr off_t kExitRecordRoom = 8192;

// Returns whether the id can be part of a file name: it has only letters, digits and ".-_[]", at most 200
// characters, and doesn't begin with a dot.
bool is_file_safe(std::string_view job_id);

// Returns the start to which a file of mom_priv/jobs belongs; nullopt: the name isn't that of a start's file.
std::optional<RunId> run_of_file(std::string_view name);
// Returns the job id and run count of each start that has a file in mom_priv/jobs.
std::set<std::pair<std::string, std::int64_t>> starts_on_disk(const std::string& home);

// The instructions for a shepherd: the JobStart, and further data from the runner.
struct JobSpec {
    JobStart start;
    std::string cookie;         // PBS_JOBCOOKIE: marks all processes of the job in their environment
    std::string host_name;      // this machine's name
    std::string control_group;  // the job's control group (control_group.h); empty: none
    std::string boot{};         // the kernel's boot id: after another boot, no process of the job exists
};
// Returns a new random cookie.
std::string new_cookie();
std::string write_job_spec(const JobSpec& spec);
Result<JobSpec> parse_job_spec(std::string_view text, std::string_view name);
// Returns the JobSpec's control group. Reads only the beginning of the file, which may be long: it has the
// job's environment.
Result<std::string> read_control_group(const std::string& path);

// The data by which the job's processes can be found after their shepherd was killed.
struct SessionRecord {
    pid_t session = 0;              // the session's number, also the pid of its shell
    std::uint64_t shell_start = 0;  // the shell's start time, clock ticks since boot (/proc/PID/stat)
    std::string boot;               // the kernel's boot id: after another boot, the session doesn't exist
    std::int64_t started_at = 0;    // seconds since the Epoch
    std::string tmp_dir;            // TMPDIR; empty: none was made
    std::string output_note{};      // as in ExitRecord
};
std::string write_session(const SessionRecord& session);
Result<SessionRecord> parse_session(std::string_view text, std::string_view name);

std::string write_exit(const ExitRecord& exit);
Result<ExitRecord> parse_exit(std::string_view text, std::string_view name);
// Reads the record in the file RunFiles::exit_room(), which holds space for the exit record: the text up to
// the first zero byte.
Result<ExitRecord> parse_exit_room(std::string_view text, std::string_view name);

// Writes the exit record into the open file `room`, which has reserved space, then renames that file. So the
// record is complete or missing. If `room` has no file, reserves the space first. On a full or failing disk,
// tries for a minute.
void store_exit(const RunFiles& files, const Fd& room, ExitRecord exit);

}  // namespace pbs::host
