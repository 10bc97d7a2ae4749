#include "server_plugin/host/state/shared_text.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>

namespace pbs::host {

SharedText::SharedText(const void* kind, std::string_view name, std::string_view text) {
    const std::size_t size = name.size() + text.size();
    if (size == 0 && kind == nullptr) return;
    if (size > std::numeric_limits<uint32_t>::max()) throw std::length_error("a text of 4 GB");
    block_ = new (::operator new(std::max(sizeof(Block), kBytes + size)))
        Block{kind, 1, static_cast<uint32_t>(size), static_cast<uint32_t>(name.size())};
    std::ranges::copy(name, bytes());
    std::ranges::copy(text, bytes() + name.size());
}

void SharedText::release() {
    if (block_ != nullptr && --block_->owners == 0) ::operator delete(block_);
}

SharedText& SharedTexts::place_of(const void* kind, std::string_view name, std::string_view text) {
    const std::hash<std::string_view> hash;
    return known_[((std::hash<const void*>()(kind) / alignof(void*)) * 961 + hash(name) * 31 + hash(text)) %
                  kSlots];
}

void SharedTexts::remember(SharedText& known, const SharedText& text) {
    const std::size_t size = text.whole().size();
    // When the texts have too many bytes in all, forget them, so that long texts without another owner don't
    // stay for ever.
    if (bytes_ + size > kMostBytes) {
        std::ranges::fill(known_, SharedText());
        bytes_ = 0;
    }
    bytes_ += size - known.whole().size();
    known = text;
}

void SharedTexts::share(SharedText& text) {
    // A text with several owners is a copy, and so shares its memory already.
    if (text.block_ == nullptr || text.block_->owners > 1) return;
    SharedText& known = place_of(text.kind(), text.name(), text.text());
    if (known == text)
        text = known;
    else
        remember(known, text);
}

SharedText SharedTexts::of(const void* kind, std::string_view name, std::string_view text) {
    SharedText& known = place_of(kind, name, text);
    if (known.kind() == kind && known.name() == name && known.text() == text) return known;
    SharedText fresh(kind, name, text);
    remember(known, fresh);
    return fresh;
}

}  // namespace pbs::host
