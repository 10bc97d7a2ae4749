// The number of random cases that the tests of rrule/ try.
#pragma once

#include "tests/cases.h"

namespace pbs::rrule::test {

using pbs::test::cases;

}  // namespace pbs::rrule::test
