// Replaces the library of absl's hash tables. Debian's static library can be linked into programs only: a
// thread-local counter in it keeps it out of shared objects. This file has its other symbols, as in
// raw_hash_set.cc of absl 20220623 (Apache-2.0).
#include <absl/container/internal/raw_hash_set.h>

#include <cstdlib>
#include <cstring>

namespace absl {
ABSL_NAMESPACE_BEGIN
namespace container_internal {

alignas(16) ABSL_CONST_INIT ABSL_DLL const ctrl_t kEmptyGroup[16] = {
    ctrl_t::kSentinel, ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty,
    ctrl_t::kEmpty,    ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty,
    ctrl_t::kEmpty,    ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty};

template FindInfo find_first_non_full(const ctrl_t*, size_t, size_t);

void ConvertDeletedToEmptyAndFullToDeleted(ctrl_t* ctrl, size_t capacity) {
    for (ctrl_t* at = ctrl; at < ctrl + capacity; at += Group::kWidth)
        Group{at}.ConvertSpecialToEmptyAndFullToDeleted(at);
    std::memcpy(ctrl + capacity + 1, ctrl, NumClonedBytes());
    ctrl[capacity] = ctrl_t::kSentinel;
}

// Later packages of Debian 12 have this function: a table that no memory could hold ends the program.
[[noreturn]] void HashTableSizeOverflow();
void HashTableSizeOverflow() {
    std::abort();
}

}  // namespace container_internal
ABSL_NAMESPACE_END
}  // namespace absl
