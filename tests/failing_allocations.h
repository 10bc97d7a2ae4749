// Replaces operator new of a test program by one that fails when a test asks for it. Include this file into
// one source of the program only.
#pragma once

#include <cstdlib>
#include <new>

#include "tests/allocations_left.h"

namespace pbs {

inline void* allocate(std::size_t size) {
    if (allocations_left > 0 && --allocations_left == 0) throw std::bad_alloc();
    void* const memory = std::malloc(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace pbs

// The forms for arrays call these. The nothrow form, which std::stable_sort uses, is here too, so that
// malloc() and free() are always a pair.
void* operator new(std::size_t size) {
    return pbs::allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return pbs::allocate(size);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
