// Computes the environment of a job and the names of its output files from the job's attributes, without any
// process.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/host/base/users.h"

namespace pbs::host {

struct JobStart;

// The values in a job's environment that only the shepherd knows.
struct JobPlaces {
    std::string shell;
    std::string node_file;
    std::string tmp_dir;  // empty: it couldn't be made
    std::string job_dir;
    std::string cookie;  // PBS_JOBCOOKIE, a new one for each start
};

// Makes the job's environment, as "NAME=value". Later sources override earlier ones, as in PBS: `defaults`
// (HOME/pbs_environment), then Variable_List, then the variables that PBS sets and a job can't change: HOME,
// LOGNAME, USER, SHELL, PBS_JOBID, PBS_JOBNAME, PBS_QUEUE, PBS_ENVIRONMENT, ENVIRONMENT, PBS_NODEFILE,
// PBS_JOBDIR, PBS_JOBCOOKIE, PBS_NODENUM, PBS_TASKNUM, PBS_ACCOUNT, NCPUS, OMP_NUM_THREADS, TMPDIR.
std::vector<std::string> job_environment(const JobStart& job, const Account& owner, const JobPlaces& places,
                                         const std::vector<std::pair<std::string, std::string>>& defaults);

// Reads the lines NAME=value of HOME/pbs_environment. Skips blank lines, and lines that begin with #.
std::vector<std::pair<std::string, std::string>> parse_environment_file(std::string_view text);

// Returns a stream's default file name, NAME.oSEQ or NAME.eSEQ. `stream` is 'o' or 'e'. SEQ is the job id up
// to the dot.
std::string default_file_name(std::string_view job_name, std::string_view job_id, char stream);

// Splits "host:path". A colon after a slash belongs to the path. The host is empty if the text has none.
std::pair<std::string, std::string> split_path(std::string_view host_and_path);

// Returns whether both names are of the same machine, with or without a domain. An empty name and "localhost"
// are the same as any other name.
bool same_host(std::string_view a, std::string_view b);

// Returns the path of a stream's output file: if Keep_Files has the stream, in the home directory; else the
// requested path, else the default name. `stream` is 'o' or 'e'. The path may be that of a directory.
std::string output_file(const JobStart& job, const Account& owner, char stream);

}  // namespace pbs::host
