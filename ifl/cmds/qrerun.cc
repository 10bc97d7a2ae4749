// qrerun: ends running jobs and puts them back into their queues.

#include <string>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/cmds/options.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    constexpr Program kProgram{"qrerun",
                               "usage: qrerun [-W force] job_identifier...\n"
                               "       qrerun --help | --version\n"};
    const auto line = command_line(kProgram, "W:", argc, argv);
    if (!line) return line.error();
    for (const Option& option : line->options)
        if (option.value != "force")
            return usage_error(kProgram, {"illegal -W value '" + option.value + "': expected force", 2});
    const std::vector<std::string> jobs = line->all_operands();
    if (jobs.empty()) return usage_error(kProgram, {"no job identifier", 2});
    const char* extend = line->options.empty() ? nullptr : "force";
    return for_each_job(kProgram, jobs, [&](const Connection& connection, const std::string& job) {
        return pbs_rerunjob(connection.handle(), job.c_str(), extend);
    });
}
