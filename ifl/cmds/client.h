// Connections of the commands, and their common handling of a server's answers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/error.h"
#include "ifl/cmds/job_id.h"
#include "ifl/cmds/options.h"
#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

// A program's name, for messages, and its usage, printed for a wrong command line.
struct Program {
    std::string_view name;
    std::string_view usage;
};

// The program's arguments, without its name.
std::vector<std::string> arguments_of(int argc, char** argv);
// If the only argument is --version, prints the version and returns true.
bool version_asked(const std::vector<std::string>& arguments);
// If the only argument is --version or --help, prints the version or the usage to stdout and returns true.
bool information_asked(const Program& program, const std::vector<std::string>& arguments);
// Prints "name: message", unless the message is empty, and the usage to stderr; returns the error's status.
int usage_error(const Program& program, const Error& error);
// Parses the program's arguments by `parse`, which returns a Result. If they are --version, --help or wrong,
// prints the version, the usage or the error; the error of this function is then the exit status.
template <class Parse>
auto parse_arguments(const Program& program, const std::vector<std::string>& arguments, const Parse& parse)
    -> tl::expected<typename decltype(parse(arguments))::value_type, int> {
    if (information_asked(program, arguments)) return tl::unexpected(0);
    auto parsed = parse(arguments);
    if (!parsed) return tl::unexpected(usage_error(program, parsed.error()));
    return *std::move(parsed);
}
// Parses the arguments by parse_options(), and handles --version, --help and errors as parse_arguments()
// does.
tl::expected<CommandLine, int> command_line(const Program& program, std::string_view letters, int argc,
                                            char** argv);
// Prints "name: message" to stderr.
void complain(const Program& program, std::string_view message);
// Complains of the error, and returns its status.
int failed(const Program& program, const Error& error);
// Runs main() of a program that reads its arguments with CLI11: prints the version if --version is the only
// argument, else calls `run`. Returns the exit status; an exception is complained of, with status 1.
int run_program(const Program& program, int argc, char** argv, int (*run)(int argc, char** argv));

// The exit status for a PBS error number: its low byte, as with PBS's commands, but never 0 for an error.
int exit_status(int pbs_error);
// The exit status of a query for jobs: 0 for PBSE_JOBHISTNOTSET, because PBS doesn't count it as a failure
// that the history of jobs, which -x and -H ask for, is off.
int query_status(int pbs_error);

// An open connection, closed by the destructor.
class Connection {
  public:
    // Connects. `server` is empty for the default one. The error's message names the server and the reason.
    static Result<Connection> open(const std::string& server);
    Connection(Connection&& other) noexcept;
    Connection& operator=(Connection&& other) noexcept;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    int handle() const { return handle_; }
    // The server's name, for headings.
    const std::string& server() const { return server_; }
    // The server's text for the last request, or a text with the error number.
    std::string error_text() const;

  private:
    Connection(int handle, std::string server) : handle_(handle), server_(std::move(server)) {}
    int handle_;
    std::string server_;
};

// Returns the reason why the last call on a connection failed: the server's text, else "error" and the
// number. With -1 for `handle`, the reason why the last attempt to connect failed.
std::string failure_text(int handle);

// Name of the default server; empty if there is none.
std::string default_server();

// A function that makes a request about one job. It returns 0 or the PBS error number.
using JobRequest = std::function<int(const Connection& connection, const std::string& job)>;

// Makes a request for each job identifier of the command line, at the server that the identifier names, else
// the default one. If the job is unknown there, asks at the server that pbs_locjob() returns, else at the one
// that made the job. Prints failures. Returns the exit status: that of the last failure.
int for_each_job(const Program& program, const std::vector<std::string>& jobs, const JobRequest& request);

// The job identifier for messages; one without a server gets the name of the server that was asked.
std::string shown_job_id(const Connection& connection, const JobId& id);

// The message of a failed request about a job.
std::string job_error_text(const Connection& connection, int pbs_error, std::string_view job);

}  // namespace pbs::cmds
