// The parts that the tests of the simulator share: a folder whose calls faults.c records or makes fail in
// this process, and writing a state of a disk.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "server_plugin/host/base/posix.h"
#include "tests/faults/crash_states.h"
#include "tests/faults/environment.h"
#include "tests/faults/faults.h"

namespace pbs::host::session {

namespace fs = std::filesystem;

// The files in which faults.c counts and records the calls of this process. faults.c has to be preloaded, so
// the first process makes the files and executes itself again.
class Recorder {
  public:
    Recorder() {
        const char* folder = std::getenv("PBSPOLICY_SIMULATOR");
        if (folder == nullptr) execute_again();
        folder_ = folder;
        const int fd = open((folder_ / "counters").c_str(), O_RDWR | O_CLOEXEC);
        void* page = mmap(nullptr, sizeof(faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        if (page == MAP_FAILED) std::abort();
        counters_ = static_cast<faults*>(page);
    }
    ~Recorder() { fs::remove_all(folder_); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    fs::path home() const { return folder_ / "home"; }
    // Forgets all calls so far.
    void begin() const {
        std::ofstream(folder_ / "record", std::ios::trunc).flush();
        counters_->recording.entries = 0;
    }
    faults& counters() const { return *counters_; }
    long calls() const { return counters_->recording.entries; }
    std::vector<e2e::DiskCall> record() const { return e2e::read_record(folder_ / "record"); }

  private:
    [[noreturn]] static void execute_again() {
        const fs::path parent = fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
        std::string folder = (parent / "pbs-simulator-XXXXXX").string();
        if (mkdtemp(folder.data()) == nullptr) std::abort();
        std::ofstream(folder + "/counters") << std::string(sizeof(faults), '\0');
        std::ofstream(folder + "/record").flush();
        setenv("PBSPOLICY_SIMULATOR", folder.c_str(), 1);
        setenv("PBSPOLICY_FAULTS", (folder + "/counters").c_str(), 1);
        setenv("PBSPOLICY_RECORD", (folder + "/record").c_str(), 1);
        setenv("PBSPOLICY_RECORD_BELOW", (folder + "/home").c_str(), 1);
        setenv("LD_PRELOAD", PBS_FAULTS, 1);
        const std::string text = *read_file("/proc/self/cmdline", 1 << 16);
        std::vector<std::string> words;
        std::istringstream in(text);
        for (std::string word; std::getline(in, word, '\0');) words.push_back(word);
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        execv("/proc/self/exe", argv.data());
        std::abort();
    }

    fs::path folder_;
    faults* counters_ = nullptr;
};

// The recorder of this process.
inline Recorder& recorder() {
    static Recorder one;
    return one;
}

// Writes a state of the disk, whose folder is `home`.
inline void write_state(const e2e::Disk::State& state, const fs::path& home) {
    fs::remove_all(home);
    for (const std::string& folder : state.folders) fs::create_directories(folder);
    for (const auto& [path, text] : state.files) {
        if (path.ends_with("-shm")) continue;  // shared memory of SQLite, which makes it anew
        std::ofstream(path, std::ios::binary) << text;
        fs::permissions(path, fs::perms(0600));
    }
}

// Calls run(seed) for PBSPOLICY_SESSIONS seeds (`usual` if that isn't set), from PBSPOLICY_SEED or 1 on,
// until the test has failed. Returns the first seed and the number of sessions.
template <class Run>
std::pair<unsigned, unsigned> run_sessions(unsigned usual, Run run) {
    const auto first = static_cast<unsigned>(e2e::environment_number("PBSPOLICY_SEED", 1));
    const auto sessions = static_cast<unsigned>(e2e::environment_number("PBSPOLICY_SESSIONS", usual));
    for (unsigned seed = first; seed != first + sessions && !testing::Test::HasFailure(); ++seed) {
        std::fprintf(stderr, "\rPBSPOLICY_SEED=%u ", seed);
        run(seed);
    }
    return {first, sessions};
}

}  // namespace pbs::host::session
