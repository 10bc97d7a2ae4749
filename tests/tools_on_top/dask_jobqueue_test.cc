// Tests the calls of dask-jobqueue's PBSCluster: a worker is a job, and the first number that qsub prints is
// the worker's name for it.
#include "tests/tools_on_top/calls.h"

namespace pbs::e2e {
namespace {

using DaskJobqueue = ToolOnTop;

TEST_P(DaskJobqueue, PbsCluster) {
    run({
        {.what = "submits a worker",
         .command = "mkdir -p {work}/logs; qsub {work}/tmpa1b2c3.sh",
         .script = R"(#!/usr/bin/env bash

#PBS -N dask-worker
#PBS -q {queue}
#PBS -A project1
#PBS -l select=1:ncpus=2:mem=1177MB
#PBS -l walltime=00:30:00
#PBS -e {work}/logs/
#PBS -o {work}/logs/
#PBS -S /bin/bash

echo "$PBS_JOBNAME in $PBS_QUEUE"
cd {work}
until [ -e end ]; do sleep 0.05; done
)",
         .file = "tmpa1b2c3.sh",
         .facts = {{Read::text, R"((\d+))", R"(\d+)", "number"}, kId}},
        {.what = "sees what it asked for",
         .command = "qstat -f {number}",
         .state = "R",
         .facts = {{Read::joined, R"(Resource_List\.select = (.*)\n)", "1:ncpus=2:mem=1177MB"},
                   {Read::joined, R"(Resource_List\.mem = (.*)\n)", "1177mb|1205248kb"},
                   {Read::joined, R"(Account_Name = (.*)\n)", "project1"}},
         .asks = true},
        {.what = "the worker ends", .command = "touch end"},
        // the output files in the folder are named after the job
        {.what = "shows what it wrote",
         .command = "cd logs; for f in *; do echo $f; cat $f; done",
         .state = "F",
         .facts = {{Read::text, R"(^([^]*)$)", "{id}\\.ER\n{id}\\.OU\ndask-worker in {queue}\n"}}},
        {.what = "submits another worker",
         .command = "rm end; qsub {work}/tmpa1b2c3.sh",
         .facts = {{Read::text, R"((\d+))", R"(\d+)", "number"}, kId}},
        // dask-jobqueue deletes a worker's job by its number, even if it has ended
        {.what = "closes it", .command = "qdel {number}", .state = "R"},
        {.what = "closes it again", .command = "qdel {number}", .state = "F", .exit = 35},
    });
}

INSTANTIATE_TEST_SUITE_P(Calls, DaskJobqueue, kEverywhere, where_name);

}  // namespace
}  // namespace pbs::e2e
