// Runs the tests. If the host is OpenPBS's server, runs them on each OpenPBS that PBSPOLICY_OPENPBS_PREFIX
// names.
#include <gtest/gtest.h>

#include "tests/e2e/box.h"

int main(int argc, char** argv) {
    if (pbs::e2e::on_openpbs()) return pbs::e2e::run_all_tests_on_each_openpbs(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
