// Helpers for the tests in this folder.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "migrate/configfile.h"
#include "migrate/problem.h"
#include "tests/file_text.h"

namespace pbs::migrate::test {

inline std::vector<std::string> texts(const Problems& problems) {
    std::vector<std::string> out;
    for (const Problem& problem : problems) out.push_back(to_text(problem));
    return out;
}

// A temporary folder. The destructor removes it.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "migrate_test.XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string path(const std::string& name) const { return path_ + "/" + name; }
    // Writes a file, after making its folders. Returns its path.
    std::string write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }

  private:
    std::string path_;
};

inline std::string read_text(const std::string& path) {
    return pbs::test::file_text(path);
}

}  // namespace pbs::migrate::test
