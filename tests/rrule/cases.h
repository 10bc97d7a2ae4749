// How much the tests with random cases do.
#pragma once

#include "tests/cases.h"

namespace pbs::rrule::test {

using pbs::test::cases;

}  // namespace pbs::rrule::test
