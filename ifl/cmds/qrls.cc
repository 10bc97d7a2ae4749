// qrls: releases holds of jobs.

#include "ifl/cmds/hold_types.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    constexpr Program kProgram{"qrls",
                               "usage: qrls [-h hold_list] job_identifier...\n"
                               "       qrls --help | --version\n"};
    return run_hold_command(kProgram, arguments_of(argc, argv), pbs_rlsjob);
}
