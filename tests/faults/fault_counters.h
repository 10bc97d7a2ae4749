// The counters of faults.c, in a file that a test shares with the programs in which it causes faults.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "tests/e2e/harness.h"
#include "tests/faults/faults.h"

namespace pbs::e2e {

class FaultCounters {
  public:
    FaultCounters() {
        std::string name = (std::filesystem::temp_directory_path() / "pbs-faults-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        folder_ = name;
        const int fd = open(file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || ftruncate(fd, sizeof(faults)) != 0) throw std::runtime_error("no counters");
        void* page = mmap(nullptr, sizeof(faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        if (page == MAP_FAILED) throw std::runtime_error("no counters");
        at = static_cast<faults*>(page);
    }
    ~FaultCounters() {
        munmap(at, sizeof(faults));
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    FaultCounters(const FaultCounters&) = delete;
    FaultCounters& operator=(const FaultCounters&) = delete;

    const std::filesystem::path& folder() const { return folder_; }
    // Returns the environment variables that preload faults.c into a program.
    std::map<std::string, std::string> environment() const {
        // Fix the page size, as pbs_server would otherwise choose one and execute itself again (main.cc),
        // without the preloaded library.
        return {{"PBSPOLICY_FAULTS", file()},
                {"LD_PRELOAD", PBS_FAULTS},
                {"GLIBC_TUNABLES", "glibc.malloc.hugetlb=0"}};
    }
    // Makes a script that runs pbs_server with environment() and the variables `more`. Returns the script's
    // path. The next call replaces the script.
    std::filesystem::path server(const std::map<std::string, std::string>& more = {}) const {
        std::filesystem::path script = folder_ / "server";
        std::ofstream out(script);
        out << "#!/bin/sh\nexec env";
        auto all = environment();
        all.insert(more.begin(), more.end());
        for (const auto& [name, value] : all) out << " " << name << "=" << value;
        out << " " << program("pbs_server").string() << " \"$@\"\n";
        out.close();
        std::filesystem::permissions(script, std::filesystem::perms(0700));
        return script;
    }

    faults* at = nullptr;

  private:
    std::string file() const { return (folder_ / "counters").string(); }

    std::filesystem::path folder_;
};

// Returns the distance between the steps to try, so that a test tries about `most` of `steps`. With
// PBSPOLICY_EVERY_STEP, returns 1.
inline long stride(long steps, long most) {
    return std::getenv("PBSPOLICY_EVERY_STEP") != nullptr ? 1 : std::max(1L, steps / most);
}

}  // namespace pbs::e2e
