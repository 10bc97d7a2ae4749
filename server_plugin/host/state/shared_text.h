// Immutable texts whose copies share memory, so that a text that many jobs have is in memory only once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pbs::host {

// A name and a text in one piece of memory; both may be empty. The piece also has a pointer to the kind of
// the text, such as the attribute whose value it is, so that lists of texts need no room for it. Not
// thread-safe: owners are counted without locks.
class SharedText {
  public:
    SharedText() = default;  // name and text are empty
    explicit SharedText(std::string_view text) : SharedText({}, text) {}
    SharedText(std::string_view name, std::string_view text) : SharedText(nullptr, name, text) {}
    SharedText(const void* kind, std::string_view name, std::string_view text);
    SharedText(const SharedText& other) noexcept : block_(other.block_) {
        if (block_ != nullptr) ++block_->owners;
    }
    SharedText(SharedText&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    SharedText& operator=(SharedText other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~SharedText() { release(); }

    // The kind; null: none was given.
    const void* kind() const { return block_ == nullptr ? nullptr : block_->kind; }
    std::string_view name() const {
        return block_ == nullptr ? std::string_view() : std::string_view(bytes(), block_->name);
    }
    std::string_view text() const {
        return block_ == nullptr ? std::string_view()
                                 : std::string_view(bytes() + block_->name, block_->size - block_->name);
    }
    // Returns the name directly followed by the text.
    std::string_view whole() const {
        return block_ == nullptr ? std::string_view() : std::string_view(bytes(), block_->size);
    }
    bool empty() const { return text().empty(); }
    bool operator==(const SharedText& other) const {
        return block_ == other.block_ ||
               (kind() == other.kind() && name() == other.name() && text() == other.text());
    }
    // Returns whether this text and `other` use the same memory.
    bool shares(const SharedText& other) const { return block_ == other.block_; }

  private:
    friend class SharedTexts;
    struct Block {
        const void* kind;
        uint32_t owners;
        uint32_t size;  // bytes of name and text
        uint32_t name;
    };
    // The bytes begin right behind the last member, in the block's padding.
    static constexpr std::size_t kBytes = sizeof(const void*) + 3 * sizeof(uint32_t);
    char* bytes() const { return reinterpret_cast<char*>(block_) + kBytes; }
    void release();

    Block* block_ = nullptr;
};

// Remembers recent texts, so that an equal text that follows soon shares their memory. An equal text that
// comes when the earlier one is forgotten has memory of its own.
class SharedTexts {
  public:
    // Replaces the text by an equal remembered one, or remembers it.
    void share(SharedText& text);
    // Returns an equal remembered text, or makes one.
    SharedText of(std::string_view name, std::string_view text) { return of(nullptr, name, text); }
    SharedText of(const void* kind, std::string_view name, std::string_view text);

  private:
    SharedText& place_of(const void* kind, std::string_view name, std::string_view text);
    void remember(SharedText& known, const SharedText& text);

    static constexpr std::size_t kSlots = 4096;
    static constexpr std::size_t kMostBytes = std::size_t{4} << 20;
    std::vector<SharedText> known_{kSlots};  // indexed by the hash
    std::size_t bytes_ = 0;
};

}  // namespace pbs::host
