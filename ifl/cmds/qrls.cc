// qrls: releases holds of jobs.

#include "ifl/cmds/client.h"
#include "ifl/cmds/hold_types.h"
#include "ifl/cmds/options.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    constexpr Program kProgram{"qrls",
                               "usage: qrls [-h hold_list] job_identifier...\n"
                               "       qrls --version\n"};
    const auto arguments = arguments_of(argc, argv);
    if (version_asked(arguments)) {
        return 0;
    }
    const auto request = parse_hold_options(arguments);
    if (!request) {
        return usage_error(kProgram, request.error());
    }
    return for_each_job(kProgram, request->jobs, [&](const Connection& connection, const std::string& job) {
        return pbs_rlsjob(connection.handle(), job.c_str(), request->types.c_str(), nullptr);
    });
}
