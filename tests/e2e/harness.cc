#include "tests/e2e/harness.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

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

// What a child needs, made before the fork.
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

// Moves bytes to and from the child until it has closed its ends.
bool communicate(Pipe& in, Pipe& out, Pipe& err, const RunOptions& options, Output& output) {
    const auto deadline = Clock::now() + options.timeout;
    size_t sent = 0;
    if (options.input.empty()) in.close_end(1);
    // A write that waits for the child to read would wait for ever where the child waits to be read.
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

int exit_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// -1: it is taken. The name is abstract: the kernel gives it back with the descriptor.
int hold(int port) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "pbs-e2e-port-" + std::to_string(port);
    std::copy(name.begin(), name.end(), address.sun_path + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
    close(fd);
    return -1;
}

bool nobody_listens(int port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    const bool free = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    return free;
}

User user_of(const passwd& entry) {
    return User{entry.pw_uid, entry.pw_gid, entry.pw_name};
}

// Ordinary users of every Debian, in the order in which they are taken when the tests run as root. A user who
// runs jobs needs a home; that the login shell lets nobody in is no matter, jobs are submitted with -S.
constexpr std::array kBorrowed{"daemon", "bin", "games", "mail"};

std::optional<User> borrowed(size_t skip) {
    for (const char* name : kBorrowed) {
        const passwd* entry = getpwnam(name);
        if (!entry || entry->pw_uid == 0 || !fs::is_directory(entry->pw_dir)) continue;
        if (skip-- == 0) return user_of(*entry);
    }
    return std::nullopt;
}

}  // namespace

std::string besides_not_acted_on(const std::string& err) {
    std::string rest;
    std::istringstream lines(err);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("qmgr: Warning: ") || line.find(" is not acted on") == line.npos)
            rest += line + "\n";
    return rest;
}

std::string differences(const std::string& diff) {
    std::string out;
    std::istringstream lines(diff);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("# ")) out += line + "\n";
    return out;
}

std::ostream& operator<<(std::ostream& stream, const Output& output) {
    stream << "exit " << output.exit << (output.timed_out ? " (timed out)" : "");
    if (!output.out.empty()) stream << "\nstdout: " << output.out;
    if (!output.err.empty()) stream << "\nstderr: " << output.err;
    return stream;
}

fs::path program(const std::string& name) {
    return fs::path(PBS_BUILD_DIR) / "bin" / name;
}

Output run(const std::vector<std::string>& argv, const RunOptions& options) {
    auto environment = base_environment();
    for (const auto& [name, value] : options.environment) environment[name] = value;
    std::vector<std::string> words = argv;
    words[0] = resolve(words[0]);
    const Exec exec(words, environment);
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

const User& runner() {
    static const User user = [] {
        if (geteuid() == 0) {
            if (const auto found = borrowed(0)) return *found;
            throw std::runtime_error("no ordinary user to run jobs as");
        }
        const passwd* entry = getpwuid(geteuid());
        if (!entry) throw std::runtime_error("this user has no entry in passwd");
        return user_of(*entry);
    }();
    return user;
}

std::optional<User> other() {
    return geteuid() == 0 ? borrowed(1) : std::nullopt;
}

bool wait_for(const std::function<bool()>& holds, std::chrono::milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    while (!holds()) {
        if (Clock::now() >= deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

HeldPort::HeldPort() {
    // Below what the kernel gives to outgoing connections.
    constexpr int kFirst = 16000;
    constexpr int kCount = 16000;
    for (int tried = 0, port = static_cast<int>(getpid()) * 7 % kCount; tried < kCount;
         ++tried, port = (port + 1) % kCount) {
        number_ = kFirst + port;
        fd_ = hold(number_);
        if (fd_ >= 0 && nobody_listens(number_)) return;
        if (fd_ >= 0) close(fd_);
    }
    throw std::runtime_error("no free port");
}

HeldPort::~HeldPort() {
    close(fd_);
}

Server::Server(Options options) : options_(std::move(options)) {
    std::string name = (fs::temp_directory_path() / "pbs-e2e-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    base_ = name;
    home_ = base_ / "home";
    work_ = base_ / "work";
    output_ = base_ / "output";
    fs::create_directory(home_);
    fs::create_directory(work_);
    fs::permissions(base_, fs::perms(0755));
    fs::permissions(home_, fs::perms(0755));
    fs::permissions(work_, fs::perms(0777));
    set_clock(options_.now);
}

// Jobs outlive their server, and need not outlive the test.
void Server::delete_running_jobs() const {
    const std::string ids = command({"qselect", "-s", "R"}).out;
    if (ids.empty()) return;
    // Else others start in their place.
    command({"qmgr", "-c", "set server scheduling = False"});
    std::vector<std::string> argv{"qdel"};
    std::istringstream lines(ids);
    for (std::string id; std::getline(lines, id);) argv.push_back(id);
    command(argv);
    wait_for([this] { return command({"qselect", "-s", "ER"}).out.empty(); }, std::chrono::seconds(5));
}

Server::~Server() {
    if (running()) {
        delete_running_jobs();
        kill(pid_, SIGTERM);
        if (!wait_for([this] { return !running(); }, std::chrono::seconds(5))) kill9();
    }
    if (::testing::Test::HasFailure()) {
        std::fprintf(stderr, "---- output of pbs_server\n%s---- end of its log\n", read("../output").c_str());
        const std::string all = log();
        std::fprintf(stderr, "%s----\n", all.substr(all.size() > 6000 ? all.size() - 6000 : 0).c_str());
    }
    std::error_code ignored;
    fs::remove_all(base_, ignored);
}

void Server::put(const std::string& file, std::string_view text) const {
    fs::create_directories((home_ / file).parent_path());
    std::ofstream(home_ / file) << text;
}

std::string Server::read(const std::string& file) const {
    std::ostringstream text;
    std::ifstream in(home_ / file, std::ios::binary);
    if (in) text << in.rdbuf();
    return text.str();
}

std::string Server::read_all(const std::string& folder) const {
    std::vector<std::string> files;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(home_ / folder, failed))
        files.push_back(entry.path().filename());
    std::sort(files.begin(), files.end());
    std::string text;
    for (const std::string& file : files) text += read(folder + "/" + file);
    return text;
}

void Server::set_clock(int64_t now) {
    // Put in place whole, so that the server never reads half of it.
    const int64_t offset = now - std::time(nullptr);
    std::ofstream(base_ / "clock.new") << offset << '\n';
    fs::rename(base_ / "clock.new", base_ / "clock");
    // The server looks at the file at most every 20 ms: what is asked of it next is asked at the new time.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

std::vector<std::string> Server::arguments() const {
    std::vector<std::string> argv{
        (options_.program.empty() ? program("pbs_server") : options_.program).string(),
        "-d",
        home_.string(),
        "-p",
        std::to_string(port()),
        "--clock-file",
        (base_ / "clock").string()};
    argv.insert(argv.end(), options_.arguments.begin(), options_.arguments.end());
    return argv;
}

void Server::spawn() {
    auto environment = base_environment();
    for (const auto& [name, value] : options_.environment) environment[name] = value;
    const Exec exec(arguments(), environment);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = open(output_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (null < 0 || out < 0) throw std::runtime_error("can't open the server's output");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ == 0) exec_child(exec, null, out, out, {});
    close(null);
    close(out);
}

int Server::reap(bool wait) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, wait ? 0 : WNOHANG);
    if (ended == pid_) {
        pid_ = -1;
        status_ = exit_of(status);
    }
    return status_;
}

bool Server::running() {
    if (pid_ > 0) reap(false);
    return pid_ > 0;
}

::testing::AssertionResult Server::start() {
    spawn();
    const bool answers = wait_for(
        [this] {
            if (!running()) return true;
            return fs::exists(home_ / "server_priv/pbs.sock") && command({"qstat", "-B"}).exit == 0;
        },
        options_.patience);
    if (!running()) {
        return ::testing::AssertionFailure()
               << "pbs_server ended with " << status_ << ": " << read("../output");
    }
    if (!answers)
        return ::testing::AssertionFailure() << "pbs_server doesn't answer: " << command({"qstat", "-B"});
    return ::testing::AssertionSuccess();
}

Output Server::start_refused() {
    return run(arguments(), {.timeout = std::chrono::seconds(10)});
}

::testing::AssertionResult Server::stop() {
    if (!running()) return ::testing::AssertionFailure() << "pbs_server doesn't run";
    kill(pid_, SIGTERM);
    if (!wait_for([this] { return !running(); }, options_.patience)) {
        return ::testing::AssertionFailure() << "pbs_server doesn't stop";
    }
    if (status_ != 0) return ::testing::AssertionFailure() << "pbs_server ended with " << status_;
    return ::testing::AssertionSuccess();
}

void Server::kill9() {
    if (!running()) return;
    kill(pid_, SIGKILL);
    reap(true);
}

Output Server::command(const std::vector<std::string>& argv, RunOptions options) const {
    options.environment.emplace("PBS_HOME", home_.string());
    return run(argv, options);
}

Output Server::command_as(const User& user, const std::vector<std::string>& argv, RunOptions options) const {
    options.uid = user.uid;
    options.environment.emplace("HOME", work_.string());
    options.environment.emplace("USER", user.name);
    options.environment.emplace("LOGNAME", user.name);
    return command(argv, options);
}

::testing::AssertionResult Server::configure(const std::vector<std::string>& directives) const {
    for (const std::string& directive : directives) {
        const Output done = qmgr(directive);
        if (done.exit != 0) return ::testing::AssertionFailure() << directive << ": " << done;
    }
    return ::testing::AssertionSuccess();
}

std::string Server::attribute(const std::string& object, const std::string& name) const {
    return attribute_in(qmgr("list " + object).out, name);
}

std::string Server::submit(const std::string& script, std::vector<std::string> options) const {
    std::vector<std::string> argv{"qsub", "-S", "/bin/sh"};
    argv.insert(argv.end(), options.begin(), options.end());
    const Output done = command_as(runner(), argv, {.input = script, .folder = work_});
    if (done.exit != 0) {
        ADD_FAILURE() << "qsub: " << done;
        return {};
    }
    return done.out.substr(0, done.out.find('\n'));
}

std::string Server::job(const std::string& id, const std::string& attribute) const {
    // Finished jobs are asked for only then, as a server without a history refuses that.
    const Output queued = command({"qstat", "-f", id});
    return attribute_in(queued.exit == 0 ? queued.out : command({"qstat", "-x", "-f", id}).out, attribute);
}

bool Server::wait_job_state(const std::string& id, const std::string& states,
                            std::chrono::milliseconds timeout) const {
    std::string state;
    const bool reached = wait_for(
        [&] {
            state = job(id, "job_state");
            return state.size() == 1 && states.find(state) != std::string::npos;
        },
        timeout);
    if (!reached)
        std::fprintf(stderr, "job %s is in state %s, not in %s\n", id.c_str(), state.c_str(), states.c_str());
    return reached;
}

std::string attribute_in(const std::string& listing, const std::string& name) {
    std::string joined;
    for (size_t i = 0; i < listing.size(); ++i) {
        if (listing.compare(i, 2, "\n\t") == 0) {
            ++i;
        } else {
            joined += listing[i];
        }
    }
    std::istringstream lines(joined);
    for (std::string line; std::getline(lines, line);) {
        const size_t begin = line.find_first_not_of(' ');
        const size_t equals = line.find(" = ");
        if (begin == std::string::npos || equals == std::string::npos) continue;
        if (line.substr(begin, equals - begin) == name) return line.substr(equals + 3);
    }
    return "(none)";
}

void OriginServer::SetUp() {
    ASSERT_TRUE(server.start());
    ASSERT_TRUE(server.configure({
        "create queue submit queue_type=execution, enabled=True, started=True",
        "create queue batch queue_type=execution, enabled=True, started=True",
        "create queue special queue_type=execution, enabled=True, started=True",
        "set queue batch resources_max.ncpus = 8",
        "set queue batch resources_max.walltime = 12:00:00",
        "set server default_queue = submit, job_history_enable = True",
        "set server resources_default.walltime = 00:10:00",
        "create node n1 resources_available.ncpus = 8, resources_available.mem = 8gb",
        "set policy default_policy algorithm = origin, submit_queue = submit, batch_queues = batch",
        "set policy default_policy special_queue = special",
        "set policy default_policy sort_by_past_usage = False, avoid_fragmentation = False",
    }));
}

}  // namespace pbs::e2e
