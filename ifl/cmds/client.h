// Connections of the commands, and what all of them do with a server's answers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/error.h"
#include "ifl/cmds/job_id.h"
#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

// What a program is called, in its messages, and how it is used: printed when it is used wrongly.
struct Program {
    std::string_view name;
    std::string_view usage;
};

// The program's arguments, without its name.
std::vector<std::string> arguments_of(int argc, char** argv);
// For `--version` alone: prints it and is true.
bool version_asked(const std::vector<std::string>& arguments);
// For `--version` or `--help` alone: prints the version or the usage to stdout and is true.
bool information_asked(const Program& program, const std::vector<std::string>& arguments);
// Prints "name: message" and the usage to stderr; the result is the error's status.
int usage_error(const Program& program, const Error& error);
// Prints "name: message" to stderr.
void complain(const Program& program, std::string_view message);

// What a process exits with for a PBS error number: its low byte, as PBS's commands do, but never 0.
int exit_status(int pbs_error);

// An open connection; closed with the object.
class Connection {
  public:
    // `server` is empty for the default one. The error's message names the server and the reason.
    static Result<Connection> open(const std::string& server);
    Connection(Connection&& other) noexcept;
    Connection& operator=(Connection&& other) noexcept;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    int handle() const { return handle_; }
    // Its name, for headings.
    const std::string& server() const { return server_; }
    // The server's text for the last request, or a text with the error's number.
    std::string error_text() const;

  private:
    Connection(int handle, std::string server) : handle_(handle), server_(std::move(server)) {}
    int handle_;
    std::string server_;
};

// Why the last call on a connection failed, or with -1 the last attempt to connect: the server's text, else
// "error" and the number.
std::string failure_text(int handle);

// Name of the default server; empty if there is none.
std::string default_server();

// One request about one job. The result is 0 or the PBS error number.
using JobRequest = std::function<int(const Connection& connection, const std::string& job)>;

// Makes a request for each job identifier of the command line: at the server it names, else the default one,
// and, for a job unknown there, at the server where that one says the job is, or that made the job. Prints
// what fails. The result is the exit status: that of the last failure.
int for_each_job(const Program& program, const std::vector<std::string>& jobs, const JobRequest& request);

// The job identifier as messages show it: with the server that was asked, if it names none.
std::string shown_job_id(const Connection& connection, const JobId& id);

// The message of a failed request about a job.
std::string job_error_text(const Connection& connection, int pbs_error, std::string_view job);

}  // namespace pbs::cmds
