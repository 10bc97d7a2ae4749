// Scales the number of random cases in tests.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace pbs::test {

// Number of random cases to try: a tenth under the sanitizers, which take ten times as long and look for
// other faults. PBSPOLICY_CASES=N in the environment multiplies it by N.
inline int cases(int all) {
    static const int times = [] {
        const char* text = std::getenv("PBSPOLICY_CASES");  // NOLINT(concurrency-mt-unsafe): read once
        return std::clamp(text != nullptr ? static_cast<int>(std::strtol(text, nullptr, 10)) : 1, 1, 10'000);
    }();
    return (PBS_SANITIZED != 0 ? all / 10 : all) * times;
}

// Number of steps of a random case: a third under the sanitizers.
constexpr int steps(int all) {
    return PBS_SANITIZED != 0 ? all / 3 : all;
}

}  // namespace pbs::test
