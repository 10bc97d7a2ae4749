// tracejob: shows the lines about jobs in the logs and the accounting of a server.

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/options.h"
#include "ifl/cmds/surroundings.h"
#include "ifl/cmds/text.h"
#include "ifl/cmds/trace_log.h"
#include "values/text.h"

namespace {

using namespace pbs::cmds;

const Program kProgram{
    "tracejob",
    "usage: tracejob [-a|s|l|m|v] [-w size] [-p path] [-n days] [-f filter_type] [-z] [-c count]\n"
    "\tjob_identifier...\n"
    "       tracejob --help | --version\n"};

constexpr int kSecondsInDay = 24 * 60 * 60;

struct Source {
    char file;           // the letter in printed lines
    char option;         // the option of tracejob by which this source isn't read
    const char* folder;  // below PBS_HOME
};
constexpr Source kSources[] = {{'A', 'a', "server_priv/accounting"},
                               {'S', 's', "server_logs"},
                               {'M', 'm', "mom_logs"},
                               {'L', 'l', "sched_logs"}};

struct TraceOptions {
    std::string home;
    std::string left_out;  // letters (Source::file) of the sources that aren't read
    bool verbose = false;
    bool filter_excessive = true;
    std::size_t excessive = 15;
    std::optional<std::size_t> width;
    long days = 1;
    unsigned hidden = 0;  // events
    std::vector<std::string> jobs;
};

Result<long> count(const Option& option) {
    const auto number = parse_integer(option.value);
    if (!number || *number < 0 || *number > 100000) {
        return fail(fmt::format("illegal -{} value '{}': expected a number from 0 to 100000", option.letter,
                                option.value),
                    1);
    }
    return static_cast<long>(*number);
}

Result<void> apply(TraceOptions& asked, const Option& option) {
    const bool number = option.letter == 'c' || option.letter == 'n' || option.letter == 'w';
    const auto value = number ? count(option) : Result<long>(0);
    if (!value) return tl::unexpected(value.error());
    switch (option.letter) {
        case 'v':
            asked.verbose = true;
            break;
        case 'z':
            asked.filter_excessive = !asked.filter_excessive;
            break;
        case 'c':
            asked.excessive = static_cast<std::size_t>(*value);
            break;
        case 'n':
            asked.days = *value;
            break;
        case 'w':
            asked.width = static_cast<std::size_t>(*value);
            break;
        case 'p':
            asked.home = option.value;
            break;
        case 'f': {
            const auto mask = event_mask(option.value);
            if (!mask) {
                return fail(fmt::format("illegal -f value '{}': expected an event such as job or sched, or a "
                                        "hexadecimal number",
                                        option.value),
                            1);
            }
            asked.hidden |= *mask;
            break;
        }
        default:
            asked.left_out += option.letter;
    }
    return {};
}

Result<TraceOptions> parse(const std::vector<std::string>& arguments) {
    const auto line = parse_options("zvamslw:p:n:f:c:", arguments);
    if (!line) return fail(line.error().message, 1);
    TraceOptions asked;
    asked.home = server_home();
    for (const Option& option : line->options)
        if (const auto applied = apply(asked, option); !applied) return tl::unexpected(applied.error());
    asked.jobs = line->all_operands();
    if (asked.jobs.empty()) return fail("no job identifier", 1);
    return asked;
}

std::size_t terminal_width() {
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::vector<TraceLine> lines_of(const TraceOptions& asked, const std::string& job) {
    std::vector<TraceLine> lines;
    const std::time_t now = std::time(nullptr);
    for (long day = 0; day < asked.days; ++day) {
        const std::string date = fmt::format("{:%Y%m%d}", fmt::localtime(now - day * kSecondsInDay));
        for (const Source& source : kSources) {
            if (asked.left_out.find(source.option) != std::string::npos) continue;
            const std::string path = fmt::format("{}/{}/{}", asked.home, source.folder, date);
            std::ifstream file(path);
            if (file)
                find_trace_lines(file, source.file, job, lines);
            else if (asked.verbose)
                fmt::print(stderr, "{}: {}\n", path, std::strerror(errno));
        }
    }
    if (asked.filter_excessive) drop_excessive(lines, asked.excessive);
    sort_trace_lines(lines);
    return lines;
}

}  // namespace

int main(int argc, char** argv) {
    const auto asked = parse_arguments(kProgram, arguments_of(argc, argv), parse);
    if (!asked) return asked.error();
    int status = 0;
    for (const std::string& job : asked->jobs) {
        auto lines = lines_of(*asked, job);
        if (lines.empty()) {
            fmt::print(stderr, "\ntracejob: Couldn't find Job Id {} in logs of past {}\n\n", job,
                       pbs::values::counted(asked->days, "day"));
            status = 1;
            continue;
        }
        std::erase_if(lines, [&](const TraceLine& line) { return (line.event & asked->hidden) != 0; });
        fmt::print("{}", trace_text(lines, asked->width.value_or(terminal_width())));
    }
    return status;
}
