#include "objects/formula.h"

#include <gmock/gmock.h>

namespace pbs::objects {
namespace {

Result<void> check(std::string_view text) {
    static const ResourceNames resources;
    return check_formula("job_sort_formula", text, resources, job_sort_terms());
}

TEST(Formula, AcceptsExpressionsOverResourcesAndTerms) {
    for (const char* text :
         {"ncpus*walltime", "1", "-ncpus + 2.5e3*(eligible_time/60)", "max(ncpus, mem)",
          "sqrt(queue_priority)", "ncpus > 4 ? 1 : 0", "ncpus == 1", "ncpus >= 2 && mem != 0", "1/0"}) {
        EXPECT_TRUE(check(text)) << text;
    }
}

TEST(Formula, ErrorsTellThePosition) {
    EXPECT_THAT(check("ncpus*speed").error().message,
                testing::HasSubstr("'ncpus*speed': at position 7: unknown name 'speed'"));
    EXPECT_THAT(check("ncpus = 3").error().message,
                testing::HasSubstr("at position 7: a formula can't assign"));
    EXPECT_THAT(check("ncpus*").error().message, testing::HasSubstr("ends too early"));
    for (const char* text :
         {"", "(", "ncpus)", "ncpus ncpus", "ncpus,mem", "1 +* 2", "\"text\"", "ncpus[1]", "ncpus+=1", "@"}) {
        EXPECT_FALSE(check(text)) << text;
    }
}

}  // namespace
}  // namespace pbs::objects
