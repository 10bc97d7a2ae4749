// Tests jobs, read from their attributes as servers describe them, and the texts in these.
#include "cluster/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace pbs::cluster {
namespace {

Job described(const std::vector<ifl::AttributeView>& attributes, std::string_view id = "12.box") {
    return job_of(id, attributes, 100);
}

TEST(Job, IsReadFromItsDescription) {
    const Job job = described(
        {{"Job_Owner", {}, "una@box.example"},
         {"egroup", {}, "users"},
         {"queue", {}, "workq"},
         {"job_state", {}, "R"},
         {"substate", {}, "42"},
         {"Priority", {}, "-3"},
         {"Rerunable", {}, "False"},
         {"Variable_List", {}, "A=PBS_O_QUEUE=no\\,PBS_O_QUEUE=no,PBS_O_QUEUE=submit,PBS_O_HOST=box"},
         {"qtime", {}, "1700000000"},
         {"Resource_List", "walltime", "01:00:00"},
         {"Resource_List", "ncpus", "3"},
         {"schedselect", {}, "1:ncpus=3"},
         {"exec_vnode", {}, "(box:ncpus=3)"}});
    EXPECT_EQ(job.owner, "una");
    EXPECT_EQ(job.group, "users");
    EXPECT_EQ(job.origin_queue, "submit");
    EXPECT_EQ(job.priority, -3);
    EXPECT_FALSE(job.rerunnable);
    EXPECT_EQ(job.qtime, 1700000000);
    EXPECT_EQ(job.requested.at("walltime"), "01:00:00");
    EXPECT_EQ(job.chunks, "1:ncpus=3");
    EXPECT_TRUE(job.runs());
}

TEST(Job, HoldsVnodesWhileItsFilesAreStagedIn) {
    EXPECT_TRUE(
        described({{"job_state", {}, "Q"}, {"substate", {}, "15"}, {"exec_vnode", {}, "(box:ncpus=1)"}})
            .runs());
    EXPECT_FALSE(
        described({{"job_state", {}, "Q"}, {"substate", {}, "10"}, {"exec_vnode", {}, "(box:ncpus=1)"}})
            .runs());
    EXPECT_FALSE(described({{"job_state", {}, "H"}}).runs());
    EXPECT_TRUE(described({{"job_state", {}, "E"}, {"substate", {}, "50"}}).runs());
}

TEST(Job, ASoftWalltimeIsExtendedByAsMuchUpToTheWalltime) {
    Job job = described({{"job_state", {}, "R"},
                         {"stime", {}, "1000"},
                         {"Resource_List", "walltime", "00:02:00"},
                         {"Resource_List", "soft_walltime", "00:00:50"}});
    EXPECT_EQ(job.soft_walltime(1050), 50);
    EXPECT_FALSE(job.is_extended(1050));
    EXPECT_EQ(job.soft_walltime(1051), 100);
    EXPECT_TRUE(job.is_extended(1051));
    EXPECT_EQ(job.soft_walltime(1100), 120) << "and no further";
    job.requested.erase("walltime");
    EXPECT_EQ(job.soft_walltime(1260), 300);
    job.state = 'Q';
    EXPECT_EQ(job.soft_walltime(1260), 50);
    job.requested.erase("soft_walltime");
    EXPECT_EQ(job.soft_walltime(1260), 0);
}

TEST(Job, ThatMayDoWithLessAsksForTheMostUntilItRuns) {
    Job job = described({{"job_state", {}, "Q"}, {"Resource_List", "walltime", "00:02:00"}});
    EXPECT_EQ(job.walltime(), 120);
    job.requested["min_walltime"] = "00:01:00";
    EXPECT_EQ(job.walltime(), 5 * 365 * 24 * 3600);
    job.requested["max_walltime"] = "01:00:00";
    EXPECT_EQ(job.walltime(), 3600);
    job.state = 'R';
    EXPECT_EQ(job.walltime(), 120) << "what it was given";
    job.requested.erase("walltime");
    EXPECT_EQ(job.walltime(), -1);
}

TEST(Job, CommentsAndWhatHasBeenUsedAreNoNews) {
    const Job job = described({{"job_state", {}, "R"}, {"comment", {}, "a"}, {"mtime", {}, "1"}});
    EXPECT_TRUE(job.is_like(described({{"job_state", {}, "R"},
                                       {"comment", {}, "b"},
                                       {"mtime", {}, "2"},
                                       {"resources_used", "cput", "00:00:01"}})));
    EXPECT_FALSE(job.is_like(described({{"job_state", {}, "Q"}, {"comment", {}, "a"}, {"mtime", {}, "1"}})));
    EXPECT_FALSE(job.is_like(
        described({{"job_state", {}, "R"}, {"comment", {}, "a"}, {"Resource_List", "ncpus", "2"}})));
}

TEST(Job, IndicesOfAnArrayAreTakenOneByOne) {
    const Job array = described(
        {{"job_state", {}, "B"}, {"array", {}, "True"}, {"array_indices_remaining", {}, "3-7:2,12"}},
        "9[].box");
    std::string left = array.queued;
    std::vector<std::string> indices;
    while (!left.empty()) {
        indices.push_back(first_index(left));
        left = without_index(left, std::stoll(indices.back()));
    }
    EXPECT_THAT(indices, ::testing::ElementsAre("3", "5", "7", "12"));
    EXPECT_EQ(without_index("1-3", 1), "2-3");
    EXPECT_EQ(without_index("2-3", 2), "3");
    EXPECT_EQ(without_index("1-9:2,12", 5), "1-3:2,7-9:2,12");
    EXPECT_EQ(without_index("1-9:2,12", 9), "1-7:2,12");
    EXPECT_EQ(without_index("1-9:2,12", 12), "1-9:2");
    EXPECT_EQ(without_index("1-9:2,12", 4), "1-9:2,12");
    EXPECT_EQ(described({{"array", {}, "True"}, {"array_indices_remaining", {}, "-"}}).queued, "");
    EXPECT_FALSE(array.runs());
}

TEST(Job, IndicesOfAnArrayAreFound) {
    const auto found = [](std::string_view indices) {
        std::string all;
        for (int index = 0; index < 10; ++index)
            if (has_index(indices, index)) all += std::to_string(index);
        return all;
    };
    EXPECT_EQ(found("1-3"), "123");
    EXPECT_EQ(found("0,4-8:2,9"), "04689");
    EXPECT_EQ(found("7"), "7");
    EXPECT_EQ(found(""), "");
    EXPECT_EQ(found("-"), "");
}

TEST(Job, IdsOfSubjobs) {
    EXPECT_EQ(subjob_id("9[].box", "3"), "9[3].box");
    EXPECT_EQ(array_of("9[3].box"), "9[].box");
    EXPECT_EQ(array_of("9[].box"), "");
    EXPECT_EQ(array_of("9.box"), "");
    EXPECT_EQ(number_in("9[3].box"), 9U);
}

}  // namespace
}  // namespace pbs::cluster
