#include "tests/bench/report/measure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "tests/file_text.h"
#include "values/temporary_folder.h"

namespace pbs::bench {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

struct Output {
    int status = 0;  // as of waitpid()
    std::string out;
    std::string err;
};

// Runs a program, with its output in files of `folder`, in this process's group, so that Ctrl-C ends both.
tl::expected<Output, std::string> run(const fs::path& program, const std::vector<std::string>& arguments,
                                      const std::string& tmp, const fs::path& folder) {
    if (access(program.c_str(), X_OK) != 0)
        return tl::unexpected(fmt::format("{}: {}", program.string(), std::strerror(errno)));
    const fs::path out = folder / "out";
    const fs::path err = folder / "err";
    const pid_t child = fork();
    if (child == 0) {
        if (!tmp.empty()) setenv("TMPDIR", tmp.c_str(), 1);
        dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
        dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        std::vector<char*> words{const_cast<char*>(program.c_str())};
        for (const std::string& one : arguments) words.push_back(const_cast<char*>(one.c_str()));
        words.push_back(nullptr);
        execv(program.c_str(), words.data());
        _exit(127);
    }
    Output output;
    if (child < 0 || waitpid(child, &output.status, 0) != child)
        return tl::unexpected(fmt::format("{}: {}", program.string(), std::strerror(errno)));
    output.out = test::file_text(out);
    output.err = test::file_text(err);
    return output;
}

std::string end_of(const Output& output) {
    if (WIFSIGNALED(output.status)) return fmt::format("ended by signal {}", WTERMSIG(output.status));
    return fmt::format("exit status {}", WEXITSTATUS(output.status));
}

// Returns the last lines of a text, as the end of a message.
std::string last_lines(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    constexpr int kLines = 5;
    std::size_t at = text.size();
    for (int i = 0; i < kLines && at != std::string::npos && at > 0; ++i) at = text.rfind('\n', at - 1);
    if (text.empty()) return {};
    return ":\n" + text.substr(at == std::string::npos ? 0 : at + 1);
}

std::string quoted_for_regex(const std::string& text) {
    std::string quoted;
    for (const char one : text) {
        if (std::strchr(".[]{}()*+?^$|\\", one) != nullptr) quoted += '\\';
        quoted += one;
    }
    return quoted;
}

// The seconds in one of Google Benchmark's units.
double seconds_in(const std::string& unit) {
    static const std::map<std::string, double> units{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    const auto found = units.find(unit);
    return found == units.end() ? 0 : found->second;
}

}  // namespace

std::string plain_name(std::string name) {
    static const std::regex last(
        R"(/(iterations:\d+|repeats:\d+|min_time:[\d.]+|real_time|manual_time|process_time)$)");
    for (std::smatch match; std::regex_search(name, match, last);)
        name.resize(static_cast<std::size_t>(match.position(0)));
    return name;
}

fs::path program_path(const fs::path& build, std::string_view program) {
    return build / "tests/bin" / program;
}

tl::expected<std::vector<std::string>, std::string> names_in(const fs::path& build,
                                                             const std::string& program) {
    const auto folder = values::TemporaryFolder::make("bench_report");
    if (!folder) return tl::unexpected(folder.error());
    const auto listed = run(program_path(build, program), {"--benchmark_list_tests"}, "", folder->path());
    if (!listed) return tl::unexpected(listed.error());
    if (listed->status != 0)
        return tl::unexpected(fmt::format("{}: {}{}", program, end_of(*listed), last_lines(listed->err)));
    std::vector<std::string> names;
    for (std::size_t at = 0; at < listed->out.size();) {
        const std::size_t end = std::min(listed->out.find('\n', at), listed->out.size());
        names.push_back(plain_name(listed->out.substr(at, end - at)));
        at = end + 1;
    }
    return names;
}

tl::expected<Result, std::string> Result::parse(const std::string& text, const Benchmark& benchmark) {
    const json results = json::parse(text, nullptr, false);
    if (!results.is_object() || !results.contains("benchmarks") || !results["benchmarks"].is_array())
        return tl::unexpected(
            fmt::format("{} {}: its results can't be read", benchmark.program, benchmark.name));
    for (const json& one : results["benchmarks"]) {
        if (plain_name(one.value("name", "")) != benchmark.name) continue;
        if (one.value("error_occurred", false))
            return tl::unexpected(fmt::format("{} {}: {}", benchmark.program, benchmark.name,
                                              one.value("error_message", "it has failed")));
        Result result;
        const double unit = seconds_in(one.value("time_unit", "ns"));
        for (const auto& [name, value] : one.items()) {
            if (!value.is_number()) continue;
            const bool time = name == "real_time" || name == "cpu_time";
            result.values_.emplace_back(name, value.get<double>() * (time ? unit : 1));
        }
        return result;
    }
    return tl::unexpected(fmt::format("{} has no benchmark {}", benchmark.program, benchmark.name));
}

tl::expected<double, std::string> Result::value(const std::string& name) const {
    const auto found = std::ranges::find(values_, name, &std::pair<std::string, double>::first);
    if (found == values_.end()) return tl::unexpected(fmt::format("there is no counter {}", name));
    return found->second;
}

tl::expected<Result, std::string> run_once(const fs::path& build, const Benchmark& benchmark,
                                           double min_time) {
    const auto folder = values::TemporaryFolder::make("bench_report");
    if (!folder) return tl::unexpected(folder.error());
    const std::string results = folder->file("results.json");
    std::vector<std::string> arguments{
        fmt::format(
            "--benchmark_filter=^{}(/(iterations|repeats|min_time):[0-9.]+)*(/(process|real|manual)_time)*$",
            quoted_for_regex(benchmark.name)),
        "--benchmark_out=" + results, "--benchmark_out_format=json"};
    if (min_time > 0) arguments.push_back(fmt::format("--benchmark_min_time={}", min_time));
    const auto done = run(program_path(build, benchmark.program), arguments, benchmark.tmp, folder->path());
    if (!done) return tl::unexpected(done.error());
    if (done->status != 0)
        return tl::unexpected(fmt::format("{} {}: {}{}", benchmark.program, benchmark.name, end_of(*done),
                                          last_lines(done->err)));
    return Result::parse(test::file_text(results), benchmark);
}

}  // namespace pbs::bench
