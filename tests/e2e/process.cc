#include "tests/e2e/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Pipe {
    std::array<int, 2> ends{-1, -1};
    Pipe() {
        if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    }
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    void close_end(size_t i) {
        if (ends[i] >= 0) close(ends[i]);
        ends[i] = -1;
    }
};

// The arguments and the environment of a child process in the form that execvpe() takes. It is made before
// the fork.
struct Exec {
    explicit Exec(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment)
        : words(argv) {
        for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
        for (std::string& word : words) argument_pointers.push_back(word.data());
        for (std::string& setting : settings) environment_pointers.push_back(setting.data());
        argument_pointers.push_back(nullptr);
        environment_pointers.push_back(nullptr);
    }
    std::vector<std::string> words;
    std::vector<std::string> settings;
    std::vector<char*> argument_pointers;
    std::vector<char*> environment_pointers;
};

bool become(uid_t uid) {
    const passwd* entry = getpwuid(uid);
    if (!entry) return false;
    return initgroups(entry->pw_name, entry->pw_gid) == 0 && setgid(entry->pw_gid) == 0 && setuid(uid) == 0;
}

[[noreturn]] void exec_child(const Exec& exec, int in, int out, int err, const RunOptions& options) {
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    setpgid(0, 0);
    if (chdir(options.folder.empty() ? "/" : options.folder.c_str()) != 0) _exit(126);
    if (options.uid && *options.uid != geteuid() && !become(*options.uid)) _exit(126);
    execvpe(exec.argument_pointers[0], exec.argument_pointers.data(), exec.environment_pointers.data());
    dprintf(2, "%s: %s\n", exec.argument_pointers[0], strerror(errno));
    _exit(127);
}

// Writes the input to the child and reads its output, until the child has closed its output or the timeout
// passes.
bool communicate(Pipe& in, Pipe& out, Pipe& err, const RunOptions& options, Output& output) {
    const auto deadline = Clock::now() + options.timeout;
    size_t sent = 0;
    if (options.input.empty()) in.close_end(1);
    // Don't block in writes. If the child waited until its output is read, this process and the child would
    // wait for each other forever.
    if (!options.input.empty()) fcntl(in.ends[1], F_SETFL, O_NONBLOCK);
    std::array<std::pair<int*, std::string*>, 2> readers{std::pair{&out.ends[0], &output.out},
                                                         std::pair{&err.ends[0], &output.err}};
    while (*readers[0].first >= 0 || *readers[1].first >= 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        std::array<pollfd, 3> polled{pollfd{in.ends[1], POLLOUT, 0}, pollfd{out.ends[0], POLLIN, 0},
                                     pollfd{err.ends[0], POLLIN, 0}};
        if (poll(polled.data(), polled.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
        if (polled[0].revents != 0) {
            const ssize_t n = write(in.ends[1], options.input.data() + sent, options.input.size() - sent);
            if (n > 0) sent += static_cast<size_t>(n);
            if ((n < 0 && errno != EAGAIN) || sent == options.input.size()) in.close_end(1);
        }
        for (size_t i = 0; i < readers.size(); ++i) {
            if (polled[i + 1].revents == 0) continue;
            std::array<char, 65536> buffer;
            const ssize_t n = ::read(*readers[i].first, buffer.data(), buffer.size());
            if (n > 0) {
                readers[i].second->append(buffer.data(), static_cast<size_t>(n));
            } else if (n == 0 || errno != EINTR) {
                close(*readers[i].first);
                *readers[i].first = -1;
            }
        }
    }
    return true;
}

std::map<std::string, std::string> with_base(const std::map<std::string, std::string>& more) {
    auto environment = base_environment();
    for (const auto& [name, value] : more) environment[name] = value;
    return environment;
}

}  // namespace

fs::path program(const std::string& name) {
    return fs::path(PBS_BUILD_DIR) / "bin" / name;
}

std::map<std::string, std::string> base_environment() {
    return {{"PATH", program("").string() + ":/usr/bin:/bin:/usr/sbin:/sbin"},
            {"LANG", "C.UTF-8"},
            {"TZ", "UTC"}};
}

std::string resolve(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    const fs::path own = program(name);
    return fs::exists(own) ? own.string() : name;
}

int exit_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

pid_t spawn(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment,
            int in, int out) {
    const Exec exec(argv, with_base(environment));
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) exec_child(exec, in, out, out, {});
    return child;
}

Output run(const std::vector<std::string>& argv, const RunOptions& options) {
    std::vector<std::string> words = argv;
    words[0] = resolve(words[0]);
    const Exec exec(words, with_base(options.environment));
    Pipe in;
    Pipe out;
    Pipe err;
    signal(SIGPIPE, SIG_IGN);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) exec_child(exec, in.ends[0], out.ends[1], err.ends[1], options);
    in.close_end(0);
    out.close_end(1);
    err.close_end(1);
    Output output;
    output.timed_out = !communicate(in, out, err, options, output);
    if (output.timed_out) kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    output.exit = exit_of(status);
    return output;
}

}  // namespace pbs::e2e
