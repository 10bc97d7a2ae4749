#include "server_plugin/host/state/select_spec.h"

#include <gtest/gtest.h>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

class SelectTest : public testing::Test {
  protected:
    void SetUp() override {
        queue_.handle = 7;
        queue_.name = "q";
        state_.server.set(*server_table().find("default_chunk"), "ncpus", "1");
        state_.server.set(*server_table().find("resources_default"), "ncpus", "1");
        node_.handle = 8;
        node_.name = "n1";
        state_.put(node_);
    }
    void ask(std::string_view resource, std::string value) {
        job_.attributes.set(*job_table().find("Resource_List"), resource, std::move(value));
    }
    std::string got(std::string_view resource) {
        return std::string(job_.attributes.text("Resource_List", resource));
    }
    int complete() {
        auto done = complete_resources(job_, queue_, state_);
        return done ? 0 : done.error().code;
    }
    int parse(std::string_view text) {
        auto chunks = parse_select(text, state_.resources);
        return chunks ? 0 : chunks.error().code;
    }

    State state_;
    Queue queue_;
    Node node_;
    Job job_;
};

TEST_F(SelectTest, ChunksAreSummed) {
    ask("select", "2:ncpus=4:mem=1gb+1:mem=512mb");
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("ncpus"), "9");
    EXPECT_EQ(got("mem"), "2560mb");
    EXPECT_EQ(got("nodect"), "3");
    EXPECT_EQ(got("place"), "free");
    EXPECT_EQ(job_.attributes.text("schedselect"), "2:ncpus=4:mem=1gb+1:mem=512mb:ncpus=1");
}

TEST_F(SelectTest, WithoutSelectThereIsOneChunk) {
    ask("mem", "2gb");
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("select"), "1:mem=2gb:ncpus=1");
    EXPECT_EQ(got("place"), "pack");
    EXPECT_EQ(got("ncpus"), "1");
    EXPECT_EQ(got("nodect"), "1");
}

TEST_F(SelectTest, SumsOfSizesHaveTheSmallestUnit) {
    for (const auto& [select, sum] :
         {std::pair("2:mem=1gb", "2gb"), std::pair("2:mem=1gb+1:mem=512mb", "2560mb"),
          std::pair("1:mem=2048kb+1:mem=1gb", "1050624kb"), std::pair("1024:mem=1mb", "1024mb"),
          std::pair("3:mem=1024", "3072b"), std::pair("2:mem=2w", "32b"), std::pair("1:mem=0", "0b")}) {
        ask("select", select);
        EXPECT_EQ(complete(), 0) << select;
        EXPECT_EQ(got("mem"), sum) << select;
    }
}

TEST_F(SelectTest, NodesIsTheOlderForm) {
    ask("nodes", "2:ppn=4+n1");
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("select"), "2:ncpus=4:mpiprocs=4+1:ncpus=1:vnode=n1");
    EXPECT_EQ(got("place"), "scatter");
    EXPECT_EQ(got("ncpus"), "9");
    ask("nodes", "2:cpp=3");
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("select"), "2:ncpus=3");
    for (const char* bad : {"2:colour", "2:ppn=", "2:ppn=0", "2:ppn=x", "n1#excl+2", "2#all"}) {
        ask("nodes", bad);
        EXPECT_EQ(complete(), PBSE_BADNODESPEC) << bad;
    }
    for (const auto& [nodes, place] :
         {std::pair("2#excl", "scatter:excl"), std::pair("2:ppn=2#excl", "scatter:excl"),
          std::pair("2#shared", "free"), std::pair("2", "scatter")}) {
        ask("nodes", nodes);
        EXPECT_EQ(complete(), 0) << nodes;
        EXPECT_EQ(got("place"), place) << nodes;
        EXPECT_EQ(got("nodect"), "2") << nodes;
    }
}

TEST_F(SelectTest, FaultsHaveTheirCodes) {
    EXPECT_EQ(parse("1:ncpus=2"), 0);
    EXPECT_EQ(parse("ncpus=2"), 0);
    EXPECT_EQ(parse("0:ncpus=2"), PBSE_BADATVAL);
    EXPECT_EQ(parse("2:foo=2"), PBSE_UNKRESC);
    EXPECT_EQ(parse("2:walltime=5"), PBSE_INVALSELECTRESC);
    EXPECT_EQ(parse("2:ncpus=1:ncpus=2"), PBSE_DUPRESC);
    EXPECT_EQ(parse("2:ncpus"), PBSE_BADATVAL);
    EXPECT_EQ(parse("2:ncpus=x"), PBSE_BADATVAL);
    EXPECT_EQ(parse(""), PBSE_BADATVAL);
    EXPECT_EQ(parse("99999999999:ncpus=1"), PBSE_BADATVAL);
    EXPECT_EQ(parse("1:ncpus=-1"), PBSE_BADATVAL);
}

TEST_F(SelectTest, SumsThatAreTooLargeStayLarge) {
    ask("select", "100000:ncpus=9223372036854775807");
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("ncpus"), "9223372036854775807");
}

TEST_F(SelectTest, ProcessesAreBounded) {
    ask("select", "2:ncpus=1:mpiprocs=50000");
    EXPECT_EQ(complete(), 0);
    for (const char* select : {"1:ncpus=1:mpiprocs=2000000000", "2:mpiprocs=50001", "100001:ncpus=1"}) {
        ask("select", select);
        EXPECT_EQ(complete(), PBSE_BADATVAL) << select;
    }
}

TEST_F(SelectTest, PlaceIsWhatPbsKnows) {
    const auto place = [&](const char* text) {
        job_ = {};
        ask("select", "1");
        ask("place", text);
        return complete();
    };
    for (const char* text : {"free", "scatter:exclhost", "excl", "group=host", "pack:excl:group=vnode"})
        EXPECT_EQ(place(text), 0) << text;
    for (const char* text : {"", "foo", "free:foo", "excl:shared", "pack:free", "group=", "free:"})
        EXPECT_EQ(place(text), PBSE_BADATVAL) << text;
    EXPECT_EQ(place("group=nothing"), PBSE_UNKRESC);
}

TEST_F(SelectTest, JobWideAndChunkRequestsDoNotMix) {
    ask("select", "1:ncpus=2");
    ask("mem", "1gb");
    EXPECT_EQ(complete(), PBSE_INVALJOBRESC);
    job_ = {};
    ask("place", "scatter");
    EXPECT_EQ(complete(), PBSE_PLACENOSELECT);
    job_ = {};
    ask("select", "1");
    ask("nodes", "1");
    EXPECT_EQ(complete(), PBSE_INVALNODEPLACE);
}

TEST_F(SelectTest, AJobWithoutSelectMayGetAPlaceLater) {
    ask("ncpus", "4");
    EXPECT_EQ(complete(), 0);
    ask("place", "scatter");
    job_.set_defaulted("place", false);
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("place"), "scatter");
    EXPECT_EQ(got("select"), "1:ncpus=4");
}

TEST_F(SelectTest, DefaultsFollowTheQueue) {
    queue_.attributes.set(*queue_table().find("resources_default"), "walltime", "01:00:00");
    queue_.attributes.set(*queue_table().find("resources_max"), "cput", "05:00:00");
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("walltime"), "01:00:00");
    EXPECT_EQ(got("cput"), "05:00:00");
    Queue other;
    other.name = "other";
    queue_ = other;
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("walltime"), "");
    EXPECT_EQ(got("cput"), "");
    EXPECT_EQ(got("ncpus"), "1");
}

TEST_F(SelectTest, AMaximumIsADefaultButForChunks) {
    const AttributeDef& maximum = *queue_table().find("resources_max");
    for (const auto& [resource, value] : {std::pair("nodes", "4"), std::pair("select", "2:ncpus=2"),
                                          std::pair("place", "free"), std::pair("software", "abc")})
        queue_.attributes.set(maximum, resource, value);
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("nodes"), "");
    EXPECT_EQ(got("select"), "1:ncpus=1");
    EXPECT_EQ(got("place"), "pack");
    EXPECT_EQ(got("software"), "abc");
}

TEST_F(SelectTest, WhatTheUserAskedForStays) {
    queue_.attributes.set(*queue_table().find("resources_default"), "walltime", "01:00:00");
    ask("walltime", "00:10:00");
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("walltime"), "00:10:00");
    EXPECT_EQ(complete(), 0);
    EXPECT_EQ(got("walltime"), "00:10:00");
}

}  // namespace
}  // namespace pbs::host
