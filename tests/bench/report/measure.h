// Runs the programs of this folder, which use Google Benchmark, and reads their results.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace pbs::bench {

// A benchmark, and the folder for its temporary files, which chooses the disk.
struct Benchmark {
    std::string program;
    std::string name;  // without its last parts "/iterations:N", "/real_time" and "/manual_time"
    std::string tmp;   // empty: that of this process's environment

    auto operator<=>(const Benchmark&) const = default;
};

// Returns a benchmark's name without its last parts, which say how it is timed.
std::string plain_name(std::string name);

// The path of a program in a build.
std::filesystem::path program_path(const std::filesystem::path& build, std::string_view program);

// Returns the plain names of the program's benchmarks. The error says why the program can't be run.
tl::expected<std::vector<std::string>, std::string> names_in(const std::filesystem::path& build,
                                                             const std::string& program);

// The results of one run: a time in seconds, or a counter, by its name in the JSON of Google Benchmark.
class Result {
  public:
    // Reads the JSON of a run. The error says that the benchmark has failed, isn't in the JSON, or that this
    // is no JSON of a run.
    static tl::expected<Result, std::string> parse(const std::string& json, const Benchmark& benchmark);
    // Returns "real_time", "cpu_time", "items_per_second" or a counter. The error says that it is missing.
    tl::expected<double, std::string> value(const std::string& name) const;

  private:
    std::vector<std::pair<std::string, double>> values_;
};

// Runs a benchmark once. `min_time` is Google Benchmark's, in seconds; 0: the default. The error says why
// there is no result, with the last lines that the program has printed.
tl::expected<Result, std::string> run_once(const std::filesystem::path& build, const Benchmark& benchmark,
                                           double min_time);

}  // namespace pbs::bench
