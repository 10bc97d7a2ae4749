#include "server_plugin/host/shared_text.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>

namespace pbs::host {

SharedText::SharedText(std::string_view name, std::string_view text) {
    const std::size_t size = name.size() + text.size();
    if (size == 0) return;
    if (size > std::numeric_limits<uint32_t>::max()) throw std::length_error("a text of 4 GB");
    block_ = new (::operator new(sizeof(Block) + size))
        Block{1, static_cast<uint32_t>(size), static_cast<uint32_t>(name.size())};
    std::ranges::copy(name, bytes());
    std::ranges::copy(text, bytes() + name.size());
}

void SharedText::release() {
    if (block_ != nullptr && --block_->owners == 0) ::operator delete(block_);
}

void SharedTexts::share(SharedText& text) {
    const std::string_view whole = text.whole();
    // One that has other owners came from a copy: it is shared already.
    if (whole.empty() || text.block_->owners > 1) return;
    SharedText& known = known_[std::hash<std::string_view>()(whole) % kSlots];
    if (known == text) {
        text = known;
        return;
    }
    // Long ones that nobody has any more don't stay for ever.
    if (bytes_ + whole.size() > kMostBytes) {
        std::ranges::fill(known_, SharedText());
        bytes_ = 0;
    }
    bytes_ += whole.size() - known.whole().size();
    known = text;
}

}  // namespace pbs::host
