#include "tests/e2e/document.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

namespace pbs::e2e {
namespace {

// Bytes that the script prints: one after each block of commands, and one before the line number of a failed
// command.
constexpr char kEnd = '\036';
constexpr char kFailed = '\035';
constexpr std::string_view kPrologue =
    R"(exec 2>&1; set -eEuo pipefail; trap 'printf "\035%s\n" "$LINENO"' ERR)";
constexpr std::string_view kEpilogue = R"(printf '\036')";
constexpr std::string_view kFence = "```";

// Removes blanks at both ends of a line, and reduces each other run of blanks to one.
std::string with_single_blanks(std::string_view line) {
    std::istringstream words{std::string(line)};
    std::string joined;
    for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
    return joined;
}

// Returns whether a line of output matches `shown`, in which "..." stands for any text.
bool matches(std::string_view line, std::string_view shown) {
    constexpr std::string_view kAnything = "...";
    std::size_t dots = shown.find(kAnything);
    if (dots == shown.npos) return line == shown;
    if (line.substr(0, dots) != shown.substr(0, dots)) return false;
    line.remove_prefix(dots);
    while (true) {
        shown.remove_prefix(dots + kAnything.size());
        dots = shown.find(kAnything);
        if (dots == shown.npos) break;
        const std::size_t at = line.find(shown.substr(0, dots));
        if (at == line.npos) return false;
        line.remove_prefix(at + dots);
    }
    return line.size() >= shown.size() && line.substr(line.size() - shown.size()) == shown;
}

// Compares the block's shown output with `output`. Adds a fault for the first shown line that `output` lacks,
// if there is one.
void compare(const Document::Block& block, const std::string& output, std::vector<Fault>& faults) {
    std::istringstream lines(output);
    for (const Document::Line& shown : block.shown) {
        const std::string expected = with_single_blanks(shown.text);
        bool found = false;
        for (std::string line; !found && std::getline(lines, line);)
            found = matches(with_single_blanks(line), expected);
        if (found) continue;
        faults.push_back(
            {shown.number, fmt::format("'{}' isn't shown, or not there, by the commands of line {}:\n{}",
                                       shown.text, block.line, output)});
        return;
    }
}

}  // namespace

Document read_document(std::string_view markdown) {
    enum class In { prose, commands, output };
    Document document;
    In in = In::prose;
    int number = 0;
    std::istringstream lines{std::string(markdown)};
    for (std::string line; std::getline(lines, line);) {
        ++number;
        std::string command;
        const bool fence = line.find_first_not_of(' ') != line.npos &&
                           line.compare(line.find_first_not_of(' '), kFence.size(), kFence) == 0;
        if (fence && in != In::prose) {
            if (in == In::commands) command = kEpilogue;
            in = In::prose;
        } else if (line == "```sh") {
            in = In::commands;
            document.blocks.push_back({number + 1, {}});
        } else if (line == "```text" && !document.blocks.empty()) {
            in = In::output;
        } else if (fence) {
            document.faults.push_back(
                {number, fmt::format("'{}': expected ```sh, or ```text behind such a block", line)});
            in = In::output;
        } else if (in == In::commands) {
            command = line;
        } else if (in == In::output && !document.blocks.empty() && with_single_blanks(line) != "...") {
            document.blocks.back().shown.push_back({number, line});
        }
        document.script += (number == 1 ? std::string(kPrologue) : command) + '\n';
    }
    if (in != In::prose) document.faults.push_back({number, "the last block has no end"});
    if (document.blocks.empty()) document.faults.push_back({1, "there are no commands"});
    return document;
}

std::vector<Fault> faults_of(const Document& document, const Output& done) {
    std::vector<Fault> faults = document.faults;
    std::string_view rest = done.out;
    for (const Document::Block& block : document.blocks) {
        const std::size_t end = rest.find(kEnd);
        std::string output(rest.substr(0, end));
        if (end == rest.npos) {
            const std::size_t failed = output.find(kFailed);
            const int line = failed == output.npos ? block.line : std::stoi(output.substr(failed + 1));
            faults.push_back(
                {line,
                 fmt::format("{}:\n{}{}", done.timed_out ? "the commands don't end" : "a command failed",
                             output.substr(0, failed), done.err)});
            return faults;
        }
        compare(block, output, faults);
        rest.remove_prefix(end + 1);
    }
    return faults;
}

}  // namespace pbs::e2e
