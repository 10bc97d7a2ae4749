// Runs jobs on this machine, so that no job is lost or run twice whatever becomes of the server.
//
// Each start of a job has a process of its own, the shepherd (shepherd.h), that outlives the server. Above it
// is a warden (warden.h), which ends what a killed shepherd leaves. Another process makes the two
// (launcher.h). What the server and these know of each other is in HOME/mom_priv/jobs, under the job's id and
// run count:
//   ID.RUN.job      what to run, written by the runner: the permission to start, good for one start
//   ID.RUN.started  the same file, renamed by the shepherd before anything of the job runs. Shepherd and
//                   warden hold record locks on it for their lives. Withdrawing the permission is a rename
//                   too, so that either the job starts or the permission is withdrawn, never both
//   ID.RUN.session  the job's session, written when the script runs
//   ID.RUN.exit     how it ended; the format is at ExitRecord
//   ID.RUN.SC       the script, as the job's owner reads it
// The server commits a start to its database before start() and the end before forget(). After a crash
// recover() tells of each start what came of it.
//
// The runner has no event loop and no timers: a descriptor becomes readable when there are events.
//
// The room run/ is all of this: Runner and the launcher for the server, warden and shepherd (with
// job_process.h, staging.h, terminal.h, control_group.h) for the processes, and run_files.h for the files
// between them. Executor (executor.h) is what the rest of the server sees; tests put something else in its
// place.
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

// Exit statuses of PBS beside 0..255 (the script's own) and 256 + signal (it died of a signal).
namespace exit_status {
inline constexpr int kFailBeforeFiles = -1;   // could not be started; no output file was opened
inline constexpr int kStageInFailed = -50;    // has not been started, and may be later
inline constexpr int kFailAfterFiles = -2;    // could not be started; see its stderr file
inline constexpr int kAbortedAtRestart = -4;  // its supervision was lost: machine restarted, shepherd killed
inline constexpr int kRerun = -11;            // ended by request, to be queued again
inline constexpr int kBadUid = -10;           // no such user, or not the uid it was submitted with
inline constexpr int kKilledVmem = -26;       // exceeded vmem
inline constexpr int kKilledMem = -27;        // exceeded mem
inline constexpr int kKilledCput = -28;       // exceeded cput
inline constexpr int kKilledWalltime = -29;   // exceeded walltime
inline constexpr int kBySignal = 256;
}  // namespace exit_status

// One start of a job: the job's id and its run_count, which is new for each start.
struct RunId {
    std::string job;
    std::int64_t run = 0;
    bool operator==(const RunId&) const = default;
};

// The data that a start of a job needs.
struct JobStart {
    RunId id;
    std::string name;  // Job_Name
    std::string queue;
    std::string account;
    std::string
        user;  // the user that it runs as (euser), with that user's uid and the gid chosen by group_list
    uid_t uid = 0;
    gid_t gid = 0;
    std::string
        script;  // path of the script as submitted; start() copies it, so that it may be removed after that
    std::vector<std::string> script_arguments;  // Submit_arguments after the script; usually none
    std::string shell;  // from Shell_Path_List for this host; empty: the login shell, or /bin/sh
    // Output_Path and Error_Path, as "host:path" or "path". Empty: NAME.oSEQ, NAME.eSEQ in PBS_O_WORKDIR; a
    // directory: ID.OU, ID.ER in it. Output stays on this machine: if the path names another host,
    // ExitRecord::message says so.
    std::string output_path;
    std::string error_path;
    std::string join = "n";  // Join_Path: oe, eo, n
    std::string keep = "n";  // Keep_Files: letters o, e: in the home directory, under the default name
    std::vector<std::pair<std::string, std::string>> variables;  // Variable_List, unescaped
    std::vector<std::string> hosts;                              // for PBS_NODEFILE, a line each
    std::int64_t threads = 1;                                    // for NCPUS, OMP_NUM_THREADS
    std::optional<unsigned> umask;  // the job's umask attribute; default 077, as in PBS
    std::optional<std::chrono::seconds> walltime;
    std::optional<std::chrono::seconds> cput;
    // Limits for all processes of the job together; a job above one of them is killed.
    std::optional<std::int64_t> mem_kb;
    std::optional<std::int64_t> vmem_kb;
    std::chrono::seconds kill_delay{10};  // between TERM and KILL
    std::vector<std::string> stage_in;    // staging.h
    std::vector<std::string> stage_out;
    std::string remove;            // Remove_Files: letters o, e: files removed after an end with status 0
    bool private_sandbox = false;  // the job has a directory of its own, removed at its end
    // An interactive job: the port of the qsub whose terminal it has. Instead of a script only the shell is
    // run.
    std::uint16_t interactive = 0;
};

// How a start ended. ID.RUN.exit holds it as lines "key=value", the keys being these names (durations in
// milliseconds, instants in seconds, with the unit as suffix: walltime_ms), first "version=1", last
// "complete=1".
struct ExitRecord {
    int exit_status = 0;  // see namespace exit_status
    std::int64_t session = 0;
    std::chrono::sys_seconds started_at{};  // by the machine's real clock; Clock::from_real() converts it
    std::chrono::sys_seconds ended_at{};
    std::chrono::milliseconds walltime{};
    std::chrono::milliseconds cput{};  // of all its processes, also those that ended before
    std::int64_t mem_kb = 0;           // largest sum of resident sizes seen
    std::int64_t vmem_kb = 0;          // largest sum of virtual sizes seen
    // (resources_used name, value) as PBS writes them: cpupercent, cput, mem, ncpus, vmem, walltime.
    std::vector<std::pair<std::string, std::string>> resources_used(int ncpus) const;
    // For the log and the owner's mail: why the job could not be started, or was killed. Empty when all went
    // well.
    std::string message;
    // The output that isn't where it was asked to go, with the reason and its place. Empty if all is in its
    // place.
    std::string output_note;
    bool lost = false;           // see RunState::lost
    bool may_still_run = false;  // see RunReport
};

enum class RunState {
    running,        // its shepherd is at work; the end comes as an event
    ended,          // `exit` tells how
    never_started,  // and never will be under this run count: the job may be queued again
    lost  // it had started and its shepherd is gone without a record. Whatever was left of its processes
          // has been killed. `exit` has kAbortedAtRestart and what is known. PBS requeues
          // such a job if it is rerunnable and ends it otherwise
};

struct RunReport {
    RunId id;
    RunState state = RunState::running;
    std::int64_t session = 0;  // 0: not known yet
    ExitRecord exit;           // for ended and lost; for never_started only the message
    // Only if `state` is lost: some of the job's processes may still be running; `exit.message` says which.
    // The job must not be started again before somebody has looked.
    bool may_still_run = false;
};

struct RunnerOptions {
    std::string home;            // PBS_HOME, absolute, its layout in place (Home::open)
    std::string program;         // pbs_shepherd, or another whose main() calls shepherd_main()
    std::string host_name;       // this machine's name, for the host part of output paths
    bool control_groups = true;  // gives jobs control groups, where the machine permits it
};

class Runner {
  public:
    static Result<std::unique_ptr<Runner>> create(RunnerOptions options);
    ~Runner();  // running jobs go on
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    // Tells for the log how the runner makes sure that no process of a finished job runs on, as this machine
    // permits.
    std::string supervision() const;

    // Can this server run jobs as that user? If not, `reason` says why, for the client.
    bool may_run_as(uid_t uid, std::string& reason) const;

    // Reports what became of the starts that the database holds for running, one report for each, in order;
    // and in `strays` of starts on the disk that the database doesn't hold: of these, the running ones are
    // watched like any other and should be terminated, the others have been removed. A start whose shepherd
    // and warden are gone is reported as running: its end comes as an event, when its processes have been
    // killed. Call it once, before any start().
    std::vector<RunReport> recover(const std::vector<RunId>& running, std::vector<RunReport>* strays);

    // Starts a job in the background. An error (code and message for the job's comment) means that it has not
    // started and never will. A second request for the same start is refused.
    Result<void> start(const JobStart& job);

    // Sends a signal (0: only a check) to all processes of the job.
    Result<void> signal(const RunId& id, int signal);
    // Stops all processes of the job, whatever they do against it, and with them its walltime, until
    // resume(). Does nothing if they are stopped, or go on, already.
    Result<void> suspend(const RunId& id);
    Result<void> resume(const RunId& id);
    // Gives a running job other limits; nullopt: no such limit.
    Result<void> set_limits(const RunId& id, std::optional<std::chrono::seconds> walltime,
                            std::optional<std::chrono::seconds> cput);
    // Sends TERM to the job's processes and, after `kill_delay`, KILL to those that are left.
    Result<void> terminate(const RunId& id, std::chrono::seconds kill_delay);

    // Readable (level-triggered) when events() has something to give.
    int event_fd() const;
    // The events since the last call: `running` when the script runs (session is known), or the end. The end
    // of a start is reported once in the life of a runner; its files stay until forget().
    std::vector<RunReport> events();

    // The usage of a running start so far, as its shepherd saw it at most a few seconds ago: the times and
    // sizes of the record. nullopt: it isn't known, or the start doesn't run.
    std::optional<ExitRecord> used(const RunId& id) const;

    // Removes the files of a start that has ended. Call it after the end is committed.
    void forget(const RunId& id);

    // How many starts are being watched.
    std::size_t running() const;

  private:
    class Impl;
    explicit Runner(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// Reads a signal given as "SIGTERM", "TERM" or "15", in any case; "NULL" is 0, which only checks that the job
// is there. An unknown one is error 15013 (PBSE_UNKSIG).
Result<int> parse_signal(std::string_view text);

}  // namespace pbs::host
