// How much the tests with random cases do.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace pbs::test {

// How many of so many random cases are tried: under the sanitizers, which are after other things and take ten
// times as long, a tenth. PBSPOLICY_CASES=N in the environment makes them N times as many.
inline int cases(int all) {
    static const int times = [] {
        const char* text = std::getenv("PBSPOLICY_CASES");  // NOLINT(concurrency-mt-unsafe): read once
        return std::clamp(text != nullptr ? static_cast<int>(std::strtol(text, nullptr, 10)) : 1, 1, 10'000);
    }();
    return (PBS_SANITIZED != 0 ? all / 10 : all) * times;
}

// How many steps such a case has: there, a third.
constexpr int steps(int all) {
    return PBS_SANITIZED != 0 ? all / 3 : all;
}

}  // namespace pbs::test
