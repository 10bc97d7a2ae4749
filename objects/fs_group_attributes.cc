// The table of an fs_group's attributes: that of PP-748, interface 4, with two corrections. The row `entitiy`
// is the attribute entity, and decay_factor, an integer there with the default .5, is a real. Defaults are in
// canonical text, so .5 is 0.5.

#include "objects/attribute_tables.h"

namespace pbs::objects {
namespace {

using T = AttributeType;
using S = Syntax;

constexpr Attribute kFsGroupTable[] = {
    {"tree_element", T::string_array, S::tree_elements, "", plain,
     "The fairshare tree: each element an entity or group, its parent and its shares, as in group01:root=30; "
     "the parent is root or another element",
     "set fs_group f1 tree_element = [ group01:root = 30 ]"},
    {"usage_formula", T::string, S::formula, "", plain,
     "What a job adds to the usage of its entity: an expression over resources and fs_factor; cput if not "
     "set",
     "set fs_group f1 usage_formula = \"ncpus*walltime\""},
    {"entity",
     T::string,
     S::word,
     "euser",
     plain,
     "What of a job is looked up in the tree",
     "set fs_group f1 entity = queue",
     {"euser", "egroup", "Account_Name", "queue", "egroup:euser"}},
    {"decay_time",
     T::duration,
     S::duration,
     "24:00:00",
     plain,
     "How often usage is multiplied by decay_factor",
     "set fs_group f1 decay_time = 06:00:00",
     {},
     1},
    {"decay_factor",
     T::real,
     S::real,
     "0.5",
     plain,
     "What usage is multiplied by every decay_time",
     "set fs_group f1 decay_factor = .8",
     {},
     0,
     1},
    {"half_life",
     T::duration,
     S::duration,
     "",
     plain,
     "The time in which usage decays to its half, minute by minute; it takes the place of decay_time and "
     "decay_factor",
     "set fs_group f1 half_life = 168:00:00",
     {},
     60},
    {"compensation_factor",
     T::real,
     S::real,
     "5",
     plain,
     "A part of tickets_share that is larger than this multiple of the entity's share is reduced, once; 0: "
     "none is",
     "set fs_group f1 compensation_factor = 5",
     {},
     0,
     1000000},
    {"enforce_no_shares", T::boolean, S::boolean, "False", plain, "Never run jobs of entities without shares",
     "set fs_group f1 enforce_no_shares = True"},
    {"unknown_shares",
     T::integer,
     S::integer,
     "10",
     plain,
     "The shares of all entities together that aren't in the tree",
     "set fs_group f1 unknown_shares = 20",
     {},
     0,
     2147483647},
    {"comment", T::string, S::text, "", operator_sets, "A remark, for people",
     "set fs_group f1 comment=\"Big data fair share settings\""},
};

}  // namespace

std::span<const Attribute> fs_group_attributes() {
    return kFsGroupTable;
}

}  // namespace pbs::objects
