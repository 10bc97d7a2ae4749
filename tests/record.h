// Keeps hashes of outputs of tests in a file of this repository. Tests compare new outputs with these hashes,
// which shows whether a change has altered the program's behaviour. Each line of the file has a case's name
// and its hashes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <string>
#include <string_view>

#include "values/fnv.h"

namespace pbs::test {

// Returns the hash of a text by FNV-1a with 64 bits (RFC 9923), as 16 hexadecimal digits.
inline std::string hash_of(std::string_view text) {
    const std::uint64_t hash = values::fnv1a(text);
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[hash >> shift & 15];
    return digits;
}

// The file `file` of hashes, below tests/. After an intended change of behaviour, run the tests with
// PBSPOLICY_WRITE_RECORDS=1 in the environment, which writes the file anew. PBSPOLICY_SHOW_RECORDS=DIRECTORY
// writes the outputs themselves into files of that directory. Use it before and after a change, and compare
// the files.
class Record {
  public:
    explicit Record(const std::string& file) : path_(std::string(PBS_SOURCE_DIR "/tests/") + file) {
        if (writes()) return;
        std::ifstream in(path_);
        for (std::string name, hashes; in >> name && std::getline(in >> std::ws, hashes);)
            lines_[name] = hashes;
    }
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;
    ~Record() {
        if (!writes()) return;
        std::ofstream out(path_);
        for (const auto& [name, hashes] : lines_) out << name << ' ' << hashes << '\n';
    }

    static bool writes() { return std::getenv("PBSPOLICY_WRITE_RECORDS") != nullptr; }

    // Returns whether these texts have the hashes that the file has for the case `name`.
    template <class... Texts>
    bool has(const std::string& name, const Texts&... texts) {
        show(name, texts...);
        std::string hashes;
        ((hashes += (hashes.empty() ? "" : " ") + hash_of(texts)), ...);
        if (writes()) lines_[name] = hashes;
        return lines_[name] == hashes;
    }

  private:
    template <class... Texts>
    static void show(const std::string& name, const Texts&... texts) {
        const char* directory = std::getenv("PBSPOLICY_SHOW_RECORDS");
        if (directory == nullptr) return;
        std::filesystem::create_directories(directory);
        int part = 0;
        ((std::ofstream(directory + ("/" + name) + "." + std::to_string(++part)) << texts), ...);
    }

    std::string path_;
    std::map<std::string, std::string> lines_;
};

}  // namespace pbs::test
