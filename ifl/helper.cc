#include "ifl/helper.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "ifl/pbs_error.h"
#include "text/pointers.h"
#include "values/text.h"

namespace pbs::ifl {

namespace {

constexpr std::size_t kMaxMessage = 4096;
constexpr const char* kOfOpenpbs = "/opt/pbs/sbin/pbs_iff";
constexpr const char* kOfPackage = "/usr/sbin/pbs_iff";
constexpr const char* kInstalled = PBSPOLICY_SBINDIR "/pbs_iff";

Error failure(std::string_view program, std::string_view what) {
    return {PBSE_BADCRED,
            fmt::format("cannot authenticate: not a privileged process, and {}: {}", program, what)};
}

// This process's environment, with the address from which OpenPBS's helper has to connect.
std::vector<std::string> helper_environment(const std::string& address) {
    std::vector<std::string> variables{"PBS_IFF_CLIENT_ADDR=" + address};
    for (char** variable = environ; *variable; ++variable) {
        if (std::strncmp(*variable, "PBS_IFF_CLIENT_ADDR=", 20) != 0) variables.emplace_back(*variable);
    }
    return variables;
}

struct Output {
    std::string bytes;
    int status = 0;
};

// Runs a program to its end. The program inherits the descriptor `connection`. Returns its standard output.
Result<Output> run(const std::string& program, std::vector<std::string> arguments,
                   std::vector<std::string> environment, int connection) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(failure(program, values::system_text(errno)));
    const Socket read_end(ends[0]);
    Socket write_end(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, write_end.fd(), STDOUT_FILENO);
    // dup2 onto itself keeps the descriptor open in the helper, which inspects it
    posix_spawn_file_actions_adddup2(&actions, connection, connection);
    pid_t child = -1;
    const int error = posix_spawn(&child, program.c_str(), &actions, nullptr,
                                  text::pointers(arguments).data(), text::pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return tl::unexpected(failure(program, values::system_text(error)));
    write_end = Socket();

    Output output;
    char bytes[512];
    for (;;) {
        const ssize_t count = read(read_end.fd(), bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        output.bytes.append(bytes, static_cast<std::size_t>(count));
    }
    while (waitpid(child, &output.status, 0) < 0 && errno == EINTR) {
    }
    return output;
}

// Reads the helper's answer. It is an error number, as an int. If the number isn't 0, the length of a
// message, as an int, and the message follow.
Result<void> read_answer(std::string_view program, const Output& output) {
    int code = 0;
    if (output.bytes.size() < sizeof code) return tl::unexpected(failure(program, "it gave no answer"));
    std::memcpy(&code, output.bytes.data(), sizeof code);
    if (code == 0) return {};
    std::string text = fmt::format("error {}", code);
    int length = 0;
    if (output.bytes.size() >= sizeof code + sizeof length) {
        std::memcpy(&length, output.bytes.data() + sizeof code, sizeof length);
        if (length > 0 && static_cast<std::size_t>(length) <= kMaxMessage) {
            text = output.bytes.substr(sizeof code + sizeof length, static_cast<std::size_t>(length));
        }
    }
    return tl::unexpected(Error{code, fmt::format("the server refused the authentication: {}", text)});
}

// Returns the path of pbs_iff: below `exec` or, if that is empty, OpenPBS's, else that of this project's
// package.
std::string helper_program(const std::string& exec) {
    if (!exec.empty()) return exec + "/sbin/pbs_iff";
    for (const char* path : {kOfOpenpbs, kOfPackage, kInstalled})
        if (access(path, X_OK) == 0) return path;
    return kOfOpenpbs;
}

}  // namespace

Result<void> authenticate_with_helper(const Socket& connection, const LocalEnd& local,
                                      const ServerAddress& address, const std::string& exec) {
    const std::string program = helper_program(exec);
    if (access(program.c_str(), X_OK) != 0)
        return tl::unexpected(failure(program, values::system_text(errno)));
    // the helper expects the port in network byte order
    auto output = run(program,
                      {program, address.host, std::to_string(address.port), std::to_string(connection.fd()),
                       std::to_string(htons(local.port))},
                      helper_environment(local.address), connection.fd());
    if (!output) return tl::unexpected(output.error());
    return read_answer(program, *output);
}

}  // namespace pbs::ifl
