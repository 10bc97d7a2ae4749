// Starts a server with the plugin, with a home of its own, and runs commands against it. The server is the
// bundled one or, with PBS_E2E_HOST=openpbs in the environment, OpenPBS's in a box (box.h). It is called the
// plugin's host.
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

#include "tests/monday.h"

namespace pbs::e2e {

// Result of running a program.
struct Output {
    int exit = -1;  // exit status; 128 + the signal's number if one ended it
    std::string out;
    std::string err;
    bool timed_out = false;
};
// Prints the result of a program, for messages of failed tests.
std::ostream& operator<<(std::ostream& stream, const Output& output);

// Removes qmgr's warnings about settings without effect from its error output.
std::string besides_not_acted_on(const std::string& err);
// Returns the lines that `pbs_migrate --diff` prints, without the notes.
std::string differences(const std::string& diff);

struct RunOptions {
    std::string input{};
    std::map<std::string, std::string>
        environment{};               // variables that are added to PATH, LANG and TZ, the only inherited ones
    std::optional<uid_t> uid{};      // user that runs the program, which needs root; empty: this user
    std::filesystem::path folder{};  // working folder of the program; empty: /
    std::chrono::seconds timeout{20};
};

// Runs a program to its end. argv[0] is looked for in build/bin first.
Output run(const std::vector<std::string>& argv, const RunOptions& options = {});

// Returns the path of a program in build/bin.
std::filesystem::path program(const std::string& name);

// A user for tests.
struct User {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string name;
};
// runner() returns the user who submits jobs: this process's user or, if that is root, an ordinary user.
// other() returns another ordinary user; nullopt if this process can't become one.
const User& runner();
std::optional<User> other();

// Calls holds() every 20 ms until it returns true. Returns false if it doesn't before the timeout. With
// OpenPBS the timeout is four times as long, as its mom looks at jobs only from time to time.
bool wait_for(const std::function<bool()>& holds,
              std::chrono::milliseconds timeout = std::chrono::seconds(40));

using test::kMonday10;  // the time at which the servers of tests start by default

// Reserves a TCP port for a test's server as long as the object exists, even while the server is down: no
// server of another test gets the port, and no outgoing connection uses it.
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

// Returns whether the host of this process's tests is OpenPBS's server.
bool on_openpbs();

// Abilities of a host that some tests need, and that OpenPBS's server lacks.
enum class Need {
    own_server,         // the bundled server and its programs themselves
    injected_clock,     // a clock that the test sets
    own_attributes,     // attributes that only the bundled server has, or warnings about them
    history_of_server,  // the history of the server's own objects, such as queues
    own_log,            // log lines that only the bundled server writes
    without_mom,        // the server itself runs the jobs' processes
    output_at_once,     // a job's output can be read while the job runs
    same_network,       // programs that the test starts can ask the server directly
};
// Returns why the host lacks the ability, or "" if the host has it.
std::string lacking(Need need);
// NEEDS(injected_clock) skips the test if the host lacks this ability. It has to stand first in a test or in
// SetUp().
#define NEEDS(need) \
    if (const std::string why = ::pbs::e2e::lacking(::pbs::e2e::Need::need); !why.empty()) GTEST_SKIP() << why

// Base class of tests that concern only the bundled server; it skips them on OpenPBS.
template <class Base = ::testing::Test>
class OfOwnServer : public Base {
  protected:
    void SetUp() override { NEEDS(own_server); }
};

// Returns the expectation for the host in use, if the two hosts give different texts or statuses.
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
        std::filesystem::path program{};                   // program to start; empty: build/bin/pbs_server
        std::chrono::seconds patience{15};                 // time limit of a start or a stop
        std::map<std::string, std::string> environment{};  // variables that are added, as in RunOptions
    };

    // Makes a home for a server. start() starts the server; the destructor ends it and removes the home.
    Server() : Server(Options()) {}
    explicit Server(Options options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    const std::filesystem::path& home() const;
    // Folder for scripts and output of jobs. Every user may write to it.
    const std::filesystem::path& work() const;
    int port() const;
    pid_t pid() const;

    // Writes a file below the home. Makes its folder first.
    void put(const std::string& file, std::string_view text) const;
    std::string read(const std::string& file) const;
    // Returns the contents of all server logs. accounting() returns those of all accounting files.
    std::string log() const { return read_all("server_logs"); }
    std::string accounting() const { return read_all("server_priv/accounting"); }

    // Starts pbs_server and waits until it answers.
    ::testing::AssertionResult start();
    // Starts a server that has to refuse to start, and returns its output.
    Output start_refused();
    // Stops the server by SIGTERM and waits until it has ended cleanly.
    ::testing::AssertionResult stop();
    void kill9();
    bool running();

    // Sets the server's clock to this instant.
    void set_clock(int64_t now);

    // Runs a command of build/bin against this server, as this process's user.
    Output command(const std::vector<std::string>& argv, RunOptions options = {}) const;
    Output command_as(const User& user, const std::vector<std::string>& argv, RunOptions options = {}) const;
    // Runs `qmgr -c DIRECTIVE`.
    Output qmgr(const std::string& directive) const { return command({"qmgr", "-c", directive}); }
    // Runs qmgr with each directive, up to the first that fails.
    ::testing::AssertionResult configure(const std::vector<std::string>& directives) const;
    // Returns the value of an attribute in `qmgr -c "list TYPE NAME"`, where `object` is "TYPE NAME". Returns
    // "(none)" if qmgr doesn't list it.
    std::string attribute(const std::string& object, const std::string& name) const;

    // Submits a script as runner(), with these options of qsub. Returns the job's id. If the submission
    // fails, reports a test failure and returns "".
    std::string submit(const std::string& script, std::vector<std::string> options = {}) const;
    // Returns the value of an attribute of a queued or finished job; "(none)" if qstat doesn't show it.
    std::string job(const std::string& id, const std::string& attribute) const;
    bool wait_job_state(const std::string& id, const std::string& states,
                        std::chrono::milliseconds timeout = std::chrono::seconds(40)) const;

  private:
    std::string read_all(const std::string& folder) const;

    std::unique_ptr<Host> host_;
};

// Returns the value of the attribute `name` in a listing of qmgr or qstat -f, in which a long line is
// continued after a line break and a tab.
std::string attribute_in(const std::string& listing, const std::string& name);

// A server with an Origin policy, a queue for submissions, the execution queue `batch` for jobs of up to 8
// CPUs, and a vnode of 8 CPUs.
class OriginServer : public ::testing::Test {
  protected:
    explicit OriginServer(Server::Options options = Server::Options()) : server(std::move(options)) {}
    void SetUp() override;
    Server server;
};

}  // namespace pbs::e2e
