// A small source tree in a temporary folder, with which a test shows what a check finds.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "tests/structure/arrows.h"

namespace pbs::structure {

inline std::vector<std::string> describe(const std::vector<Violation>& violations) {
    std::vector<std::string> lines;
    lines.reserve(violations.size());
    for (const Violation& violation : violations) lines.push_back(to_string(violation));
    return lines;
}

class Tree {
  public:
    Tree() {
        std::string name = (std::filesystem::temp_directory_path() / "pbs-structure-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        root_ = name;
    }
    ~Tree() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    void add(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << text;
    }
    const std::filesystem::path& root() const { return root_; }

  private:
    std::filesystem::path root_;
};

}  // namespace pbs::structure
