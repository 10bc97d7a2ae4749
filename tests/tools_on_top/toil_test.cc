// Tests the calls of Toil's batch system torque and nipype's plugin PBS, both in Debian. Each job of a
// workflow is a batch job, which the programs identify by its number.
#include "tests/tools_on_top/calls.h"

namespace pbs::e2e {
namespace {

using Toil = ToolOnTop;
using Nipype = ToolOnTop;

const Fact kNumber{Read::text, R"(^(\d+)\.)", R"(\d+)", "number"};

TEST_P(Toil, Torque) {
    run({
        // Toil takes the server for PBS Pro if it finds a word that OpenPBS doesn't print
        {.what = "asks for the version", .command = "pbsnodes --version", .facts = {{Read::none, "PBSPro"}}},
        {.what = "submits a job",
         .command =
             "qsub -S /bin/sh -V -N toil_job_1 -v TOIL_WORK={work},OTHER=1 -l mem=65536K,nodes=1:ppn=2 "
             "{work}/torque_wrapper1.sh",
         .script = R"(#!/bin/sh
#PBS -o {work}/toil.1.${PBS_JOBID}.out.log
#PBS -e {work}/toil.1.${PBS_JOBID}.err.log
cd $PBS_O_WORKDIR

until [ -e end ]; do sleep 0.05; done
exit 5
)",
         .file = "torque_wrapper1.sh",
         .facts = {kId, kNumber}},
        {.what = "asks which jobs run, and for how long",
         .command = "qstat {number}",
         .state = "R",
         .facts = {{Read::word, "4", "R"}, {Read::word, "3", R"(0|\d\d:\d\d:\d\d)"}},
         .asks = true},
        {.what = "asks for its exit status",
         .command = "qstat -f {number}",
         .facts = {{Read::none, "[Ee]xit_status"}},
         .asks = true},
        {.what = "the job ends", .command = "touch end"},
        {.what = "asks for its exit status, as of a system for PBS Pro",
         .command = "qstat -x -f {number}",
         .state = "F",
         .facts = {{Read::text, R"(\n *Exit_status = (\S+)\n)", "5"}},
         .asks = true},
        {.what = "kills a job that is gone", .command = "qdel {number}", .exit = 35},
    });
}

TEST_P(Nipype, Pbs) {
    run({
        {.what = "submits a node",
         .command = "qsub  -S /bin/bash -o {work}/batch -e {work}/batch -N a0.smooth.wf.d "
                    "{work}/batch/batchscript.sh",
         .script = R"(
#PBS -V
        
cd {work}
until [ -e end ]; do sleep 0.05; done
)",
         .file = "batch/batchscript.sh",
         .facts = {kId, kNumber}},
        // nipype takes a job for pending unless the error output has one of two known texts
        {.what = "asks whether it is pending",
         .command = "qstat -f {number}",
         .facts = {{Read::none, "job_state = C"}},
         .asks = true},
        {.what = "the node ends", .command = "touch end"},
        {.what = "asks again",
         .command = "qstat -f {number}",
         .state = "F",
         .exit = 35,
         .facts = {{Read::errors, "(Job has finished)", ".*"}},
         .asks = true},
        {.what = "asks for what was never there",
         .command = "qstat -f 99999",
         .exit = 153,
         .facts = {{Read::errors, "(Unknown Job Id)", ".*"}},
         .asks = true},
    });
}

TEST_P(Nipype, PbsGraph) {
    run({
        {.what = "submits a whole graph",
         .command = "sh {work}/batch/submit_jobs.sh",
         .script = R"(#!/usr/bin/env sh
echo 'echo one >> {work}/order' > {work}/batch/one.sh
echo 'echo two >> {work}/order' > {work}/batch/two.sh
echo 'echo last >> {work}/order' > {work}/batch/last.sh
job00000=`qsub  -S /bin/bash {work}/batch/one.sh`
job00001=`qsub -W depend=afterok:$job00000 -S /bin/bash {work}/batch/two.sh`
job00002=`qsub -W depend=afterok:$job00000:$job00001 -S /bin/bash {work}/batch/last.sh`
echo $job00002
)",
         .file = "batch/submit_jobs.sh",
         .facts = {kId}},
        {.what = "they run in their order",
         .command = "cat order",
         .state = "F",
         .facts = {{Read::text, R"(^(\w+\n\w+\n\w+\n)$)", "one\ntwo\nlast\n"}}},
    });
}

INSTANTIATE_TEST_SUITE_P(Calls, Toil, kEverywhere, where_name);
INSTANTIATE_TEST_SUITE_P(Calls, Nipype, kEverywhere, where_name);

}  // namespace
}  // namespace pbs::e2e
