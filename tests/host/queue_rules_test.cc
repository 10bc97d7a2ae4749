#include "server_plugin/host/life/queue_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

// A limit on a resource, requests that pass it, and requests that it refuses, as in OpenPBS.
struct Limited {
    const char* attribute;
    const char* resource;
    const char* limit;
    std::vector<const char*> pass;
    std::vector<const char*> refused;
};

const std::vector<Limited>& limits() {
    static const std::vector<Limited> rows = {
        {"resources_max", "ncpus", "4", {"1", "4"}, {"5"}},
        {"resources_min", "ncpus", "4", {"4", "5"}, {"3"}},
        {"resources_max", "mem", "1gb", {"1048576kb", "1mb"}, {"1025mb"}},
        {"resources_min", "walltime", "00:01:00", {"00:01:00"}, {"00:00:59"}},
        // A maximum of "nodes" has no effect; a minimum is compared as text.
        {"resources_max", "nodes", "4", {"1", "4", "5", "1:ppn=2", "9999"}, {}},
        {"resources_min", "nodes", "2", {"2", "3", "2:ppn=2"}, {"1", "10"}},
        {"resources_max",
         "select",
         "2:ncpus=2",
         {"1:ncpus=4", "2:ncpus=2", "10:ncpus=1", "1"},
         {"2:ncpus=3", "3"}},
        {"resources_min", "select", "2:ncpus=2", {"2:ncpus=2", "3:ncpus=3"}, {"1:ncpus=4", "1:ncpus=1"}},
        {"resources_max", "place", "free", {"free", "excl"}, {"pack", "scatter", "free:excl"}},
        {"resources_min", "place", "free", {"free", "pack", "scatter", "free:excl"}, {"excl"}},
        {"resources_max", "software", "abc", {"abc", "abb", "ABD", "ab"}, {"abd", "b", "abcd"}},
        {"resources_min", "software", "abc", {"abc", "abd", "b"}, {"abb", "ABD"}},
        {"resources_max", "arch", "linux", {"linux", "aix"}, {"windows"}},
        // A maximum of a list refuses nothing. With a minimum, a request may have only elements of the
        // minimum.
        {"resources_max", "sa", "a,b", {"a", "b", "c", "a,b", "a,c"}, {}},
        {"resources_min", "sa", "a,b", {"a", "b", "b,a"}, {"c", "a,c"}},
        {"resources_max", "bo", "False", {"True", "False"}, {}},
        {"resources_max", "bo", "True", {"True", "False"}, {}},
        {"resources_min", "bo", "True", {"True"}, {"False"}},
        {"resources_min", "bo", "False", {"False"}, {"True"}},
    };
    return rows;
}

class LimitsOnResources : public testing::Test {
  protected:
    LimitsOnResources() {
        (void)state_.resources.add("sa", "string_array", "");
        (void)state_.resources.add("bo", "boolean", "");
        queue_.name = "q";
    }
    void set_queue(std::string_view attribute, const char* resource, std::string_view value) {
        queue_.attributes.set(*queue_table().find(attribute), resource, value);
    }
    void set_server(std::string_view attribute, const char* resource, std::string_view value) {
        state_.server.set(*server_table().find(attribute), resource, value);
    }
    int asks(const char* resource, const char* value) const {
        Job job;
        job.attributes.set(*job_table().find("Resource_List"), resource, value);
        const auto within = within_limits(job, queue_, state_);
        return within ? 0 : within.error().code;
    }

    State state_;
    Queue queue_;
};

TEST_F(LimitsOnResources, CompareAsInOpenPBS) {
    for (const Limited& row : limits()) {
        queue_.attributes = {};
        state_.server = {};
        const auto check = [&](const char* where) {
            for (const char* asked : row.pass)
                EXPECT_EQ(asks(row.resource, asked), 0)
                    << where << row.attribute << "." << row.resource << "=" << row.limit << ": " << asked;
            for (const char* asked : row.refused)
                EXPECT_EQ(asks(row.resource, asked), PBSE_EXCQRESC)
                    << where << row.attribute << "." << row.resource << "=" << row.limit << ": " << asked;
        };
        set_queue(row.attribute, row.resource, row.limit);
        check("queue ");
        if (std::string_view(row.attribute) == "resources_min") continue;  // a server has no resources_min
        queue_.attributes = {};
        set_server(row.attribute, row.resource, row.limit);
        check("server ");
    }
}

TEST_F(LimitsOnResources, TheQueuesComesBeforeTheServers) {
    set_queue("resources_max", "software", "m");
    set_server("resources_max", "software", "f");
    EXPECT_EQ(asks("software", "g"), 0);
    EXPECT_EQ(asks("software", "n"), PBSE_EXCQRESC);
    set_queue("resources_min", "software", "g");
    EXPECT_EQ(asks("software", "f"), PBSE_EXCQRESC);
    EXPECT_EQ(asks("software", "m"), 0);
}

}  // namespace
}  // namespace pbs::host
