// What migrations have made, so that a repeated one takes back what the files no longer say.
//
// Kept as text beside the objects (Store::meta, kLedgerKey), a line for each value, its fields parted by
// tabs:
//
//     part type object attribute value
//
// A line without attribute and value: the object itself was made by a migration. Of the lists that a
// migration adds to (non_work_days) each element has its line.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "objects/schema.h"

namespace pbs::migrate {

// The parts of a configuration, by the files that they come from. A migration of some files takes back only
// what is of their parts.
enum class Part {
    options,         // of an Origin configuration or sched_config
    holidays,        // of either scheduler
    dedicated_time,  // of PBS or TORQUE
    resource_group,
    server,       // of qmgr's print server
    formula,      // of sched_formula
    resourcedef,  // of PBS's server
};

struct LedgerLine {
    Part part = Part::options;
    objects::ObjectType type = objects::ObjectType::policy;
    std::string object;     // empty for the server
    std::string attribute;  // empty: the object itself
    std::string value;      // canonical text
    friend bool operator==(const LedgerLine&, const LedgerLine&) = default;
};

struct Ledger {
    std::vector<LedgerLine> lines;

    // Is this there, of whatever part? Values don't count.
    bool has(objects::ObjectType type, std::string_view object, std::string_view attribute) const;
    // And with this value?
    bool has(objects::ObjectType type, std::string_view object, std::string_view attribute,
             std::string_view value) const;
};

// The attribute of a resource, in a ledger, that says that the option resources of sched_config named it.
inline constexpr const char* kChecked = "checked";

// The resources with that attribute.
std::vector<std::string> checked_resources(const Ledger& ledger);

// The key of Store::meta.
inline constexpr std::string_view kLedgerKey = "migrated";

std::string to_text(const Ledger& ledger);
// Lines that make no sense, such as those of a later version, are left out.
Ledger ledger_from_text(std::string_view text);

}  // namespace pbs::migrate
