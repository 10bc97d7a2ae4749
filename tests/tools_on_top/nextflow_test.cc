// Tests the calls of Nextflow's executors pbspro and pbs: each task is a job in its own folder, and one qstat
// asks for all jobs of a queue.
#include "tests/tools_on_top/calls.h"

namespace pbs::e2e {
namespace {

using Nextflow = ToolOnTop;

// Nextflow reads a job's status from the line after its id.
Fact status(const std::string& states) {
    return {Read::text, R"((?:^|\n)Job Id: *{id}\n *job_state = *(\S+)\n)", states};
}

const char* const kTask = R"(#!/bin/bash
#PBS -S /bin/bash
#PBS -N nf-ALIGN_sample
#PBS -o {work}/task/.command.log
#PBS -j oe
#PBS -q {queue}
#PBS -l select=1:ncpus=2:mem=64mb
#PBS -l walltime=01:00:00
#PBS -P project1
cd {work}/task
echo "task of $PBS_JOBID"
echo "and its errors" >&2
until [ -e end ]; do sleep 0.05; done
echo 0 > .exitcode
)";

// Nextflow asks for the jobs of the queue or, if it has no queue, of the server that qstat -B names.
const char* const kOfQueue =
    "set -o pipefail; qstat -f {queue} | { grep -E '(Job Id:|job_state =)' || true; }";
const char* const kOfServer =
    R"(set -o pipefail; qstat -f $( qstat -B -f | awk -v ORS=' ' '$1 == "Server:" {print "@"$2}' ) )"
    R"(| { grep -E '(Job Id:|job_state =)' || true; })";

TEST_P(Nextflow, Pbspro) {
    run({
        {.what = "nothing is there", .command = kOfQueue, .facts = {{Read::none, "."}}, .asks = true},
        {.what = "submits a task",
         .command = "cd {work}/task; qsub -N nf-ALIGN_sample .command.run",
         .script = kTask,
         .file = "task/.command.run",
         .facts = {kId}},
        {.what = "asks for the queue",
         .command = kOfQueue,
         .state = "R",
         .facts = {status("R")},
         .asks = true},
        {.what = "asks for the server", .command = kOfServer, .facts = {status("R")}, .asks = true},
        {.what = "the task ends", .command = "touch task/end"},
        {.what = "asks again: it is there no more",
         .command = kOfQueue,
         .state = "F",
         .facts = {{Read::none, "{id}"}},
         .asks = true},
        {.what = "reads its exit status and what it wrote",
         .command = "cat task/.exitcode task/.command.log",
         .facts = {{Read::text, R"(^0\ntask of (\S+)\nand its errors\n$)", "{id}"}}},
        {.what = "submits a task that its options hold",
         .command =
             "cd {work}/task; rm end; sed -i '2i#PBS -h' .command.run; qsub -N nf-ALIGN_sample .command.run",
         .facts = {kId}},
        {.what = "asks for the queue",
         .command = kOfQueue,
         .state = "H",
         .facts = {status("H")},
         .asks = true},
        {.what = "cancels it", .command = "qdel {id}"},
        {.what = "cancels it once more", .command = "qdel {id}", .state = "F", .exit = 35},
        {.what = "asks for a queue that isn't there",
         .command = "set -o pipefail; qstat -f nowhere | { grep -E '(Job Id:|job_state =)' || true; }",
         .exit = 170,
         .asks = true},
    });
}

TEST_P(Nextflow, PbsproArrays) {
    run({
        {.what = "submits an array of tasks",
         .command = "cd {work}; qsub -N nf-ALIGN_1 .command.run",
         .script = R"(#!/bin/bash
#PBS -J 0-2
#PBS -S /bin/bash
#PBS -N nf-ALIGN_1
#PBS -o /dev/null
#PBS -j oe
#PBS -l select=1:ncpus=1
cd {work}
until [ -e end ]; do sleep 0.05; done
echo "$PBS_JOBID" > of.$PBS_ARRAY_INDEX
)",
         .file = ".command.run",
         .facts = {kArrayId, {Read::text, R"(^(\d+))", R"(\d+)", "number"}}},
        // Nextflow makes the ids of an array's subjobs itself: it puts the index between the brackets of the
        // array's id
        {.what = "asks for the queue",
         .command = kOfQueue,
         .state = "B",
         .facts = {status("B")},
         .asks = true},
        {.what = "cancels a task of it", .command = "id='{id}'; qdel \"${id/\\[\\]/[1]}\""},
        {.what = "the others end", .command = "touch end"},
        {.what = "reads what they wrote",
         .command = "cat of.0 of.2; ls of.*",
         .state = "F",
         .facts = {{Read::text, R"(^{number}\[0\]\.\S+\n{number}\[2\]\.\S+\n(of\.0\nof\.2)\n$)",
                    R"(of\.0\nof\.2)"}}},
    });
}

// The executor pbs is meant for TORQUE. OpenPBS runs its tasks, but not its arrays, and not its request for a
// queue.
TEST_P(Nextflow, Pbs) {
    run({
        {.what = "submits a task",
         .command = "cd {work}/task; qsub -N nf-ALIGN_sample .command.run",
         .script = R"(#!/bin/bash
#PBS -N nf-ALIGN_sample
#PBS -o {work}/task/.command.log
#PBS -j oe
#PBS -q {queue}
#PBS -l nodes=1:ppn=2
#PBS -l walltime=01:00:00
#PBS -l mem=64mb
#PBS -P project1
#PBS -S /bin/bash
wc -l < $PBS_NODEFILE
)",
         .file = "task/.command.run",
         .facts = {kId}},
        {.what = "reads what it wrote: ppn processes",
         .command = "cat task/.command.log",
         .state = "F",
         .facts = {{Read::text, R"(^(\d+)\n$)", "2"}}},
        {.what = "asks for the queue",
         .command = "set -o pipefail; qstat -f -1 {queue} | { grep -E '(Job Id:|job_state =)' || true; }",
         .exit = 2,
         .facts = {{Read::errors, R"(^(qstat: .*)\n)", R"(qstat: conflicting options\.)"}}},
        {.what = "submits an array",
         .command = "qsub -t 0-2 task/.command.run",
         .exit = 2,
         .facts = {{Read::errors, R"(^(qsub: .*)\n)", "qsub: .*t.*"}}},
    });
}

INSTANTIATE_TEST_SUITE_P(Calls, Nextflow, kEverywhere, where_name);

}  // namespace
}  // namespace pbs::e2e
