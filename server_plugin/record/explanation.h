// The answers of pbs_statexplanation() and pbs_asks() (ifl/pbs_ifl.h): an explanation as the objects of a
// reply.
#pragma once

#include <string>
#include <vector>

#include "server_plugin/scheduler/scheduler.h"

namespace pbs::record {

struct ExplainedObject {
    struct Attribute {
        std::string name;
        std::string value;
        std::string resource{};
    };
    std::string name;
    std::vector<Attribute> attributes{};
};

// Returns an object for the job, and one for each queue that answers.
std::vector<ExplainedObject> explained_objects(const sched::Explanation& found);

}  // namespace pbs::record
