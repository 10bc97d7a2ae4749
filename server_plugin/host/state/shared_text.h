// Texts that do not change, and that their copies share: what many jobs have in common is in memory once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pbs::host {

// A text, and a name before it, in one piece of memory. Its owners are counted for one thread.
class SharedText {
  public:
    SharedText() = default;  // both are empty
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
    // Name and text in a row.
    std::string_view whole() const {
        return block_ == nullptr ? std::string_view() : std::string_view(bytes(), block_->size);
    }
    bool empty() const { return text().empty(); }
    bool operator==(const SharedText& other) const {
        return block_ == other.block_ || (name() == other.name() && text() == other.text());
    }
    // Is it the same memory?
    bool shares(const SharedText& other) const { return block_ == other.block_; }

  private:
    friend class SharedTexts;
    struct Block {
        uint32_t owners;
        uint32_t size;  // of both
        uint32_t name;
    };
    char* bytes() const { return reinterpret_cast<char*>(block_ + 1); }
    void release();

    Block* block_ = nullptr;
};

// Remembers texts, so that equal ones that come one after the other become one. It forgets: a text that isn't
// found is in memory once more, and that is all.
class SharedTexts {
  public:
    // Exchanges the text for an equal one that is known, or remembers it.
    void share(SharedText& text);
    // Such a text.
    SharedText of(std::string_view name, std::string_view text);

  private:
    SharedText& place_of(std::string_view name, std::string_view text);
    void remember(SharedText& known, const SharedText& text);

    static constexpr std::size_t kSlots = 4096;
    static constexpr std::size_t kMostBytes = std::size_t{4} << 20;
    std::vector<SharedText> known_{kSlots};  // by the hash
    std::size_t bytes_ = 0;
};

}  // namespace pbs::host
