// Fuzz target of attribute values, selects and exec_vnodes that clients send: the server must refuse the
// input, or read a value that is written and read back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/select_spec.h"

namespace {

using pbs::host::Type;

const pbs::host::State& state() {
    static const pbs::host::State one = [] {
        pbs::host::State made;
        pbs::host::Node node;
        node.handle = 1;
        node.name = "n1";
        made.put(node);
        return made;
    }();
    return one;
}

void check_value(Type type, std::string_view text) {
    const auto value = pbs::host::canonical(type, text);
    if (!value) return;
    (void)pbs::host::amount_of(type, *value);
    const auto again = pbs::host::canonical(type, *value);
    if (!again || *again != *value) std::abort();
}

void check_select(std::string_view text) {
    const auto chunks = pbs::host::parse_select(text, state().resources);
    if (!chunks) return;
    const std::string written = pbs::host::select_text(*chunks);
    // Allow one difference: a value with a quoted ':' or '+' is written without quotation marks. When the
    // text is read again, the value ends at this character.
    const auto again = pbs::host::parse_select(written, state().resources);
    if (again && pbs::host::select_text(*again) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (Type type :
         {Type::integer, Type::size, Type::duration, Type::boolean, Type::list, Type::acl, Type::hold})
        check_value(type, text);
    check_select(text);
    (void)pbs::host::parse_nodes(text, state());
    const auto places = pbs::host::parse_exec_vnode(text, state());
    if (places) {
        const std::string written = pbs::host::exec_vnode_text(*places, state().resources);
        const auto again = pbs::host::parse_exec_vnode(written, state());
        if (!again || pbs::host::exec_vnode_text(*again, state().resources) != written) std::abort();
    }
    return 0;
}
