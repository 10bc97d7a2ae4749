// A real server with the real plugin on a home of its own, and real commands run against it. The host of the
// plugin is a parameter: the bundled server, or, with PBS_E2E_HOST=openpbs in the environment, OpenPBS's in a
// box of its own (box.h).
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

// What a program did.
struct Output {
    int exit = -1;  // exit status; 128 + the signal's number if one ended it
    std::string out;
    std::string err;
    bool timed_out = false;
};
// For messages of failed tests.
std::ostream& operator<<(std::ostream& stream, const Output& output);

// What qmgr wrote to standard error, without its warnings of settings that are accepted and not acted on.
std::string besides_not_acted_on(const std::string& err);
// The lines of what `pbs_migrate --diff` prints, without the notes.
std::string differences(const std::string& diff);

struct RunOptions {
    std::string input{};
    std::map<std::string, std::string>
        environment{};               // added to PATH, LANG and TZ; nothing else is inherited
    std::optional<uid_t> uid{};      // run as this user; needs root
    std::filesystem::path folder{};  // empty: /
    std::chrono::seconds timeout{20};
};

// Runs a program to its end. argv[0] is looked up in build/bin first.
Output run(const std::vector<std::string>& argv, const RunOptions& options = {});

// The path of a program in build/bin.
std::filesystem::path program(const std::string& name);

// Who the tests are about: `runner` runs the jobs (this user, or an ordinary one when root), `other` is
// somebody else, if this process may become somebody else.
struct User {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string name;
};
const User& runner();
std::optional<User> other();

// Waits until `holds` is true, asking every 20 ms. OpenPBS's mom looks at jobs from time to time, so
// tests on it wait four times as long.
bool wait_for(const std::function<bool()>& holds,
              std::chrono::milliseconds timeout = std::chrono::seconds(10));

// 2026-11-23 10:00:00 UTC, a Monday. Servers of tests start at a time of the test's choosing, in UTC.
inline constexpr int64_t kMonday10 = 1795428000;

// A port that no other test's server listens on and that no outgoing connection takes, also while the server
// of this test is down.
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

// What a test may need that OpenPBS's server can't give it.
enum class Need {
    own_server,         // it is about the bundled server and its programs themselves
    injected_clock,     // it says what time it is
    own_attributes,     // it is about attributes, or warnings of them, that the bundled server has of its own
    history_of_server,  // it is about the history of what the server keeps itself, such as queues
    own_log,            // it reads what the bundled server alone writes into logs
    without_mom,        // it sets up or watches how the server itself runs jobs' processes
    output_at_once,     // it reads a job's output while the job runs
    same_network,       // it starts programs by itself that ask the server
};
// Why the host doesn't have it, in words; empty: it does.
std::string lacking(Need need);
// The first line of a test, or of what sets up a suite: NEEDS(injected_clock). The test is skipped where the
// host lacks it.
#define NEEDS(need) \
    if (const std::string why = ::pbs::e2e::lacking(::pbs::e2e::Need::need); !why.empty()) GTEST_SKIP() << why

// For tests that are all about the bundled server.
template <class Base = ::testing::Test>
class OfOwnServer : public Base {
  protected:
    void SetUp() override { NEEDS(own_server); }
};

// What is expected where each server has words, or statuses, of its own.
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
        int64_t now = kMonday10;                           // the server's time when it starts
        std::vector<std::string> arguments{};              // more arguments of pbs_server
        std::filesystem::path program{};                   // empty: build/bin/pbs_server
        std::chrono::seconds patience{15};                 // with its start and its end
        std::map<std::string, std::string> environment{};  // added to what programs have (RunOptions)
    };

    // Makes a home; starts nothing yet. The destructor ends the server and removes the home.
    Server() : Server(Options()) {}
    explicit Server(Options options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    const std::filesystem::path& home() const;
    // A folder that every user may write, for scripts and outputs.
    const std::filesystem::path& work() const;
    int port() const;
    pid_t pid() const;

    // Writes a file below the home, making its folder.
    void put(const std::string& file, std::string_view text) const;
    std::string read(const std::string& file) const;
    // Today's server log and accounting file, by the server's clock or any other day: all there are.
    std::string log() const { return read_all("server_logs"); }
    std::string accounting() const { return read_all("server_priv/accounting"); }

    // Starts pbs_server and waits until it answers.
    ::testing::AssertionResult start();
    // Starts it expecting that it refuses: its output.
    Output start_refused();
    // SIGTERM, and waits for a clean end.
    ::testing::AssertionResult stop();
    void kill9();
    bool running();

    // Moves the server's clock so that it shows this instant now.
    void set_clock(int64_t now);

    // Runs a command of build/bin against this server; as root where the test runs as root, else as this
    // user.
    Output command(const std::vector<std::string>& argv, RunOptions options = {}) const;
    Output command_as(const User& user, const std::vector<std::string>& argv, RunOptions options = {}) const;
    // qmgr -c DIRECTIVE
    Output qmgr(const std::string& directive) const { return command({"qmgr", "-c", directive}); }
    // Each directive in turn; fails at the first that isn't accepted.
    ::testing::AssertionResult configure(const std::vector<std::string>& directives) const;
    // The value of an attribute as `qmgr -c "list TYPE NAME"` shows it; "(none)" if it isn't there.
    std::string attribute(const std::string& object, const std::string& name) const;

    // Submits a script as the runner with these options of qsub: the job's id, or an empty string with the
    // failure told.
    std::string submit(const std::string& script, std::vector<std::string> options = {}) const;
    // An attribute of a job, queued or finished; "(none)" if it isn't there.
    std::string job(const std::string& id, const std::string& attribute) const;
    bool wait_job_state(const std::string& id, const std::string& states,
                        std::chrono::milliseconds timeout = std::chrono::seconds(15)) const;

  private:
    std::string read_all(const std::string& folder) const;

    std::unique_ptr<Host> host_;
};

// "name = value" of a listing by qmgr or qstat -f, whose long lines go on after a line break and a tab.
std::string attribute_in(const std::string& listing, const std::string& name);

// A server with a submit queue, an execution queue `batch` for jobs of up to 8 cpus, and a vnode of 8 cpus;
// the policy is Origin's.
class OriginServer : public ::testing::Test {
  protected:
    explicit OriginServer(Server::Options options = Server::Options()) : server(std::move(options)) {}
    void SetUp() override;
    Server server;
};

}  // namespace pbs::e2e
