#include "tests/faults/web_beside.h"

#include <fcntl.h>
#include <httplib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "tests/e2e/process.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {

std::string output_of(const Server& server) {
    return (server.home().parent_path() / "web_output").string();
}

}  // namespace

::testing::AssertionResult WebBeside::start() {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = ::open(output_of(server_).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (null < 0 || out < 0) throw std::runtime_error("can't open pbs_web's output");
    pid_ = spawn({program("pbs_web").string(), "-p", std::to_string(port_.number())},
                 {{"PBS_HOME", server_.home().string()}}, null, out);
    ::close(null);
    ::close(out);
    const bool answers = wait_for([this] { return !running() || get("/metrics").status != 0; });
    if (!running()) return ::testing::AssertionFailure() << "pbs_web has ended: " << output();
    if (!answers) return ::testing::AssertionFailure() << "pbs_web doesn't answer: " << output();
    return ::testing::AssertionSuccess();
}

void WebBeside::kill9() {
    if (!running()) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

bool WebBeside::running() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ > 0;
}

WebBeside::Answer WebBeside::get(const std::string& address) const {
    httplib::Client client("127.0.0.1", port_.number());
    client.set_read_timeout(20);
    const auto answer = client.Get(address);
    if (!answer) return {};
    return {answer->status, answer->body};
}

std::string WebBeside::output() const {
    return test::file_text(output_of(server_));
}

}  // namespace pbs::e2e
