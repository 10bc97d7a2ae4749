// Tests the calls of batchspawner's PBSSpawner and TorqueSpawner: a user's notebook is a job, whose script
// qsub reads from its standard input.
#include "tests/tools_on_top/calls.h"

namespace pbs::e2e {
namespace {

using Batchspawner = ToolOnTop;

TEST_P(Batchspawner, PbsSpawner) {
    run({
        {.what = "starts a notebook",
         .command = "export JUPYTERHUB_API_TOKEN=secret; qsub",
         .script = R"(#!/bin/sh
#PBS -q {queue}
#PBS -l walltime=1:00:00
#PBS -l select=1:ncpus=1:mem=64mb
#PBS -N jupyterhub-singleuser
#PBS -o {work}/.jupyterhub.pbs.out
#PBS -e {work}/.jupyterhub.pbs.err
#PBS -v PATH,JUPYTERHUB_API_TOKEN
#PBS -S /bin/sh

set -eu

cd {work}
echo token=$JUPYTERHUB_API_TOKEN > token
sleep 1000
)",
         .facts = {kId}},
        // batchspawner waits while the notebook's job is queued, and then connects to the host on which it
        // runs
        {.what = "asks whether it runs, and where",
         .command = "qstat -fx {id}",
         .state = "R",
         .facts = {{Read::text, "job_state = R", ".*"},
                   {Read::none, "job_state = [QH]"},
                   {Read::text, R"(exec_host = ([\w_-]+)/)", "{host}"}},
         .asks = true},
        {.what = "the notebook has its token",
         .command = "until grep -q . token; do sleep 0.1; done; cat token",
         .facts = {{Read::text, "^(.*)\n$", "token=secret"}}},
        {.what = "ends it", .command = "qdel {id}"},
        {.what = "asks again: neither pending nor running",
         .command = "qstat -fx {id}",
         .state = "F",
         .facts = {{Read::none, "job_state = [QHR]"}, {Read::text, "job_state = (.)", "F"}},
         .asks = true},
        {.what = "starts one that is held",
         .command = "sed -e '/-v PATH/d' -e 's/PBS -S/PBS -h -S/' job.sh | qsub",
         .facts = {kId}},
        {.what = "asks whether it runs",
         .command = "qstat -fx {id}",
         .facts = {{Read::text, "job_state = [QH]", ".*"}, {Read::none, "exec_host"}},
         .asks = true},
        {.what = "asks for one that was never there",
         .command = "qstat -fx 99999",
         .exit = 153,
         .facts = {{Read::none, "job_state"}},
         .asks = true},
    });
}

// TorqueSpawner reads the XML of TORQUE's `qstat -x`. OpenPBS has no XML, so sites use PBSSpawner.
TEST_P(Batchspawner, TorqueSpawner) {
    run({
        {.what = "starts a notebook",
         .command = "export JUPYTERHUB_API_TOKEN=secret; qsub",
         .script = R"(#!/bin/sh
#PBS -q {queue}
#PBS -l walltime=1:00:00
#PBS -l nodes=1:ppn=2
#PBS -l mem=64mb
#PBS -N jupyterhub-singleuser
#PBS -v JUPYTERHUB_API_TOKEN
#PBS -S /bin/sh
#PBS 

set -eu

sleep 1000
)",
         .facts = {kId}},
        {.what = "asks whether it runs",
         .command = "qstat -x {id}",
         .state = "R",
         .facts = {{Read::none, "<job_state>"}, {Read::word, "4", "R"}},
         .asks = true},
        {.what = "ends it", .command = "qdel {id}"},
    });
}

INSTANTIATE_TEST_SUITE_P(Calls, Batchspawner, kEverywhere, where_name);

}  // namespace
}  // namespace pbs::e2e
