// Makes the first process of a job: opens its script and its output files, makes its environment, and forks
// the shell that runs the script as the job's owner. Only the shepherd uses these functions.
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

// The reason why a job can't be started: an exit status of namespace exit_status, and a text for its owner.
struct LaunchError {
    int exit_status = 0;
    std::string message;
    bool passes = false;  // the job is to be started again later; nothing was done for it yet
};

// Looks up the groups of the job's user. A lookup takes longer than all else that a start does as this user,
// so it is done once for a start.
void look_up_groups(JobStart& job);

// Makes this process a member of the groups of the job's user, which are looked up if the job doesn't have
// them. Returns false if that failed. REQUIRES: the process is root's.
bool join_groups(const JobStart& job);

// Gives this process, while the object exists, the rights of a job's owner on files. So a path that a user
// has chosen gives him no access by root's rights. If the process isn't root's, AsOwner does nothing.
class AsOwner {
  public:
    explicit AsOwner(const JobStart& job);
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

// The open output files of a job. `note` names the output that isn't at its requested path; empty: all output
// is.
struct JobOutput {
    Fd out;
    Fd err;
    std::string note;
    std::vector<std::pair<char, std::string>>
        paths;  // the paths of those of the streams 'o' and 'e' that are at their requested paths
};

// A forked process that waits at the pipe `gate` before it runs the shell with the script.
struct JobProcess {
    pid_t shell = 0;  // the shell's pid, also its session
    Fd gate;          // a byte written here makes the shell run the script
    Fd failure;       // closed when the script runs; if it can't, explain_failure() reads the reason
};

// Finds the passwd entry of the job's user. Its uid has to be the same as when the job was submitted. A
// look-up that fails, for example because a directory service doesn't answer, may succeed later.
tl::expected<Account, LaunchError> find_owner(const JobStart& job);

// Returns the shell to run: the job's Shell_Path_List, else the login shell, else /bin/sh.
std::string shell_of(const JobStart& job, const Account& owner);

// Opens the script, which the runner has copied to the files of the start (runner.h).
tl::expected<Fd, LaunchError> open_script(const RunFiles& files);

// Writes the job's PBS_NODEFILE, which everyone can read.
tl::expected<void, LaunchError> write_node_file(const JobStart& job, const RunFiles& files);

// Makes a directory for the job in /var/tmp (else /tmp), as the job's owner. Returns its path, or an empty
// text if it couldn't be made.
std::string make_tmp_dir(const JobStart& job);
void remove_tmp_dir(const JobStart& job, const std::string& directory);

// Opens the output files as the job's owner, at the requested paths. If a file can't be opened there, its
// output goes to HOME/undelivered/ID.OU or ID.ER, as in PBS. Only the server can make files in that folder;
// the file belongs to the job's owner, who can read and empty it.
tl::expected<JobOutput, LaunchError> open_output(const JobStart& job, const Account& owner,
                                                 const std::string& home);

// Forks the job's first process, in a new session and in `directory`. `terminal`: the terminal of an
// interactive job, in place of the output files; -1: the job isn't interactive.
tl::expected<JobProcess, LaunchError> fork_job(const JobStart& job, const Account& owner,
                                               const JobOutput& output, int terminal, const RunFiles& files,
                                               int script, const std::string& directory,
                                               const std::string& shell,
                                               const std::vector<std::string>& environment);

// Waits until the shell runs the script or has failed to. Returns false if it has failed; `reason` then says
// why.
bool wait_until_running(JobProcess& process, const Account& owner, const std::string& shell,
                        std::string& reason);

}  // namespace pbs::host
