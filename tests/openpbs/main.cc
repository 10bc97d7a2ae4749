// Runs the tests of this program on each OpenPBS that PBSPOLICY_OPENPBS_PREFIX names.
#include "tests/e2e/box.h"

int main(int argc, char** argv) {
    return pbs::e2e::run_all_tests_on_each_openpbs(argc, argv);
}
