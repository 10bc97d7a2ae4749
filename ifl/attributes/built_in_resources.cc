#include "ifl/attributes/built_in_resources.h"

#include <algorithm>
#include <array>

namespace pbs::ifl {
namespace {

using enum AttributeType;

// `ssinodes` (a pair of CPUs with its memory bank) and `hpm` come from Origin systems.
constexpr auto kBuiltIn = std::to_array<BuiltInResource>({
    {"cput", duration, "m"},
    {"mem", size, "hqnm"},
    {"walltime", duration, "m"},
    {"min_walltime", duration, ""},
    {"max_walltime", duration, ""},
    {"ncpus", integer, "hqnm"},
    {"naccelerators", integer, "hqnm"},
    {"select", text, ""},
    {"place", text, "m"},
    {"nodes", text, ""},
    {"nodect", integer, "qr"},
    {"arch", text, "hm"},
    {"mpiprocs", integer, "hq"},
    {"ompthreads", integer, "h"},
    {"file", size, "m"},
    {"pmem", size, "m"},
    {"vmem", size, "hqnm"},
    {"pvmem", size, "m"},
    {"nice", integer, "m"},
    {"pcput", duration, "m"},
    {"hpm", integer, "qm"},
    {"ssinodes", integer, "hqnm"},
    {"host", text, "h"},
    {"vnode", text, "h"},
    {"software", text, ""},
    {"site", text, "m"},
    {"deadline", text, "", true},
    {"job_shares", integer, "", true},
    {"override_tickets", integer, "r", true},
    {"select_range", text, "", true},
    {"chunk_order", text, "", true},
    {"per_host", integer, "", true},
    {"prefer", text, "", true},
    {"start_within", integer, "", true},
    {"load_avg", real, "h", true},
});

}  // namespace

std::span<const BuiltInResource> built_in_resources() {
    return kBuiltIn;
}

const BuiltInResource* find_built_in_resource(std::string_view name) {
    const auto found =
        std::ranges::find_if(kBuiltIn, [&](const BuiltInResource& row) { return same_name(row.name, name); });
    return found == kBuiltIn.end() ? nullptr : &*found;
}

}  // namespace pbs::ifl
