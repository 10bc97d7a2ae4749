// How much the tests with random cases do.
#pragma once

namespace pbs::test {

// How many of so many random cases are tried: under the sanitizers, which are after other things and take ten
// times as long, a tenth.
constexpr int cases(int all) {
    return PBS_SANITIZED != 0 ? all / 10 : all;
}

// How many steps such a case has: there, a third.
constexpr int steps(int all) {
    return PBS_SANITIZED != 0 ? all / 3 : all;
}

}  // namespace pbs::test
