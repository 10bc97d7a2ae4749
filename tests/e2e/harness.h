// Runs a real server with the real plugin on a home of its own, and real commands against it. The plugin's
// host is a parameter: the bundled server or, with PBS_E2E_HOST=openpbs in the environment, OpenPBS's in a
// box (box.h).
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pbs::e2e {

// Result of a program.
struct Output {
    int exit = -1;  // exit status; 128 + the signal's number if one ended it
    std::string out;
    std::string err;
    bool timed_out = false;
};
// Writes the result into messages of failed tests.
std::ostream& operator<<(std::ostream& stream, const Output& output);

// Removes from qmgr's errors the warnings of settings that are accepted and have no effect.
std::string besides_not_acted_on(const std::string& err);
// Returns the lines that `pbs_migrate --diff` prints, without the notes.
std::string differences(const std::string& diff);

struct RunOptions {
    std::string input{};
    std::map<std::string, std::string>
        environment{};               // added to PATH, LANG and TZ, the only inherited variables
    std::optional<uid_t> uid{};      // run as this user; needs root
    std::filesystem::path folder{};  // empty: /
    std::chrono::seconds timeout{20};
};

// Runs a program to its end. argv[0] is looked up in build/bin first.
Output run(const std::vector<std::string>& argv, const RunOptions& options = {});

// Returns the path of a program in build/bin.
std::filesystem::path program(const std::string& name);

// Users of the tests: runner() runs the jobs (this user, or an ordinary one when root); other() is somebody
// else, if this process may change its user.
struct User {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string name;
};
const User& runner();
std::optional<User> other();

// Waits until `holds` is true, and asks every 20 ms. With OpenPBS tests wait four times as long, since its
// mom looks at jobs only from time to time.
bool wait_for(const std::function<bool()>& holds,
              std::chrono::milliseconds timeout = std::chrono::seconds(40));

// 2026-11-23 10:00:00 UTC, a Monday. Tests choose the time at which their servers start.
inline constexpr int64_t kMonday10 = 1795428000;

// Holds a port: no other test's server listens on it and no outgoing connection takes it, even while this
// test's server is down.
class HeldPort {
  public:
    HeldPort();
    ~HeldPort();
    HeldPort(const HeldPort&) = delete;
    HeldPort& operator=(const HeldPort&) = delete;
    int number() const { return number_; }

  private:
    int number_ = 0;
    int fd_ = -1;
};

// Is OpenPBS's server the host in this process?
bool on_openpbs();

// Abilities of a host that some tests need and OpenPBS's server lacks.
enum class Need {
    own_server,         // the bundled server and its programs themselves
    injected_clock,     // a clock that the test sets
    own_attributes,     // attributes, or their warnings, that only the bundled server has
    history_of_server,  // the history of the server's own objects, such as queues
    own_log,            // log lines that only the bundled server writes
    without_mom,        // the server itself runs the jobs' processes
    output_at_once,     // a job's output can be read while the job runs
    same_network,       // programs that the test starts can ask the server directly
};
// Says why the host lacks the ability; empty: the host has it.
std::string lacking(Need need);
// First line of a test or a suite's set-up: NEEDS(injected_clock) skips the test where the host lacks that.
#define NEEDS(need) \
    if (const std::string why = ::pbs::e2e::lacking(::pbs::e2e::Need::need); !why.empty()) GTEST_SKIP() << why

// Base of tests that concern only the bundled server.
template <class Base = ::testing::Test>
class OfOwnServer : public Base {
  protected:
    void SetUp() override { NEEDS(own_server); }
};

// Returns the expectation for the present host, where texts or statuses differ.
template <class T>
T of_host(const T& bundled, const T& openpbs) {
    return on_openpbs() ? openpbs : bundled;
}
inline std::string of_host(const char* bundled, const char* openpbs) {
    return on_openpbs() ? openpbs : bundled;
}

class Host;

class Server {
  public:
    struct Options {
        int64_t now = kMonday10;                           // the server's time at its start
        std::vector<std::string> arguments{};              // more arguments of pbs_server
        std::filesystem::path program{};                   // empty: build/bin/pbs_server
        std::chrono::seconds patience{15};                 // longest start or stop
        std::map<std::string, std::string> environment{};  // additions, as in RunOptions
    };

    // Makes a home without starting the server. The destructor ends the server and removes the home.
    Server() : Server(Options()) {}
    explicit Server(Options options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    const std::filesystem::path& home() const;
    // Folder for scripts and outputs that every user may write.
    const std::filesystem::path& work() const;
    int port() const;
    pid_t pid() const;

    // Writes a file below the home, and makes its folder.
    void put(const std::string& file, std::string_view text) const;
    std::string read(const std::string& file) const;
    // Texts of all server logs and accounting files, whatever the day.
    std::string log() const { return read_all("server_logs"); }
    std::string accounting() const { return read_all("server_priv/accounting"); }

    // Starts pbs_server and waits until it answers.
    ::testing::AssertionResult start();
    // Starts the server, which is expected to refuse, and returns its output.
    Output start_refused();
    // Stops the server by SIGTERM and waits for a clean end.
    ::testing::AssertionResult stop();
    void kill9();
    bool running();

    // Sets the server's clock to this instant.
    void set_clock(int64_t now);

    // Runs a command of build/bin against this server, as the tests' own user (root, if they run as root).
    Output command(const std::vector<std::string>& argv, RunOptions options = {}) const;
    Output command_as(const User& user, const std::vector<std::string>& argv, RunOptions options = {}) const;
    // Runs `qmgr -c DIRECTIVE`.
    Output qmgr(const std::string& directive) const { return command({"qmgr", "-c", directive}); }
    // Runs the directives in turn, up to the first failure.
    ::testing::AssertionResult configure(const std::vector<std::string>& directives) const;
    // Value of an attribute in `qmgr -c "list TYPE NAME"`; "(none)": not shown.
    std::string attribute(const std::string& object, const std::string& name) const;

    // Submits a script as the runner with these options of qsub. Returns the job's id; empty: the submission
    // failed and the failure is reported.
    std::string submit(const std::string& script, std::vector<std::string> options = {}) const;
    // Value of an attribute of a queued or finished job; "(none)": not shown.
    std::string job(const std::string& id, const std::string& attribute) const;
    bool wait_job_state(const std::string& id, const std::string& states,
                        std::chrono::milliseconds timeout = std::chrono::seconds(40)) const;

  private:
    std::string read_all(const std::string& folder) const;

    std::unique_ptr<Host> host_;
};

// Finds "name = value" in a listing of qmgr or qstat -f, whose long lines continue after a line break and a
// tab.
std::string attribute_in(const std::string& listing, const std::string& name);

// A server with a queue for submissions, the execution queue `batch` for jobs of up to 8 cpus, and a vnode of
// 8 cpus, with an Origin policy.
class OriginServer : public ::testing::Test {
  protected:
    explicit OriginServer(Server::Options options = Server::Options()) : server(std::move(options)) {}
    void SetUp() override;
    Server server;
};

}  // namespace pbs::e2e
