// Fuzz target of two readers. The reader of a backup's MANIFEST must refuse the input, or give a manifest
// that is written and read back the same. The reader of access lists must accept the input as an entry of a
// list.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server_plugin/host/state/identity.h"
#include "server_plugin/host/store/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace pbs::host;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto manifest = Manifest::parse(text)) {
        const auto again = Manifest::parse(manifest->text());
        if (!again || *again != *manifest) std::abort();
    }
    const std::vector<std::string> entries = {std::string(text), "-" + std::string(text)};
    for (const AclKind kind : {AclKind::user, AclKind::host, AclKind::group})
        static_cast<void>(acl_allows(entries, "user@host.example.org", kind));
    // An entry that begins with '-', and so denies, must not make anybody a manager.
    if (legal_manager_entry(text) && text.starts_with('-') &&
        acl_allows({std::string(text)}, "user@host.example.org", AclKind::user))
        std::abort();
    return 0;
}
