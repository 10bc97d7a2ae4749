#include "ifl/cmds/client.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/job_id.h"
#include "ifl/pbs_error.h"
#include "values/text.h"

namespace pbs::cmds {

namespace {

// Returns the name of another server that may have a job which `connection`'s server doesn't know; empty:
// there is none.
std::string other_place(const Connection& connection, const JobId& id) {
    const Text place(pbs_locjob(connection.handle(), sent_job_id(id).c_str(), nullptr));
    const std::string_view name = place != nullptr ? view(place.get()) : std::string_view(id.parent);
    return values::same_word(name, connection.server()) ? std::string() : std::string(name);
}

// The outcome of a request about a job: 0, or an exit status with a message.
struct Outcome {
    int status = 0;
    std::string message;
};

using Connections = std::map<std::string, Connection>;

Outcome request_at(Connections& open, const std::string& server, const JobId& id, const JobRequest& request,
                   bool may_move) {
    auto known = open.find(server);
    if (known == open.end()) {
        auto connection = Connection::open(server);
        if (!connection) return {connection.error().status, connection.error().message};
        known = open.emplace(server, std::move(*connection)).first;
    }
    const Connection& connection = known->second;
    const std::string job = sent_job_id(id);
    const int code = request(connection, job);
    if (code == 0) return {};
    Outcome outcome{exit_status(code), job_error_text(connection, code, shown_job_id(connection, id))};
    if (code == PBSE_UNKJOBID && may_move) {
        const std::string place = other_place(connection, id);
        if (!place.empty() && request_at(open, place, id, request, false).status == 0) return {};
    }
    return outcome;
}

}  // namespace

std::vector<std::string> arguments_of(int argc, char** argv) {
    return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

bool version_asked(const std::vector<std::string>& arguments) {
    if (arguments.size() != 1 || arguments[0] != "--version") return false;
    fmt::print("pbs_version = {}\n", PBSPOLICY_VERSION);
    return true;
}

bool information_asked(const Program& program, const std::vector<std::string>& arguments) {
    if (arguments.size() == 1 && arguments[0] == "--help") {
        fmt::print("{}", program.usage);
        return true;
    }
    return version_asked(arguments);
}

tl::expected<CommandLine, int> command_line(const Program& program, std::string_view letters, int argc,
                                            char** argv) {
    return parse_arguments(program, arguments_of(argc, argv),
                           [letters](const auto& arguments) { return parse_options(letters, arguments); });
}

void complain(const Program& program, std::string_view message) {
    fmt::print(stderr, "{}: {}\n", program.name, message);
}

int failed(const Program& program, const Error& error) {
    complain(program, error.message);
    return error.status;
}

int run_program(const Program& program, int argc, char** argv, int (*run)(int argc, char** argv)) {
    if (version_asked(arguments_of(argc, argv))) return 0;
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        complain(program, error.what());
        return 1;
    }
}

int usage_error(const Program& program, const Error& error) {
    if (!error.message.empty()) complain(program, error.message);
    fmt::print(stderr, "{}", program.usage);
    return error.status;
}

int exit_status(int pbs_error) {
    const int low = pbs_error & 0xff;
    return pbs_error != 0 && low == 0 ? 1 : low;
}

int query_status(int pbs_error) {
    return pbs_error == PBSE_JOBHISTNOTSET ? 0 : exit_status(pbs_error);
}

Result<Connection> Connection::open(const std::string& server) {
    const int handle = pbs_connect(server.empty() ? nullptr : server.c_str());
    if (handle < 0) {
        const int number = pbs_errno;
        const std::string_view reason = view(pbs_geterrmsg(-1));
        const std::string name = server.empty() ? default_server() : server;
        return fail(reason.empty() ? fmt::format("cannot connect to server {} (errno={})", name, number)
                                   : fmt::format("{} (errno={})", reason, number),
                    exit_status(number == 0 ? PBSE_SYSTEM : number));
    }
    return Connection(handle, std::string(view(pbs_server)));
}

Connection::Connection(Connection&& other) noexcept
    : handle_(std::exchange(other.handle_, -1)), server_(std::move(other.server_)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(server_, other.server_);
    return *this;
}

Connection::~Connection() {
    if (handle_ >= 0) pbs_disconnect(handle_);
}

std::string Connection::error_text() const {
    const std::string_view text = view(pbs_geterrmsg(handle_));
    return text.empty() ? fmt::format("Server returned error {}", pbs_errno) : std::string(text);
}

std::string failure_text(int handle) {
    const int code = pbs_errno;
    const std::string_view text = view(pbs_geterrmsg(handle));
    return text.empty() ? fmt::format("error {}", code) : std::string(text);
}

std::string default_server() {
    return std::string(view(pbs_default()));
}

std::string job_error_text(const Connection& connection, int pbs_error, std::string_view job) {
    const std::string_view text = view(pbs_geterrmsg(connection.handle()));
    if (text.empty()) return fmt::format("Server returned error {} for job {}", pbs_error, job);
    // "%s" in the server's text stands for the job
    if (const std::size_t at = text.find("%s"); at != std::string_view::npos)
        return fmt::format("{}{}{}", text.substr(0, at), job, text.substr(at + 2));
    return job.empty() ? std::string(text) : fmt::format("{} {}", text, job);
}

std::string shown_job_id(const Connection& connection, const JobId& id) {
    if (!id.parent.empty()) return sent_job_id(id);
    const std::string& server = connection.server();
    return id.sequence + "." + server.substr(0, server.find(':'));
}

int for_each_job(const Program& program, const std::vector<std::string>& jobs, const JobRequest& request) {
    Connections open;
    int status = 0;
    for (const std::string& text : jobs) {
        const auto id = parse_job_id(text);
        const Outcome outcome = id ? request_at(open, id->server, *id, request, true)
                                   : Outcome{id.error().status, id.error().message};
        if (outcome.status != 0) {
            complain(program, outcome.message);
            status = outcome.status;
        }
    }
    return status;
}

}  // namespace pbs::cmds
