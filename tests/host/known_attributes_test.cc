// The server's attribute tables and qmgr's name the same attributes, and agree on who may set them.
#include <gtest/gtest.h>

#include <optional>

#include "ifl/cmds/host_attributes.h"
#include "server_plugin/host/attributes.h"
#include "server_plugin/host/known_names.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

using cmds::HostAttribute;
using cmds::HostType;
using cmds::Setter;
using cmds::Where;

struct Tables {
    cmds::ObjectType type;
    int number;
    const AttributeTable& server;
};

void PrintTo(const Tables& tables, std::ostream* out) {
    *out << cmds::type_word(tables.type).word;
}

class KnownAttributes : public testing::TestWithParam<Tables> {};

Setter setter_of(const AttributeDef& def) {
    if ((def.flags & write_operator) != 0) return Setter::operators;
    return (def.flags & write_manager) != 0 ? Setter::managers : Setter::nobody;
}

HostType type_of(Type type) {
    switch (type) {
        case Type::integer:
            return HostType::integer;
        case Type::real:
            return HostType::real;
        case Type::size:
            return HostType::size;
        case Type::duration:
            return HostType::duration;
        case Type::boolean:
            return HostType::boolean;
        case Type::list:
            return HostType::list;
        case Type::acl:
            return HostType::acl;
        case Type::resources:
            return HostType::resources;
        default:
            return HostType::text;
    }
}

TEST_P(KnownAttributes, QmgrKnowsWhatTheServerHas) {
    for (const AttributeDef& def : GetParam().server.rows()) {
        const HostAttribute* known = cmds::find_host_attribute(GetParam().type, def.name);
        ASSERT_NE(known, nullptr) << def.name;
        EXPECT_EQ(known->name, def.name);
        EXPECT_EQ(known->where, Where::here) << def.name;
        EXPECT_EQ(known->setter, setter_of(def)) << def.name;
        EXPECT_EQ(known->type, type_of(def.type)) << def.name;
    }
}

TEST_P(KnownAttributes, QmgrKnowsWhatTheServerRefuses) {
    for (const std::string_view name : known_names(GetParam().number)) {
        const HostAttribute* known = cmds::find_host_attribute(GetParam().type, name);
        ASSERT_NE(known, nullptr) << name;
        EXPECT_EQ(known->where, Where::openpbs) << name;
    }
}

TEST_P(KnownAttributes, TheServerHasOrRefusesWhatQmgrKnows) {
    for (const HostAttribute& known : cmds::host_attributes(GetParam().type)) {
        if (known.where == Where::openpbs) {
            EXPECT_TRUE(known_but_not_here(GetParam().number, known.name)) << known.name;
        } else if (GetParam().server.find(known.name) == nullptr) {
            // What the policy plugin shows of a scheduler is only shown.
            EXPECT_EQ(GetParam().type, cmds::ObjectType::sched) << known.name;
            EXPECT_EQ(known.setter, Setter::nobody) << known.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, KnownAttributes,
                         testing::Values(Tables{cmds::ObjectType::server, PBS_OBJ_SERVER, server_table()},
                                         Tables{cmds::ObjectType::queue, PBS_OBJ_QUEUE, queue_table()},
                                         Tables{cmds::ObjectType::node, PBS_OBJ_NODE, node_table()},
                                         Tables{cmds::ObjectType::sched, PBS_OBJ_SCHED, sched_table()}));

}  // namespace
}  // namespace pbs::host
