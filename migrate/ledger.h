// The ledger has the objects and values that migrations have made, so that a repeated migration can take back
// those that are no longer in the files.
//
// It is kept as text beside the objects (Store::meta, kLedgerKey), with a line for each value and tabs
// between the fields:
//
//     part type object attribute value
//
// A line without attribute and value records the object itself. A list that a migration adds to
// (non_work_days) has a line for each element.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "objects/schema.h"

namespace pbs::migrate {

// Parts of a configuration, by the files that they come from. A migration takes back only values of the parts
// whose files it reads.
enum class Part {
    options,         // an Origin scheduler's configuration, or sched_config
    holidays,        // the file holidays, of either scheduler
    dedicated_time,  // dedicated_time of PBS or TORQUE
    resource_group,
    server,       // qmgr's print server
    formula,      // sched_formula
    resourcedef,  // resourcedef of PBS's server
    grid_engine,  // a folder of Grid Engine
};

struct LedgerLine {
    Part part = Part::options;
    objects::ObjectType type = objects::ObjectType::policy;
    std::string object;     // empty: the server
    std::string attribute;  // empty: the object itself was made
    std::string value;      // in canonical form
    friend bool operator==(const LedgerLine&, const LedgerLine&) = default;
};

struct Ledger {
    std::vector<LedgerLine> lines;

    // Returns whether the ledger has this attribute, of any part and with any value.
    bool has(objects::ObjectType type, std::string_view object, std::string_view attribute) const;
    // Returns whether the ledger has this attribute with this value.
    bool has(objects::ObjectType type, std::string_view object, std::string_view attribute,
             std::string_view value) const;
};

// An attribute that resources have in ledgers only. It says that the option `resources` of sched_config named
// the resource.
inline constexpr const char* kChecked = "checked";

// Returns the resources that have the attribute kChecked.
std::vector<std::string> checked_resources(const Ledger& ledger);

// Key of Store::meta for the ledger.
inline constexpr std::string_view kLedgerKey = "migrated";

std::string to_text(const Ledger& ledger);
// Reads a ledger. Malformed lines, such as those of a later version, are skipped.
Ledger ledger_from_text(std::string_view text);

}  // namespace pbs::migrate
