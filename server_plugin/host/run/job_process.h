// Makes the job's own process: its script, its files, its environment, and the shell that runs it as its
// owner. Used by the shepherd only.
#pragma once

#include <sys/types.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/job_env.h"
#include "server_plugin/host/run/run_files.h"

namespace pbs::host {

// Why a job can't be started: one of namespace exit_status, and the reason for its owner.
struct LaunchError {
    int exit_status = 0;
    std::string message;
};

// While it lives, this process touches files with a job owner's rights: whatever a path of the user's leads
// to, it is not followed as root. Without root nothing changes.
class AsOwner {
  public:
    AsOwner(const std::string& user, uid_t uid, gid_t gid);
    ~AsOwner();
    AsOwner(const AsOwner&) = delete;
    AsOwner& operator=(const AsOwner&) = delete;
    bool ok() const { return ok_; }

  private:
    bool root_;
    bool ok_ = true;
    std::vector<gid_t> groups_;
    gid_t gid_;
};

// The open files of a job. `note` is not empty if the output goes elsewhere than asked.
struct JobOutput {
    Fd out;
    Fd err;
    std::string note;
    std::vector<std::pair<char, std::string>>
        paths;  // of the streams 'o' and 'e' that are where they were to be
};

// A shell that has been forked and waits at a gate before it runs the script.
struct JobProcess {
    pid_t shell = 0;  // also its session
    Fd gate;          // a byte written lets it go on
    Fd failure;       // closed when the script runs; else explain_failure() reads why it doesn't
};

// The passwd entry of the job's user, which has to have the uid that the job was submitted with.
tl::expected<PasswdEntry, LaunchError> find_owner(const JobStart& job);

// The shell to run: the one asked for, the login shell, /bin/sh.
std::string shell_of(const JobStart& job, const PasswdEntry& owner);

// Opens the script, which the runner has put beside the other files of the start.
tl::expected<Fd, LaunchError> open_script(const RunFiles& files);

// PBS_NODEFILE. Readable by everyone.
tl::expected<void, LaunchError> write_node_file(const JobStart& job, const RunFiles& files);

// A directory of the job's own in /var/tmp (else /tmp), made as its owner. Empty if none can be made.
std::string make_tmp_dir(const JobStart& job);
void remove_tmp_dir(const JobStart& job, const std::string& directory);

// Opens the output files as the job's owner, where it asked for them. One that can't be opened there goes to
// HOME/undelivered/ID.OU or ID.ER, as PBS does with output that it can't deliver. Nobody but the server can
// make files there; this one is the owner's, who can read and empty it.
tl::expected<JobOutput, LaunchError> open_output(const JobStart& job, const PasswdEntry& owner,
                                                 const std::string& home);

// Forks the job's first process, in a session of its own, which begins in the directory. That of an
// interactive job has the terminal instead of the output files; -1: there is none.
tl::expected<JobProcess, LaunchError> fork_job(const JobStart& job, const PasswdEntry& owner,
                                               const JobOutput& output, int terminal, const RunFiles& files,
                                               int script, const std::string& directory,
                                               const std::string& shell,
                                               const std::vector<std::string>& environment);

// Waits until the script runs (true) or can't be run (false, with the reason).
bool wait_until_running(JobProcess& process, const PasswdEntry& owner, const std::string& shell,
                        std::string& reason);

}  // namespace pbs::host
