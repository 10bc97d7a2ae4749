#include "tests/e2e/harness.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/e2e/box.h"
#include "tests/e2e/host.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

User user_of(const passwd& entry) {
    return User{entry.pw_uid, entry.pw_gid, entry.pw_name};
}

// Users that every Debian has. If the tests run as root, they use the first suitable ones, in this order. A
// user needs a home to run jobs. A login shell such as nologin doesn't matter, as jobs are submitted with -S.
constexpr std::array kBorrowed{"daemon", "bin", "games", "mail"};

std::optional<User> borrowed(size_t skip) {
    for (const char* name : kBorrowed) {
        const passwd* entry = getpwnam(name);
        if (!entry || entry->pw_uid == 0 || !fs::is_directory(entry->pw_dir)) continue;
        if (skip-- == 0) return user_of(*entry);
    }
    return std::nullopt;
}

// Skips all tests of the program if the host is to be OpenPBS and no box for it can be made.
class WithoutOpenpbs : public ::testing::Environment {
    void SetUp() override {
        if (!on_openpbs()) return;
        if (const std::string why = no_openpbs(); !why.empty()) GTEST_SKIP() << why;
    }
};
const auto* const kWithoutOpenpbs = ::testing::AddGlobalTestEnvironment(new WithoutOpenpbs);

}  // namespace

bool on_openpbs() {
    static const bool chosen = [] {
        const char* host = std::getenv("PBS_E2E_HOST");
        return host != nullptr && std::string_view(host) == "openpbs";
    }();
    return chosen;
}

std::string lacking(Need need) {
    if (!on_openpbs()) return {};
    switch (need) {
        case Need::own_server:
            return "this is about the bundled server and its programs";
        case Need::injected_clock:
            return "this says what time it is, and OpenPBS's server asks the machine";
        case Need::own_attributes:
            return "this is about attributes, or warnings of them, that the bundled server has of its own";
        case Need::history_of_server:
            return "this is about the history of what the server keeps itself, and OpenPBS's server keeps "
                   "none";
        case Need::own_log:
            return "this reads what the bundled server alone writes into its logs";
        case Need::without_mom:
            return "this is about how the bundled server runs jobs' processes, which OpenPBS's mom does";
        case Need::output_at_once:
            return "this reads a job's output while the job runs, and OpenPBS brings it when the job has "
                   "ended";
        case Need::same_network:
            return "this starts programs that ask the server, which is in a network of its own";
    }
    return {};
}

std::string besides_not_acted_on(const std::string& err) {
    std::string rest;
    std::istringstream lines(err);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("qmgr: Warning: ") || line.find(" has no effect") == line.npos)
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
    const auto deadline = Clock::now() + timeout * of_host(1, 4);
    while (!holds()) {
        if (Clock::now() >= deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

Server::Server(Options options)
    : host_(on_openpbs() ? openpbs_host(std::move(options)) : own_host(std::move(options))) {}

Server::~Server() {
    if (running()) host_->end();
    if (::testing::Test::HasFailure()) {
        std::fprintf(stderr, "---- output of the server\n%s---- end of its log\n", host_->output().c_str());
        const std::string all = log();
        std::fprintf(stderr, "%s----\n", all.substr(all.size() > 6000 ? all.size() - 6000 : 0).c_str());
    }
}

const fs::path& Server::home() const {
    return host_->home();
}
const fs::path& Server::work() const {
    return host_->work();
}
int Server::port() const {
    return host_->port();
}
pid_t Server::pid() const {
    return host_->pid();
}
::testing::AssertionResult Server::start() {
    return host_->start();
}
Output Server::start_refused() {
    return host_->start_refused();
}
::testing::AssertionResult Server::stop() {
    return host_->stop();
}
void Server::kill9() {
    host_->kill9();
}
bool Server::running() {
    return host_->running();
}
void Server::set_clock(int64_t now) {
    host_->set_clock(now);
}
Output Server::command(const std::vector<std::string>& argv, RunOptions options) const {
    return host_->command(argv, std::move(options));
}

void Server::put(const std::string& file, std::string_view text) const {
    fs::create_directories((home() / file).parent_path());
    std::ofstream(home() / file) << text;
}

std::string Server::read(const std::string& file) const {
    std::ostringstream text;
    std::ifstream in(home() / file, std::ios::binary);
    if (in) text << in.rdbuf();
    return text.str();
}

std::string Server::read_all(const std::string& folder) const {
    std::vector<std::string> files;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(home() / folder, failed))
        files.push_back(entry.path().filename());
    std::sort(files.begin(), files.end());
    std::string text;
    for (const std::string& file : files) text += read(folder + "/" + file);
    return text;
}

Output Server::command_as(const User& user, const std::vector<std::string>& argv, RunOptions options) const {
    options.uid = user.uid;
    options.environment.emplace("HOME", work().string());
    options.environment.emplace("USER", user.name);
    options.environment.emplace("LOGNAME", user.name);
    return command(argv, options);
}

::testing::AssertionResult Server::configure(const std::vector<std::string>& directives) const {
    for (const std::string& directive : directives) {
        const Output done = qmgr(directive);
        if (done.exit != 0) return ::testing::AssertionFailure() << directive << ": " << done;
    }
    host_->configured(directives);
    return ::testing::AssertionSuccess();
}

std::string Server::attribute(const std::string& object, const std::string& name) const {
    return attribute_in(qmgr("list " + object).out, name);
}

std::string Server::submit(const std::string& script, std::vector<std::string> options) const {
    std::vector<std::string> argv{"qsub", "-S", "/bin/sh"};
    argv.insert(argv.end(), options.begin(), options.end());
    const Output done = command_as(runner(), argv, {.input = script, .folder = work()});
    if (done.exit != 0) {
        ADD_FAILURE() << "qsub: " << done;
        return {};
    }
    return done.out.substr(0, done.out.find('\n'));
}

std::string Server::job(const std::string& id, const std::string& attribute) const {
    // First ask without -x, as a server without a job history refuses it.
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
