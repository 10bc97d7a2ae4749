// Tests the calls of Parsl's providers PBSProProvider and TorqueProvider: a block of workers is a job, and
// one qstat asks for all blocks.
#include "tests/tools_on_top/calls.h"

namespace pbs::e2e {
namespace {

using Parsl = ToolOnTop;

TEST_P(Parsl, PbsProProvider) {
    const std::string script = R"(#!/bin/bash

#PBS -S /bin/bash
#PBS -N parsl.block-0.1795428000.1234567
#PBS -m n
#PBS -l walltime=00:20:00
#PBS -l select=1:ncpus=2:mem=64mb
#PBS -o {work}/parsl.block-0.1795428000.1234567.stdout
#PBS -e {work}/parsl.block-0.1795428000.1234567.stderr


export JOBNAME="parsl.block-0.1795428000.1234567"
until [ -e end ]; do cd {work}; sleep 0.05; done
echo "$JOBNAME"
echo failed >&2
exit 3
)";
    run({
        {.what = "submits a block",
         .command = "qsub  -q {queue} -A project1 {work}/parsl.submit",
         .script = script,
         .file = "parsl.submit",
         .facts = {{Read::text, R"(^([^\n]*)\n$)", R"(\d+\.\S+)", "first"}}},
        {.what = "submits another that waits",
         .command = "qsub -h -q {queue} {work}/parsl.submit",
         .facts = {{Read::text, R"(^([^\n]*)\n$)", R"(\d+\.\S+)", "second"}, kId}},
        {.what = "waits for the first",
         .command = "until qstat -f {first} | grep -q 'job_state = R'; do sleep 0.1; done"},
        // if several jobs are asked for in JSON, OpenPBS 23.06 shows only the first
        {.what = "asks for both",
         .command = "qstat -x -f -F json {first} {second}",
         .facts = {{Read::json, "/Jobs/{first}/job_state", "R"},
                   {.by = Read::json, .where = "/Jobs/{second}/job_state", .is = "H", .ours_alone = true}}},
        {.what = "the first ends", .command = "touch end"},
        {.what = "waits for it",
         .command = "until qstat -xf {first} | grep -q 'job_state = F'; do sleep 0.1; done"},
        {.what = "asks for both again",
         .command = "qstat -x -f -F json {first} {second}",
         .facts = {{Read::json, "/Jobs/{first}/job_state", "F"},
                   {Read::json, "/Jobs/{first}/Exit_status", "number 3"},
                   {.by = Read::json, .where = "/Jobs/{second}/job_state", .is = "H", .ours_alone = true}}},
        {.what = "shows what the block wrote",
         .command = "cat parsl.*.stdout parsl.*.stderr",
         .facts = {{Read::text, R"(^([^\n]*\n[^\n]*\n)$)", "parsl.block-0.1795428000.1234567\nfailed\n"}}},
        {.what = "cancels a block", .command = "qdel {second}"},
        {.what = "asks for it",
         .command = "qstat -x -f -F json {second}",
         .state = "F",
         .facts = {{Read::json, "/Jobs/{second}/job_state", "F"}},
         .asks = true},
        // if qstat's exit status isn't 0, Parsl keeps the states that it knows
        {.what = "asks for one that isn't there",
         .command = "qstat -x -f -F json {second} 99999",
         .exit = 153,
         .facts = {{Read::json, "/Jobs/{second}/job_state", "F"},
                   {Read::errors, "^(qstat: Unknown Job Id 99999)", ".*"}},
         .asks = true},
        {.what = "cancels what is gone", .command = "qdel {first} {second}", .exit = 35},
    });
}

TEST_P(Parsl, TorqueProvider) {
    run({
        {.what = "submits a block",
         .command = "qsub  -q {queue} {work}/parsl.submit",
         .script = R"(#!/bin/bash

#PBS -S /bin/bash
#PBS -N parsl.parsl.torque.1795428000.1234567
#PBS -m n
#PBS -l walltime=00:20:00
#PBS -l nodes=1:ppn=2
#PBS -o {work}/parsl.submit.stdout
#PBS -e {work}/parsl.submit.stderr

export JOBNAME="parsl.parsl.torque.1795428000.1234567"
cd {work}
until [ -e end ]; do sleep 0.05; done
)",
         .file = "parsl.submit",
         .facts = {kId}},
        // qstat's table may cut the id; Parsl takes the job whose id begins with the text in the table
        {.what = "asks for it",
         .command = "qstat {id}",
         .state = "R",
         .facts = {{Read::word, "4", "R"}, {Read::word, "5", "{queue}"}},
         .asks = true},
        {.what = "the block ends", .command = "touch end"},
        // if qstat doesn't list a block's job, Parsl takes the block for ended
        {.what = "asks for it again",
         .command = "qstat {id}",
         .state = "F",
         .exit = 35,
         .facts = {{Read::none, "."},
                   {Read::errors, "^(qstat: .*)\n", "qstat: {id} Job has finished, use -x or -H .*"}},
         .asks = true},
    });
}

INSTANTIATE_TEST_SUITE_P(Calls, Parsl, kEverywhere, where_name);

}  // namespace
}  // namespace pbs::e2e
