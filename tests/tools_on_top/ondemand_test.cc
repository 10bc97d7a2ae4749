// Tests the calls of Open OnDemand's adapters for PBS Pro and TORQUE (ood_core): they submit the jobs of
// interactive sessions and of job templates.
#include "tests/tools_on_top/calls.h"

namespace pbs::e2e {
namespace {

using OnDemand = ToolOnTop;

// Returns a fact about the job {id}. The adapters join continued lines, and read "NAME = VALUE" from each
// line.
Fact attribute(const std::string& name, const std::string& is, const std::string& keep = {}) {
    return {Read::joined, R"(Job Id: {id}\n(?:    [^\n]*\n)*?    )" + name + R"( = (.+)\n)", is, keep};
}

constexpr auto kDate = R"([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})";
constexpr auto kDuration = R"(\d\d:\d\d:\d\d)";

const char* const kScript = R"(cd {work}
until [ -e end ]; do sleep 0.05; done
echo "$GREETING, $PBS_O_WORKDIR"
)";

TEST_P(OnDemand, PbsPro) {
    run({
        {.what = "submits a session",
         .command = "qsub -r y -M a@example.org,b@example.org -m be -N sys_dashboard -S /bin/bash -o "
                    "{work}/output.log "
                    "-e {work}/error.log -q {queue} -p 5 -A project1 -l walltime=01:00:00 -l ncpus=2 "
                    "-v 'GREETING=two words,OTHER=1' -m n",
         .script = kScript,
         .facts = {kId}},
        {.what = "asks for it",
         .command = "qstat -f -t {id}",
         .state = "R",
         .facts = {attribute("Job_Name", "sys_dashboard"), attribute("Job_Owner", R"({user}@.+)"),
                   attribute("job_state", "R"), attribute("queue", "{queue}"),
                   attribute("Account_Name", "project1"), attribute("exec_host", R"({host}/\d+\*2)"),
                   attribute(R"(Resource_List\.nodect)", "1"), attribute(R"(Resource_List\.ncpus)", "2"),
                   attribute(R"(Resource_List\.walltime)", "01:00:00"), attribute("ctime", kDate),
                   attribute("stime", kDate), attribute("Priority", "5")},
         .asks = true},
        {.what = "asks for all jobs",
         .command = "qstat -f -t",
         .facts = {attribute("Job_Name", "sys_dashboard")},
         .asks = true},
        {.what = "selects a user's jobs", .command = "qselect -u {user}", .facts = {kId}, .asks = true},
        {.what = "selects those of two users",
         .command = "qselect -u {user},root",
         .facts = {kId},
         .asks = true},
        {.what = "selects those of nobody",
         .command = "qselect -u nobody",
         .facts = {{Read::none, "."}},
         .asks = true},
        {.what = "selects all, with subjobs", .command = "qselect -T", .facts = {kId}, .asks = true},
        {.what = "counts what nodes have, and of that what is free",
         .command = "pbsnodes -aSj -F json",
         .facts = {{Read::json, "/nodes/{node}/ncpus f~1t", R"(\s*6\s*/\s*8\s*)"},
                   {Read::json, "/nodes/{node}/ngpus f~1t", R"(\s*0\s*/\s*0\s*)"}},
         .asks = true},
        {.what = "submits a job that depends on it",
         .command = "qsub -h -N after -S /bin/bash -W depend=afterok:{id} -j oe",
         .script = "true\n",
         .facts = {{Read::text, R"(^([^\n]*)\n$)", ".*", "first"}}},
        {.what = "holds and releases a job", .command = "qhold {first}; qrls {first}"},
        {.what = "deletes a job", .command = "qdel {first}"},
        {.what = "the session ends", .command = "touch end"},
        // if the error output has one of these texts, the adapters take the job for completed, whatever they
        // asked
        {.what = "asks for it again",
         .command = "qstat -f -t {id}",
         .state = "F",
         .exit = 35,
         .facts = {{Read::errors, "(Unknown Job Id|Job has finished)", ".*"}},
         .asks = true},
        {.what = "deletes it",
         .command = "qdel {id}",
         .exit = 35,
         .facts = {{Read::errors, "(Job has finished)", ".*"}}},
        {.what = "holds it",
         .command = "qhold {id}",
         .exit = 35,
         .facts = {{Read::errors, "(Job has finished)", ".*"}}},
        {.what = "releases it",
         .command = "qrls {id}",
         .exit = 35,
         .facts = {{Read::errors, "(Job has finished)", ".*"}}},
        {.what = "deletes what was never there",
         .command = "qdel 99999",
         .exit = 153,
         .facts = {{Read::errors, "(Unknown Job Id)", ".*"}}},
        {.what = "reads what it wrote",
         .command = "cat output.log",
         .facts = {{Read::text, "^(.*)\n$", "two words, {work}"}}},
        {.what = "asks for the use of an ended job",
         .command = "qstat -xf {id}",
         .facts = {attribute(R"(resources_used\.walltime)", kDuration),
                   attribute(R"(resources_used\.cput)", kDuration)},
         .asks = true},
    });
}

TEST_P(OnDemand, PbsProArrays) {
    run({
        {.what = "submits an array",
         .command = "qsub -N array -S /bin/bash -q {queue} -l ncpus=1 -j oe -J 1-10:3",
         .script = kScript,
         .facts = {kArrayId, {Read::text, R"(^(\d+))", R"(\d+)", "number"}}},
        {.what = "asks for it and for each of its tasks",
         .command = "sleep 0; until [ $(qstat -t {number}[] | grep -c ' R ') = 4 ]; do sleep 0.1; done; "
                    "qstat -f -t '{id}'",
         .state = "B",
         .facts = {attribute("job_state", "B"),
                   {Read::joined, R"(Job Id: {number}\[4\]\.\S+\n(?:    [^\n]*\n)*?    job_state = (.+)\n)",
                    "R"},
                   {Read::joined, R"(Job Id: {number}\[10\]\.\S+\n(?:    [^\n]*\n)*?    exec_host = (.+)\n)",
                    ".+"},
                   {Read::none, R"(Job Id: {number}\[[235689]\])"}},
         .asks = true},
        {.what = "selects all, with subjobs",
         .command = "qselect -T",
         .facts = {{Read::text, R"(^(\S+\n\S+\n\S+\n\S+\n)$)",
                    R"({number}\[1\]\.\S+\n{number}\[4\]\.\S+\n{number}\[7\]\.\S+\n{number}\[10\]\.\S+\n)"}},
         .asks = true},
        {.what = "deletes it", .command = "qdel '{id}'"},
        {.what = "asks again",
         .command = "qstat -f -t '{id}'",
         .state = "F",
         .exit = 35,
         .facts = {{Read::errors, "(Job has finished)", ".*"}},
         .asks = true},
        {.what = "asks how it ended: subjobs that are deleted with their array count",
         .command = "qstat -xf '{id}'",
         .facts = {attribute("Exit_status", "1")},
         .asks = true},
        {.what = "takes a task of it out of the history",
         .command = "qdel -x '{number}[4]'",
         .exit = 55,
         .facts = {{Read::errors, "^(qdel: .*)\n",
                    R"(qdel: Request invalid for finished array subjob {number}\[4\]\..*)"}}},
    });
}

// The adapter for TORQUE submits jobs with qsub, and asks for them with TORQUE's library. It uses some
// options of TORQUE's qsub that OpenPBS's qsub lacks; these submissions are refused.
TEST_P(OnDemand, Torque) {
    run({
        {.what = "submits a session",
         .command =
             "GREETING=hello qsub -N session -S /bin/bash -q {queue} -A project1 -l walltime=01:00:00 -l "
             "nodes=1:ppn=2 -j oe "
             "-o {work}/output.log -v GREETING",
         .script = "true\n",
         .facts = {kId}},
        {.what = "passes arguments", .command = "qsub -F 'a b' job.sh", .exit = 2},
        {.what = "asks for an array", .command = "qsub -t 1-3 job.sh", .exit = 2},
        {.what = "names a working folder", .command = "qsub -d /tmp job.sh", .exit = 2},
        {.what = "asks for processors",
         .command = "qsub -l procs=2 job.sh",
         .exit = 187,
         .facts = {{Read::errors, "^(.*)\n", "qsub: Unknown resource Resource_List.procs"}}},
        {.what = "names a reservation",
         .command = "qsub -W x=advres:R1 job.sh",
         .exit = 154,
         .facts = {{Read::errors, "^(.*)\n", ".*"}}},
    });
}

INSTANTIATE_TEST_SUITE_P(Calls, OnDemand, kEverywhere, where_name);

}  // namespace
}  // namespace pbs::e2e
