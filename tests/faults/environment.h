// How much a test tries, and by which seed: from the environment of the test.
#pragma once

#include <cstdlib>
#include <random>

namespace pbs::e2e {

// Returns the number in a variable of the environment; `otherwise` if the variable isn't set.
inline long environment_number(const char* name, long otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtol(text, nullptr, 10) : otherwise;
}

// Returns the seed of PBSPOLICY_SEED; a random one if the variable isn't set.
inline unsigned random_seed() {
    const char* text = std::getenv("PBSPOLICY_SEED");
    return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : std::random_device{}();
}

}  // namespace pbs::e2e
