// Runs jobs on this machine, so that no job is lost or run twice whatever happens to the server.
//
// Each start of a job has a process, the shepherd (shepherd.h), which goes on when the server ends. The
// shepherd's parent is the warden (warden.h), which ends the processes that a killed shepherd leaves. Another
// process, the launcher (launcher.h), starts both. The server and these processes communicate by files in
// HOME/mom_priv/jobs, named after the job's id and run count:
//   ID.RUN.job      what to run, written by the runner: the permission to start, good for one start
//   ID.RUN.started  the same file, renamed by the shepherd before anything of the job runs. Shepherd and
//                   warden hold record locks on it for their lives. Withdrawing the permission is a rename,
//                   too, so that either the job starts or the permission is withdrawn, never both
//   ID.RUN.session  the job's session, written when the script runs
//   ID.RUN.exit     the outcome; the format is at ExitRecord
//   ID.RUN.SC       the script, as the job's owner reads it
// The server commits a start to its database before it calls start(), and an end before it calls forget().
// After a crash, recover() reports the outcome of each start.
//
// The runner has no event loop and no timers: event_fd() is readable when there are events.
//
// The folder run/ has Runner and the launcher for the server; warden and shepherd (with job_process.h,
// staging.h, terminal.h, control_group.h) for the processes; and run_files.h for the files between them.
// Other folders use Executor (executor.h), which tests replace.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/host/base/error.h"

namespace pbs::host {

// PBS's exit statuses besides 0 to 255 (the script's own) and 256 + signal (the signal that ended the
// script).
namespace exit_status {
inline constexpr int kFailBeforeFiles = -1;   // could not be started; no output file was opened
inline constexpr int kStageInFailed = -50;    // files couldn't be staged in; the job is started again later
inline constexpr int kFailAfterFiles = -2;    // could not be started; see its stderr file
inline constexpr int kAbortedAtRestart = -4;  // nothing supervised it: machine restarted, or shepherd killed
inline constexpr int kRerun = -11;            // ended on request, to be queued again
inline constexpr int kBadUid = -10;           // no such user, or another uid than at the submission
inline constexpr int kKilledVmem = -26;       // exceeded vmem
inline constexpr int kKilledMem = -27;        // exceeded mem
inline constexpr int kKilledCput = -28;       // exceeded cput
inline constexpr int kKilledWalltime = -29;   // exceeded walltime
inline constexpr int kBySignal = 256;
}  // namespace exit_status

// Identifies a start of a job: the job's id and its run_count, which is new for each start.
struct RunId {
    std::string job;
    std::int64_t run = 0;
    bool operator==(const RunId&) const = default;
};

// The data for a start of a job.
struct JobStart {
    RunId id;
    std::string name;  // Job_Name
    std::string queue;
    std::string account;
    std::string
        user;  // the user that the job runs as (euser); below, his uid, and the gid chosen by group_list
    uid_t uid = 0;
    gid_t gid = 0;
    // All groups of the user, with gid. The shepherd looks them up once (look_up_groups()); empty: they
    // haven't been looked up.
    std::vector<gid_t> groups;
    std::string script;                         // the text; start() writes it to a file of the user's
    std::vector<std::string> script_arguments;  // Submit_arguments after the script; usually none
    std::string shell;         // from Shell_Path_List for this host; empty: the login shell, or /bin/sh
    bool plain_shell = false;  // the shell is no login shell; without effect if the job is interactive
    // Output_Path and Error_Path, as "host:path" or "path". An empty path means NAME.oSEQ or NAME.eSEQ in
    // PBS_O_WORKDIR; a directory means ID.OU or ID.ER in it. Output stays on this machine; if the path names
    // another host, ExitRecord::message says so.
    std::string output_path;
    std::string error_path;
    std::string join = "n";  // Join_Path: oe, eo, n
    std::string keep = "n";  // Keep_Files: letters o, e: streams that go to the home directory
    std::vector<std::pair<std::string, std::string>> variables;  // Variable_List, unescaped
    std::vector<std::string> hosts;                              // for PBS_NODEFILE, a line each
    std::int64_t threads = 1;                                    // for NCPUS, OMP_NUM_THREADS
    std::optional<unsigned> umask;  // the job's umask attribute; default 077, as in PBS
    std::optional<std::chrono::seconds> walltime;
    std::optional<std::chrono::seconds> cput;
    // Limits for all processes of the job together; a job that exceeds one is killed.
    std::optional<std::int64_t> mem_kb;
    std::optional<std::int64_t> vmem_kb;
    std::chrono::seconds kill_delay{10};  // between TERM and KILL
    std::vector<std::string> stage_in;    // staging.h
    std::vector<std::string> stage_out;
    std::string remove;            // Remove_Files: letters o, e: files removed after an end with status 0
    bool private_sandbox = false;  // the job has a directory of its own, removed at its end
    // Set for an interactive job only: the port of the qsub whose terminal it uses. The shell runs without a
    // script.
    std::uint16_t interactive = 0;
};

// The record of the end of a start. The file ID.RUN.exit has it as lines "key=value". The keys are the names
// of the members. Durations are in milliseconds, instants in seconds; a suffix of the key gives the unit
// (walltime_ms). The first line is "version=1", the last "complete=1".
struct ExitRecord {
    int exit_status = 0;  // see namespace exit_status
    std::int64_t session = 0;
    std::chrono::sys_seconds started_at{};  // by the machine's real clock; Clock::from_real() converts it
    std::chrono::sys_seconds ended_at{};
    std::chrono::milliseconds walltime{};
    std::chrono::milliseconds cput{};  // of all its processes, including ended ones
    std::int64_t mem_kb = 0;           // largest sum of resident sizes seen
    std::int64_t vmem_kb = 0;          // largest sum of virtual sizes seen
    // (resources_used name, value) as PBS writes them: cpupercent, cput, mem, ncpus, vmem, walltime.
    std::vector<std::pair<std::string, std::string>> resources_used(int ncpus) const;
    // Why the job couldn't be started, or was killed, for the log and the owner's mail. Empty: there was no
    // problem.
    std::string message;
    // Names the output that isn't at its requested path, its place and the reason. Empty: all output is at
    // its path.
    std::string output_note;
    bool lost = false;           // the state is RunState::lost
    bool may_still_run = false;  // as RunReport::may_still_run
};

enum class RunState {
    running,        // its shepherd is working; events() reports the end
    ended,          // `exit` has the outcome
    never_started,  // it hasn't started, and never will with this run count: the job may be queued again
    lost  // The start began, but its shepherd and its record are gone. Its remaining processes have been
          // killed. `exit` has kAbortedAtRestart and what is known. PBS requeues such a job if it is
          // rerunnable, and ends it otherwise
};

struct RunReport {
    RunId id;
    RunState state = RunState::running;
    std::int64_t session = 0;  // 0: not known yet
    ExitRecord exit;           // for ended and lost; for never_started only the message
    // Only if `state` is lost: some processes of the job may still be running, and `exit.message` says which.
    // The job must not be started again before somebody has looked at the machine.
    bool may_still_run = false;
};

struct RunnerOptions {
    std::string home;            // PBS_HOME, absolute, its layout in place (Home::open)
    std::string program;         // pbs_shepherd, or another program whose main() calls shepherd_main()
    std::string host_name;       // this machine's name, for the host part of output paths
    bool control_groups = true;  // gives jobs control groups, where the machine permits it
};

class Runner {
  public:
    static Result<std::unique_ptr<Runner>> create(RunnerOptions options);
    ~Runner();  // doesn't end running jobs
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    // Returns a text for the log that says by which means of this machine the runner ensures that no process
    // of an ended job continues.
    std::string supervision() const;

    // Returns whether set_weight() has an effect here: jobs have control groups with a cpu.weight.
    bool weighs() const;

    // Returns whether this server can run jobs as the user. If it can't, sets `reason` to a text for the
    // client.
    bool may_run_as(uid_t uid, std::string& reason) const;

    // Returns a report for each start in `running`, the list of those that run according to the database, in
    // the same order. Adds to `strays` a report for each start on the disk that the database doesn't have.
    // Running strays are watched like other starts, and the caller should terminate them; the files of other
    // strays are removed. A start whose shepherd and warden are gone is reported as running: its end comes as
    // an event, after its processes were killed. Call this once, before any start().
    std::vector<RunReport> recover(const std::vector<RunId>& running, std::vector<RunReport>* strays);

    // Starts a job in the background. An error (code and message for the job's comment) means that the job
    // hasn't started and never will. A second request for the same start is refused.
    Result<void> start(JobStart job);

    // Sends a signal to all processes of the job (0: only checks that they exist).
    Result<void> signal(const RunId& id, int signal);
    // suspend() stops all processes of the job, even those that have left its session, and stops the counting
    // of its walltime. resume() continues both. A second call of the same function has no effect.
    Result<void> suspend(const RunId& id);
    Result<void> resume(const RunId& id);
    // Sets new limits for a running job; nullopt: no limit.
    Result<void> set_limits(const RunId& id, std::optional<std::chrono::seconds> walltime,
                            std::optional<std::chrono::seconds> cput);
    // Sets the job's part of the CPUs when it competes with other jobs: from 1 to 10000; each start begins
    // with 100. The error has the reason why the job's control group can't have the weight, for example that
    // the job has ended.
    Result<void> set_weight(const RunId& id, int weight);
    // Sends TERM to the job's processes and, after `kill_delay`, KILL to the remaining ones.
    Result<void> terminate(const RunId& id, std::chrono::seconds kill_delay);

    // Returns a descriptor that is readable (level-triggered) when events() has events.
    int event_fd() const;
    // Returns the events since the last call. A report of state `running` means that the script runs; it has
    // the session. Any other state is the end of a start. Each Runner reports an end once. The files of the
    // start stay until forget().
    std::vector<RunReport> events();

    // Returns the usage of a running start, which its shepherd has measured at most a few seconds ago. Only
    // the times and sizes in the record are set. nullopt: the usage isn't known, or the start doesn't run.
    std::optional<ExitRecord> used(const RunId& id) const;

    // Removes the files of an ended start. Call it after the end is committed.
    void forget(const RunId& id);

    // Returns the number of starts that are watched or being launched.
    std::size_t running() const;

  private:
    class Impl;
    explicit Runner(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// Reads a signal given as "SIGTERM", "TERM" or "15", in any case; "NULL" is 0, which only checks that the job
// exists. Error 15013 (PBSE_UNKSIG): there is no such signal.
Result<int> parse_signal(std::string_view text);

}  // namespace pbs::host
