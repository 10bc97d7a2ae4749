// qsig: sends signals to running jobs.

#include <string>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/cmds/options.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    constexpr Program kProgram{"qsig",
                               "usage: qsig [-s signal] job_identifier...\n"
                               "       qsig --help | --version\n"};
    const auto line = command_line(kProgram, "s:", argc, argv);
    if (!line) return line.error();
    std::string signal = "SIGTERM";
    for (const Option& option : line->options) signal = option.value;
    const std::vector<std::string> jobs = line->all_operands();
    if (jobs.empty()) return usage_error(kProgram, {"no job identifier", 2});
    return for_each_job(kProgram, jobs, [&](const Connection& connection, const std::string& job) {
        return pbs_sigjob(connection.handle(), job.c_str(), signal.c_str(), nullptr);
    });
}
