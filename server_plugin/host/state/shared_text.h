// Immutable texts whose copies share memory, so that a text that many jobs have is in memory only once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pbs::host {

// A name and a text in one piece of memory; both may be empty. Not thread-safe: owners are counted without
// locks.
class SharedText {
  public:
    SharedText() = default;  // name and text are empty
    explicit SharedText(std::string_view text) : SharedText({}, text) {}
    SharedText(std::string_view name, std::string_view text);
    SharedText(const SharedText& other) noexcept : block_(other.block_) {
        if (block_ != nullptr) ++block_->owners;
    }
    SharedText(SharedText&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    SharedText& operator=(SharedText other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~SharedText() { release(); }

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
        return block_ == other.block_ || (name() == other.name() && text() == other.text());
    }
    // Returns whether this text and `other` use the same memory.
    bool shares(const SharedText& other) const { return block_ == other.block_; }

  private:
    friend class SharedTexts;
    struct Block {
        uint32_t owners;
        uint32_t size;  // bytes of name and text
        uint32_t name;
    };
    char* bytes() const { return reinterpret_cast<char*>(block_ + 1); }
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
    SharedText of(std::string_view name, std::string_view text);

  private:
    SharedText& place_of(std::string_view name, std::string_view text);
    void remember(SharedText& known, const SharedText& text);

    static constexpr std::size_t kSlots = 4096;
    static constexpr std::size_t kMostBytes = std::size_t{4} << 20;
    std::vector<SharedText> known_{kSlots};  // indexed by the hash
    std::size_t bytes_ = 0;
};

}  // namespace pbs::host
