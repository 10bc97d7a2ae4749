// Runs a munged for tests, with its own key and its socket in a temporary folder.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "text/pointers.h"

namespace pbs::test {

class Munged {
  public:
    // Returns the path of the installed munged, or "" if there is none. Tests that need munged are then
    // skipped.
    static std::string program() {
        for (const char* path : {"/usr/sbin/munged", "/usr/bin/munged", "/usr/local/sbin/munged"})
            if (access(path, X_OK) == 0) return path;
        return "";
    }
    static constexpr const char* kMissing = "munged isn't installed (Debian's package munge)";

    // Starts munged and waits until it listens. With `other`, it gets the key of that munged, like the
    // daemons on two hosts of one site.
    explicit Munged(const Munged* other = nullptr) {
        char name[] = "/tmp/munged.XXXXXX";
        folder_ = mkdtemp(name);
        chmod(folder_.c_str(), 0755);
        if (other != nullptr) {
            std::filesystem::copy_file(other->folder_ + "/key", folder_ + "/key");
        } else {
            std::ifstream random("/dev/urandom", std::ios::binary);
            std::string key(128, '\0');
            random.read(key.data(), static_cast<std::streamsize>(key.size()));
            std::ofstream(folder_ + "/key", std::ios::binary) << key;
        }
        chmod((folder_ + "/key").c_str(), 0600);
        start();
    }
    ~Munged() {
        stop();
        std::filesystem::remove_all(folder_);
    }
    Munged(const Munged&) = delete;
    Munged& operator=(const Munged&) = delete;

    std::string socket() const { return folder_ + "/munge.socket.2"; }
    // Folder of the socket. The socket's file has the name that libmunge expects.
    const std::string& folder() const { return folder_; }
    bool running() const { return pid_ > 0; }
    // Stops munged's process, so that it doesn't answer. go_on() lets the process continue.
    void pause() const { kill(pid_, SIGSTOP); }
    void go_on() const { kill(pid_, SIGCONT); }
    void stop() {
        if (pid_ <= 0) return;
        kill(pid_, SIGCONT);
        // munged waits in accept() for ever if a signal comes between its look at the signal's flag and the
        // call. The next signal interrupts the call.
        for (int i = 0; waitpid(pid_, nullptr, WNOHANG) == 0; ++i) {
            if (i % 100 == 0) kill(pid_, SIGTERM);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        pid_ = -1;
    }

  private:
    void start() {
        std::vector<std::string> words{program(),
                                       "--foreground",
                                       "--key-file=" + folder_ + "/key",
                                       "--socket=" + socket(),
                                       "--pid-file=" + folder_ + "/pid",
                                       "--seed-file=" + folder_ + "/seed"};
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        for (const int fd : {1, 2})
            posix_spawn_file_actions_addopen(&actions, fd, (folder_ + "/log").c_str(),
                                             O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, text::pointers(words).data(), environ) !=
            0)
            pid_ = -1;
        posix_spawn_file_actions_destroy(&actions);
        for (int i = 0; i < 3000 && pid_ > 0 && !listens(); ++i) {
            if (waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    bool listens() const {
        const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, socket().c_str(), sizeof address.sun_path - 1);
        const bool connected = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        close(fd);
        return connected;
    }

    std::string folder_;
    pid_t pid_ = -1;
};

}  // namespace pbs::test
