#include "tests/e2e/web_program.h"

#include <fcntl.h>
#include <httplib.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kDriver = "/usr/bin/chromedriver";
constexpr const char* kChromium = "/usr/bin/chromium";

// Starts a program in its own process group. Sets `out` to a descriptor from which the program's output can
// be read.
pid_t start(const std::vector<std::string>& argv, const std::vector<std::string>& environment, int& out) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    const auto pointers = [](const std::vector<std::string>& texts) {
        std::vector<char*> all(texts.size() + 1, nullptr);
        std::ranges::transform(texts, all.begin(),
                               [](const std::string& text) { return const_cast<char*>(text.c_str()); });
        return all;
    };
    std::vector<char*> arguments = pointers(argv);
    std::vector<char*> settings = pointers(environment);
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t pid = -1;
    const int failed =
        posix_spawn(&pid, arguments.front(), &files, &attributes, arguments.data(), settings.data());
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    out = ends[0];
    return failed == 0 ? pid : -1;
}

// Reads lines until one contains `word`. Returns the part of that line after the word; "" if the program ends
// before.
std::string read_until(int in, const std::string& word) {
    std::string line;
    for (char c = 0; read(in, &c, 1) == 1;) {
        if (c != '\n') {
            line += c;
            continue;
        }
        if (const auto at = line.find(word); at != std::string::npos) return line.substr(at + word.size());
        line.clear();
    }
    return {};
}

// Makes reads from `in` non-blocking, as nobody reads the output that follows.
void drain(int in) {
    const int flags = fcntl(in, F_GETFL);
    fcntl(in, F_SETFL, flags | O_NONBLOCK);
}

void end(pid_t pid, int signal) {
    if (pid <= 0) return;
    kill(-pid, signal);
    waitpid(pid, nullptr, 0);
}

}  // namespace

WebProgram::WebProgram(const Server& server, std::vector<std::string> arguments,
                       const std::optional<User>& user) {
    std::vector<std::string> argv;
    if (user)
        argv = {"/usr/bin/setpriv", "--reuid=" + std::to_string(user->uid),
                "--regid=" + std::to_string(user->gid), "--clear-groups"};
    argv.insert(argv.end(), {program("pbs_web").string(), "-p", "0"});
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    int out = -1;
    pid_ = start(
        argv,
        {"PATH=" + program("").string() + ":/usr/bin:/bin", "PBS_HOME=" + server.home().string(), "TZ=UTC"},
        out);
    const std::string told = read_until(out, "pbs_web: ");
    drain(out);
    close(out);
    address_ = told.substr(0, told.find_last_not_of('/') + 1);
    if (const auto colon = address_.find(':', 6); colon != std::string::npos)
        port_ = std::atoi(address_.c_str() + colon + 1);  // NOLINT(cert-err34-c): 0 means failure
}

WebProgram::~WebProgram() {
    end(pid_, SIGTERM);
}

std::string Browser::missing() {
    for (const char* file : {kChromium, kDriver})
        if (access(file, X_OK) != 0)
            return std::string(file) + " isn't there (Debian's packages chromium and chromium-driver)";
    return {};
}

Browser::Browser() {
    std::string pattern = (fs::temp_directory_path() / "pbs_browser.XXXXXX").string();
    folder_ = mkdtemp(pattern.data()) != nullptr ? pattern : "";
    int out = -1;
    pid_ = start({kDriver, "--port=0"}, {"PATH=/usr/bin:/bin", "HOME=" + folder_, "TMPDIR=" + folder_}, out);
    const std::string port = read_until(out, "started successfully on port ");
    drain(out);
    driver_ =
        std::make_unique<httplib::Client>("127.0.0.1", std::atoi(port.c_str()));  // NOLINT(cert-err34-c)
    driver_->set_read_timeout(60);
    const json arguments = {"--headless=new",
                            "--no-sandbox",
                            "--disable-gpu",
                            "--disable-quic",
                            "--no-first-run",
                            "--disable-background-networking",
                            "--disable-component-update",
                            "--disable-sync",
                            "--user-data-dir=" + folder_ + "/profile"};
    const json wanted = {{"browserName", "chrome"},
                         {"goog:loggingPrefs", {{"browser", "ALL"}}},
                         {"goog:chromeOptions", {{"binary", kChromium}, {"args", arguments}}}};
    const json made = call("POST", "/session", {{"capabilities", {{"alwaysMatch", wanted}}}});
    session_ = "/session/" + made.value("sessionId", std::string());
}

Browser::~Browser() {
    call("DELETE", session_);
    end(pid_, SIGKILL);
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

json Browser::call(const std::string& method, const std::string& path, const json& body) {
    const auto answer = method == "POST"
                            ? driver_->Post(path, body.is_null() ? "{}" : body.dump(), "application/json")
                        : method == "GET" ? driver_->Get(path)
                                          : driver_->Delete(path);
    if (!answer) {
        ADD_FAILURE() << method << " " << path << ": the browser doesn't answer";
        return json::object();
    }
    const json told = json::parse(answer->body, nullptr, false);
    EXPECT_EQ(200, answer->status) << method << " " << path << ": " << answer->body;
    return told.is_object() && told.contains("value") ? told["value"] : json::object();
}

void Browser::open(const std::string& url) {
    call("POST", session_ + "/url", {{"url", url}});
}

json Browser::run(const std::string& script) {
    return call("POST", session_ + "/execute/sync", {{"script", script}, {"args", json::array()}});
}

bool Browser::wait(const std::string& script) {
    return wait_for([&] { return run(script) == true; }, std::chrono::seconds(20));
}

std::vector<std::string> Browser::complaints() {
    std::vector<std::string> out;
    for (const json& entry : call("POST", session_ + "/se/log", {{"type", "browser"}}))
        if (entry.value("level", "") == "SEVERE" || entry.value("level", "") == "WARNING")
            out.push_back(entry.value("message", ""));
    return out;
}

}  // namespace pbs::e2e
