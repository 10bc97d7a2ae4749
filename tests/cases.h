// Scales the number of random cases and steps that tests try.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace pbs::test {

// Returns the number of random cases to try instead of `all`: a tenth under the sanitizers, where a case
// takes ten times as long. PBSPOLICY_CASES=N in the environment multiplies the number by N.
inline int cases(int all) {
    static const int times = [] {
        const char* text = std::getenv("PBSPOLICY_CASES");  // NOLINT(concurrency-mt-unsafe): read once
        return std::clamp(text != nullptr ? static_cast<int>(std::strtol(text, nullptr, 10)) : 1, 1, 10'000);
    }();
    return (PBS_SANITIZED != 0 ? all / 10 : all) * times;
}

// Returns the number of steps of a random case instead of `all`: a third under the sanitizers.
constexpr int steps(int all) {
    return PBS_SANITIZED != 0 ? all / 3 : all;
}

}  // namespace pbs::test
