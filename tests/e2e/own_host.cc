// The bundled server as the host of tests. Tests can set its clock.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/e2e/host.h"
#include "tests/e2e/process.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;

class OwnHost : public Host {
  public:
    explicit OwnHost(Server::Options options);
    ~OwnHost() override;

    const fs::path& home() const override { return home_; }
    const fs::path& work() const override { return work_; }
    int port() const override { return port_.number(); }
    pid_t pid() const override { return pid_; }
    ::testing::AssertionResult start() override;
    Output start_refused() override;
    ::testing::AssertionResult stop() override;
    void kill9() override;
    bool running() override;
    void end() override;
    void set_clock(int64_t now) override;
    Output command(const std::vector<std::string>& argv, RunOptions options) override;
    void configured(const std::vector<std::string>& /*directives*/) override {}
    std::string output() const override;

  private:
    std::vector<std::string> arguments() const;
    void spawn_server();
    int reap(bool wait);
    void delete_running_jobs();

    fs::path base_;
    fs::path home_;
    fs::path work_;
    fs::path output_;
    HeldPort port_;
    pid_t pid_ = -1;
    int status_ = 0;
};

OwnHost::OwnHost(Server::Options options) : Host(std::move(options)) {
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
    OwnHost::set_clock(options_.now);
}

OwnHost::~OwnHost() {
    std::error_code ignored;
    fs::remove_all(base_, ignored);
}

void OwnHost::end() {
    delete_running_jobs();
    kill(pid_, SIGTERM);
    if (!wait_for([this] { return !running(); }, std::chrono::seconds(5))) kill9();
}

std::string OwnHost::output() const {
    std::ostringstream text;
    std::ifstream in(output_, std::ios::binary);
    if (in) text << in.rdbuf();
    return text.str();
}

void OwnHost::set_clock(int64_t now) {
    // Replace the clock's file in one step, so that the server never reads half of it.
    const int64_t offset = now - std::time(nullptr);
    std::ofstream(base_ / "clock.new") << offset << '\n';
    fs::rename(base_ / "clock.new", base_ / "clock");
    // The server reads the file every 20 ms. Wait until it has read the new time.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

std::vector<std::string> OwnHost::arguments() const {
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

void OwnHost::spawn_server() {
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = open(output_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (null < 0 || out < 0) throw std::runtime_error("can't open the server's output");
    pid_ = spawn(arguments(), options_.environment, null, out);
    close(null);
    close(out);
}

int OwnHost::reap(bool wait) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, wait ? 0 : WNOHANG);
    if (ended == pid_) {
        pid_ = -1;
        status_ = exit_of(status);
    }
    return status_;
}

bool OwnHost::running() {
    if (pid_ > 0) reap(false);
    return pid_ > 0;
}

::testing::AssertionResult OwnHost::start() {
    spawn_server();
    const bool answers = wait_for(
        [this] {
            if (!running()) return true;
            return fs::exists(home_ / "server_priv/pbs.sock") && command({"qstat", "-B"}, {}).exit == 0;
        },
        options_.patience);
    if (!running()) {
        return ::testing::AssertionFailure() << "pbs_server ended with " << status_ << ": " << output();
    }
    if (!answers)
        return ::testing::AssertionFailure() << "pbs_server doesn't answer: " << command({"qstat", "-B"}, {});
    return ::testing::AssertionSuccess();
}

Output OwnHost::start_refused() {
    return run(arguments(), {.timeout = std::chrono::seconds(10)});
}

::testing::AssertionResult OwnHost::stop() {
    if (!running()) return ::testing::AssertionFailure() << "pbs_server doesn't run";
    kill(pid_, SIGTERM);
    if (!wait_for([this] { return !running(); }, options_.patience)) {
        return ::testing::AssertionFailure() << "pbs_server doesn't stop";
    }
    if (status_ != 0) return ::testing::AssertionFailure() << "pbs_server ended with " << status_;
    return ::testing::AssertionSuccess();
}

void OwnHost::kill9() {
    if (!running()) return;
    kill(pid_, SIGKILL);
    reap(true);
}

// Deletes the running jobs, as they would go on after the end of the server and of the test.
void OwnHost::delete_running_jobs() {
    const std::string ids = command({"qselect", "-s", "R"}, {}).out;
    if (ids.empty()) return;
    // Stop scheduling first: otherwise other jobs would start.
    command({"qmgr", "-c", "set server scheduling = False"}, {});
    std::vector<std::string> argv{"qdel"};
    std::istringstream lines(ids);
    for (std::string id; std::getline(lines, id);) argv.push_back(id);
    command(argv, {});
    wait_for([this] { return command({"qselect", "-s", "ER"}, {}).out.empty(); }, std::chrono::seconds(5));
}

Output OwnHost::command(const std::vector<std::string>& argv, RunOptions options) {
    options.environment.emplace("PBS_HOME", home_.string());
    return run(argv, options);
}

}  // namespace

std::unique_ptr<Host> own_host(Server::Options options) {
    return std::make_unique<OwnHost>(std::move(options));
}

}  // namespace pbs::e2e
