// qrun: starts jobs now.

#include <string>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/cmds/options.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    constexpr Program kProgram{"qrun",
                               "usage: qrun [-a] [-H vnode_specification] job_identifier...\n"
                               "       qrun --help | --version\n"};
    const auto line = command_line(kProgram, "H:a", argc, argv);
    if (!line) return line.error();
    std::string location;
    bool wait = true;
    for (const Option& option : line->options)
        if (option.letter == 'a')
            wait = false;
        else if (option.value.empty())
            return usage_error(kProgram, {"illegal -H value: expected vnodes", 2});
        else
            location = option.value;
    const std::vector<std::string> jobs = line->all_operands();
    if (jobs.empty()) return usage_error(kProgram, {"no job identifier", 2});
    const int status =
        for_each_job(kProgram, jobs, [&](const Connection& connection, const std::string& job) {
            const auto run = wait ? pbs_runjob : pbs_asyrunjob;
            return run(connection.handle(), job.c_str(), location.empty() ? nullptr : location.c_str(),
                       nullptr);
        });
    // PBS's qrun exits with 2 for every failure
    return status == 0 ? 0 : 2;
}
