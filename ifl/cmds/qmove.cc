// qmove: moves jobs to another queue or server.

#include <string>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/cmds/job_id.h"
#include "ifl/cmds/options.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    constexpr Program kProgram{"qmove",
                               "usage: qmove destination job_identifier...\n"
                               "       qmove --help | --version\n"};
    const auto line = command_line(kProgram, "", argc, argv);
    if (!line) return line.error();
    std::vector<std::string> operands = line->all_operands();
    if (operands.size() < 2) return usage_error(kProgram, {"expected a destination and job identifiers", 2});
    const std::string destination = operands.front();
    operands.erase(operands.begin());
    if (const auto parsed = parse_destination(destination); !parsed) return failed(kProgram, parsed.error());
    return for_each_job(kProgram, operands, [&](const Connection& connection, const std::string& job) {
        return pbs_movejob(connection.handle(), job.c_str(), destination.c_str(), nullptr);
    });
}
