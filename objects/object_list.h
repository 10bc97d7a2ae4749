// An immutable list of the objects of one type, in the order of their names. A changed list shares all
// unchanged chunks with the list from which it is made, so the cost of a change depends on its own size, not
// on the number of objects.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace pbs::objects {

class Object;
using ObjectPtr = std::shared_ptr<const Object>;

class ObjectList {
  public:
    // A name, and the object that gets it in the list, in place of any object of this name; null: the name is
    // removed.
    using Change = std::pair<std::string_view, ObjectPtr>;

    class Iterator {
      public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = ObjectPtr;
        using difference_type = std::ptrdiff_t;
        using pointer = const ObjectPtr*;
        using reference = const ObjectPtr&;

        Iterator() = default;
        reference operator*() const { return (*(*chunks_)[chunk_])[at_]; }
        pointer operator->() const { return &**this; }
        Iterator& operator++() {
            if (++at_ == (*chunks_)[chunk_]->size()) next_chunk();
            return *this;
        }
        Iterator operator++(int) {
            Iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) {
            return a.chunk_ == b.chunk_ && a.at_ == b.at_;
        }

      private:
        friend class ObjectList;
        using Chunk = std::vector<ObjectPtr>;
        using Chunks = std::vector<std::shared_ptr<const Chunk>>;
        Iterator(const Chunks* chunks, std::size_t chunk) : chunks_(chunks), chunk_(chunk) {}
        void next_chunk() {
            ++chunk_;
            at_ = 0;
        }
        // Returns the chunk if the iterator is at its first object; null inside a chunk and at the end.
        const Chunk* begun() const {
            return at_ == 0 && chunk_ < chunks_->size() ? (*chunks_)[chunk_].get() : nullptr;
        }

        const Chunks* chunks_ = nullptr;
        std::size_t chunk_ = 0;
        std::size_t at_ = 0;
    };

    ObjectList();

    std::size_t size() const { return parts_->size; }
    bool empty() const { return size() == 0; }
    Iterator begin() const { return {&parts_->chunks, 0}; }
    Iterator end() const { return {&parts_->chunks, parts_->chunks.size()}; }
    const ObjectPtr& front() const { return *begin(); }

    // Returns the object of that name, or null.
    ObjectPtr find(std::string_view name) const;

    // Returns an iterator to the first object whose name comes after `name`.
    Iterator behind(std::string_view name) const;

    // Returns a list with the changes made to this one. The changes must be in the order of names.
    ObjectList with(std::span<const Change> changes) const;

    // Returns whether both are the same list in memory. Doesn't compare objects.
    bool is(const ObjectList& other) const { return parts_ == other.parts_; }

    // Calls `visit(before, after)` for each object that the lists don't share; null: it isn't in that list.
    template <class Visit>
    static void for_each_difference(const ObjectList& from, const ObjectList& to, Visit visit);

  private:
    using Chunk = Iterator::Chunk;
    using Chunks = Iterator::Chunks;
    struct Parts {
        Chunks chunks{};  // no chunk is empty
        std::size_t size = 0;
    };
    static void append(Chunks& chunks, Chunk chunk);
    static std::string_view name_of(const ObjectPtr& object);
    std::size_t chunk_of(std::string_view name) const;

    std::shared_ptr<const Parts> parts_;
};

template <class Visit>
void ObjectList::for_each_difference(const ObjectList& from, const ObjectList& to, Visit visit) {
    Iterator a = from.begin();
    Iterator b = to.begin();
    const ObjectPtr none;
    while (a != from.end() || b != to.end()) {
        if (a.begun() && a.begun() == b.begun()) {
            a.next_chunk();
            b.next_chunk();
        } else if (b == to.end() || (a != from.end() && name_of(*a) < name_of(*b))) {
            visit(*a++, none);
        } else if (a == from.end() || name_of(*b) < name_of(*a)) {
            visit(none, *b++);
        } else {
            if (*a != *b) visit(*a, *b);
            ++a;
            ++b;
        }
    }
}

}  // namespace pbs::objects
