// qmsg: writes a message into the output files of running jobs.

#include <string>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/cmds/options.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    constexpr Program kProgram{"qmsg",
                               "usage: qmsg [-O] [-E] msg_string job_identifier...\n"
                               "       qmsg --help | --version\n"};
    const auto line = command_line(kProgram, "EO", argc, argv);
    if (!line) return line.error();
    int file = 0;
    for (const Option& option : line->options) file |= option.letter == 'E' ? MSG_ERR : MSG_OUT;
    std::vector<std::string> operands = line->all_operands();
    if (operands.size() < 2) return usage_error(kProgram, {"expected a message and job identifiers", 2});
    const std::string message = operands.front();
    operands.erase(operands.begin());
    return for_each_job(kProgram, operands, [&](const Connection& connection, const std::string& job) {
        return pbs_msgjob(connection.handle(), job.c_str(), file == 0 ? MSG_ERR : file, message.c_str(),
                          nullptr);
    });
}
