// Tests Snakemake, if it is installed: it submits jobs with qsub, asks for them with a script that calls
// qstat, and deletes them with qdel when it is interrupted.
#include "tests/tools_on_top/calls.h"

namespace pbs::e2e {
namespace {

class Snakemake : public ToolOnTop {
  protected:
    void SetUp() override {
        if (const std::string why = not_installed("snakemake"); !why.empty()) GTEST_SKIP() << why;
        ToolOnTop::SetUp();
    }
};

const char* const kFiles = R"sh(cat > Snakefile <<'END'
rule sum:
    input: "part1", "part2"
    output: "sum"
    shell: "cat {input} > {output}"
rule part:
    output: "part{n}"
    threads: 2
    resources: mem_mb=64
    shell: "echo $PBS_QUEUE > {output}"
rule failing:
    output: "never"
    shell: "exit 4"
rule long:
    output: "late"
    shell: "sleep 1000"
END
cat > status <<'END'
#!/bin/bash
qstat -x -f "$1" > of.$1
case $(sed -n 's/^ *job_state = //p' of.$1) in
    F) [ "$(sed -n 's/^ *Exit_status = //p' of.$1)" = 0 ] && echo success || echo failed ;;
    *) echo running ;;
esac
END
cat > make <<'END'
export XDG_CACHE_HOME={work}
exec /usr/bin/snakemake --nolock -j 4 --latency-wait 30 --max-status-checks-per-second 10 \
    --cluster 'qsub -S /bin/bash -q {queue} -l select=1:ncpus={threads} -j oe -o {work} -v XDG_CACHE_HOME={work}' \
    --cluster-status ./status --cluster-cancel qdel "$@"
END
chmod +x status make
)sh";

TEST_P(Snakemake, RunsItsJobs) {
    run({
        {.what = "makes a workflow", .command = kFiles},
        {.what = "runs it",
         .command = "./make sum >said 2>&1 || { cat said *.OU; exit 1; }; cat sum",
         .facts = {{Read::text, R"(^(\S+)\n\S+\n$)", "{queue}"}}},
        {.what = "each rule was a job that asked for its processors",
         .command = "for id in $(qselect -x); do qstat -xf $id | grep -e Job_Name -e List.ncpus; done | sort "
                    "| uniq -c | xargs",
         .facts =
             {{Read::text, "^(.*)\n$",
               R"(1 Job_Name = snakejob\.part\.\d\.sh 1 Job_Name = snakejob\.part\.\d\.sh )"
               R"(1 Job_Name = snakejob\.sum\.\d\.sh 1 Resource_List\.ncpus = 1 2 Resource_List\.ncpus = 2)"}}},
    });
}

TEST_P(Snakemake, SeesThatAJobFailed) {
    run({
        {.what = "makes a workflow", .command = kFiles},
        {.what = "runs what fails",
         .command = "./make failing",
         .exit = 1,
         .facts = {{Read::errors, "(Error in rule failing)", ".*"},
                   {Read::errors, R"(cluster_jobid: (\S+))", ".*", "id"}}},
        {.what = "the job failed as it says",
         .command = "qstat -xf {id}",
         .state = "F",
         .facts = {{Read::text, "Exit_status = (.*)\n", "[1-9].*"}}},
    });
}

TEST_P(Snakemake, DeletesItsJobsWhenInterrupted) {
    run({
        {.what = "makes a workflow", .command = kFiles},
        {.what = "is interrupted while its job runs",
         .command = R"(set -m
./make late >said 2>&1 &
until qselect -s R | grep .; do sleep 0.1; done
kill -INT %1
wait %1)",
         .exit = 1,
         .facts = {kId}},
        {.what = "the job was deleted",
         .command = "qstat -xf {id}",
         .state = "F",
         .facts = {{Read::text, "Exit_status = (.*)\n", "271|265|-.*"}}},
    });
}

INSTANTIATE_TEST_SUITE_P(Program, Snakemake, kEverywhere, where_name);

}  // namespace
}  // namespace pbs::e2e
