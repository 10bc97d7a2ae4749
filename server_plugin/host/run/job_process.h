// Makes the job's own process: its script, its files, its environment, and the shell that runs it as the
// job's owner. Only the shepherd uses it.
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

// The reason why a job can't be started: an exit status of namespace exit_status, and the text for its owner.
struct LaunchError {
    int exit_status = 0;
    std::string message;
};

// While it lives, this process touches files with the rights of a job's owner, so that root doesn't follow
// wherever a user's path leads. Does nothing in a process that isn't root's.
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

// The open files of a job. `note` says which output goes elsewhere than asked; empty: none.
struct JobOutput {
    Fd out;
    Fd err;
    std::string note;
    std::vector<std::pair<char, std::string>>
        paths;  // the streams 'o' and 'e' that go where they were asked to go
};

// A shell that has been forked and waits at a gate before it runs the script.
struct JobProcess {
    pid_t shell = 0;  // the shell's pid, also its session
    Fd gate;          // a byte written here lets the shell run the script
    Fd failure;       // closed when the script runs; otherwise explain_failure() reads here why it doesn't
};

// Finds the passwd entry of the job's user. Its uid has to be the one that the job was submitted with.
tl::expected<PasswdEntry, LaunchError> find_owner(const JobStart& job);

// The shell to run: the one that the job asks for, else the login shell, else /bin/sh.
std::string shell_of(const JobStart& job, const PasswdEntry& owner);

// Opens the script, which the runner has put beside the other files of the start.
tl::expected<Fd, LaunchError> open_script(const RunFiles& files);

// Writes PBS_NODEFILE, readable by everyone.
tl::expected<void, LaunchError> write_node_file(const JobStart& job, const RunFiles& files);

// Makes a directory of the job's own in /var/tmp (else /tmp), as the job's owner. Empty: none can be made.
std::string make_tmp_dir(const JobStart& job);
void remove_tmp_dir(const JobStart& job, const std::string& directory);

// Opens the output files as the job's owner, where the job asks for them. Output whose file can't be opened
// there goes to HOME/undelivered/ID.OU or ID.ER, where PBS puts output that it can't deliver. Nobody but the
// server can make files in that folder; the file belongs to the job's owner, who can read and empty it.
tl::expected<JobOutput, LaunchError> open_output(const JobStart& job, const PasswdEntry& owner,
                                                 const std::string& home);

// Forks the job's first process, in a session of its own, which begins in the directory. `terminal`: an
// interactive job has it instead of the output files; -1: none.
tl::expected<JobProcess, LaunchError> fork_job(const JobStart& job, const PasswdEntry& owner,
                                               const JobOutput& output, int terminal, const RunFiles& files,
                                               int script, const std::string& directory,
                                               const std::string& shell,
                                               const std::vector<std::string>& environment);

// Waits until the script runs (true) or has failed to run (false, with the reason).
bool wait_until_running(JobProcess& process, const PasswdEntry& owner, const std::string& shell,
                        std::string& reason);

}  // namespace pbs::host
