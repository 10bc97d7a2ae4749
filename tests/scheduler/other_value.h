// A function that gives tests of all attributes a value for each.
#pragma once

#include <string>

#include "objects/schema.h"

namespace pbs::sched {

// Returns a value of the attribute that differs from its default.
inline std::string other_value(const objects::Attribute& attribute) {
    switch (attribute.syntax) {
        case objects::Syntax::boolean:
        case objects::Syntax::boolean_or_date:
            return attribute.default_value == "True" ? "False" : "True";
        case objects::Syntax::word:
            return std::string(attribute.words.back());
        case objects::Syntax::preempt_prio:
            return "starving_jobs, normal_jobs";
        default:
            break;
    }
    const std::string example(attribute.example);
    std::string value = example.substr(example.find('=') + 1);
    std::erase(value, '"');
    if (value != attribute.default_value) return value;
    return value == "1" ? "2" : "1";
}

}  // namespace pbs::sched
