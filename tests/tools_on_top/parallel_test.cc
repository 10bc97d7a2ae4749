// Tests GNU parallel, if it is installed: it submits jobs, deletes them, and distributes work over a job's
// processors.
#include "tests/tools_on_top/calls.h"

namespace pbs::e2e {
namespace {

class GnuParallel : public ToolOnTop {
  protected:
    void SetUp() override {
        if (const std::string why = not_installed("parallel"); !why.empty()) GTEST_SKIP() << why;
        ToolOnTop::SetUp();
    }
};

TEST_P(GnuParallel, SubmitsAndDeletes) {
    run({
        {.what = "a job for each argument",
         .command = "parallel --will-cite -k -j 2 qsub -h -S /bin/bash -N p{#} -- /bin/echo {} ::: a b c",
         .facts = {{Read::text, R"(^(\d+)\.\S+\n\d+\.\S+\n(?:\d+)\.\S+\n$)", R"(\d+)"}}},
        {.what = "a job for each line of a list of scripts",
         .command = "parallel --will-cite -k --pipe -N1 qsub -h -S /bin/bash -j oe -N piped < list",
         .script = "echo one\necho two",
         .file = "list",
         .facts = {{Read::text, R"(^(\d+)\.\S+\n\d+\.\S+\n$)", R"(\d+)"}}},
        {.what = "their names and states",
         .command = "qselect | parallel --will-cite -k qstat -f {} | grep -e Job_Name -e job_state | xargs "
                    "-n 6 | sort | xargs",
         .facts = {{Read::text, "^(.*)\n$",
                    "Job_Name = p1 job_state = H Job_Name = p2 job_state = H Job_Name = p3 job_state = H "
                    "Job_Name = piped job_state = H Job_Name = piped job_state = H"}}},
        {.what = "deletes them all", .command = "qselect -u {user} | parallel --will-cite -m qdel"},
        {.what = "nothing is left", .command = "qselect", .facts = {{Read::none, "."}}},
    });
}

TEST_P(GnuParallel, SpreadsWorkInAJob) {
    run({
        {.what = "a job that goes to the hosts of its list, each for as many tasks as it is named",
         .command = "qsub",
         .script = R"(#!/bin/bash
#PBS -S /bin/bash
#PBS -N spread
#PBS -l select=1:ncpus=4:mpiprocs=4
#PBS -j oe
#PBS -o {work}/spread.out
cd {work}
# In the place of ssh: everything is on this machine.
cat > here <<'END'
#!/bin/bash
echo "$*" >> asked
while [ "$1" != -- ] && [ $# -gt 0 ]; do case $1 in -l) shift 2 ;; *) host=$1; shift ;; esac; done
[ "$1" = -- ] && shift
exec /bin/bash -c "$*"
END
chmod +x here
export HOME={work}
parallel --will-cite -k -j 1 --ssh ./here --sshloginfile $PBS_NODEFILE echo task {} ::: 1 2 3 4 5
parallel --will-cite -k -j $(wc -l < $PBS_NODEFILE) echo local {%} {} ::: 1 | cut -c 1-5
)",
         .facts = {kId}},
        {.what = "all was done",
         .command = "cat spread.out",
         .state = "F",
         .facts = {{Read::text, R"((task 1\ntask 2\ntask 3\ntask 4\ntask 5\nlocal)\n)",
                    "task 1\ntask 2\ntask 3\ntask 4\ntask 5\nlocal"}}},
    });
}

INSTANTIATE_TEST_SUITE_P(Program, GnuParallel, kEverywhere, where_name);

}  // namespace
}  // namespace pbs::e2e
