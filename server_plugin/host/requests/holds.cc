#include "server_plugin/host/requests/holds.h"

#include "ifl/pbs_error.h"

namespace pbs::host {

Result<void> may_change_holds(const Identity& who, std::string_view types) {
    if (types.find('o') != std::string_view::npos && !who.operator_()) return fail(PBSE_PERM);
    if (types.find_first_of("sp") != std::string_view::npos && !who.manager()) return fail(PBSE_PERM);
    return {};
}

Result<ifl::Attribute> hold_change(const Context& context, const ifl::Attributes& attributes, ifl::Op op) {
    ifl::Attribute change;
    change.name = "Hold_Types";
    change.value = "u";
    change.op = op;
    for (const ifl::Attribute& attribute : attributes)
        if (same_name(attribute.name, "Hold_Types") && !attribute.value.empty())
            change.value = attribute.value;
    auto types = canonical(Type::hold, change.value);
    if (!types) return tl::unexpected(types.error());
    if (auto ok = may_change_holds(context.who, *types); !ok) return tl::unexpected(ok.error());
    change.value = *types;
    return change;
}

}  // namespace pbs::host
