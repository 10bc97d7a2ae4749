// The environment of a job and the names of its output files: they follow from the job's attributes alone,
// without any process.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pbs::host {

struct JobStart;

// The passwd entry of a job's owner.
struct PasswdEntry {
    std::string name;
    std::string home;
    std::string shell;  // empty: none
};

// The values of the environment that the shepherd adds.
struct JobPlaces {
    std::string shell;
    std::string node_file;
    std::string tmp_dir;  // empty: none could be made
    std::string job_dir;
    std::string cookie;  // PBS_JOBCOOKIE, a new one for each start
};

// The environment, as "NAME=value", in PBS's order of weight: `defaults` (HOME/pbs_environment), then
// Variable_List, then what PBS sets itself and a job can't change: HOME, LOGNAME, USER, SHELL, PBS_JOBID,
// PBS_JOBNAME, PBS_QUEUE, PBS_ENVIRONMENT, ENVIRONMENT, PBS_NODEFILE, PBS_JOBDIR, PBS_JOBCOOKIE, PBS_NODENUM,
// PBS_TASKNUM, PBS_ACCOUNT, NCPUS, OMP_NUM_THREADS, TMPDIR.
std::vector<std::string> job_environment(const JobStart& job, const PasswdEntry& owner,
                                         const JobPlaces& places,
                                         const std::vector<std::pair<std::string, std::string>>& defaults);

// Lines NAME=value of HOME/pbs_environment; blank lines and lines that begin with # are skipped.
std::vector<std::pair<std::string, std::string>> parse_environment_file(std::string_view text);

// NAME.oSEQ, NAME.eSEQ: `stream` is 'o' or 'e'; the sequence number is the job id up to the dot.
std::string default_file_name(std::string_view job_name, std::string_view job_id, char stream);

// Splits "host:path". A colon after a slash belongs to the path. The host is empty if there is none.
std::pair<std::string, std::string> split_path(std::string_view host_and_path);

// Do the two name the same machine, with or without a domain? No name and "localhost" are any machine.
bool same_host(std::string_view a, std::string_view b);

// The path that a stream is written to, in the job's terms (Keep_Files, the path asked for, the default). It
// may turn out to be a directory.
std::string output_file(const JobStart& job, const PasswdEntry& owner, char stream);

}  // namespace pbs::host
