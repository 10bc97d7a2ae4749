#include "server_plugin/host/state/depend_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pbs::host {
namespace {

using testing::HasSubstr;

TEST(DependValue, GoesThereAndBack) {
    for (const char* text :
         {"after:1.svr", "afterok:1:2:3", "afterok:1,afternotok:2,afterany:3,after:4",
          "before:1,beforeok:2,beforenotok:3,beforeany:4", "on:3", "on:2,afterok:1.svr@svr",
          "runone:12.svr:13.svr", "afterok:1.svr\\:15001@svr\\:15001:2.svr"}) {
        const auto items = parse_depend(text);
        ASSERT_TRUE(items) << text << ": " << items.error().message;
        EXPECT_EQ(depend_text(*items), text);
    }
}

TEST(DependValue, ATypeThatComesTwiceIsOne) {
    EXPECT_EQ(depend_text(*parse_depend("afterok:1,on:2 , afterok:3:4")), "afterok:1:3:4,on:2");
}

TEST(DependValue, WhatIsWrongIsNamed) {
    const std::pair<const char*, const char*> wrong[] = {{"foo:1", "expected one of after, afterok"},
                                                         {"afterok", "expected afterok:JOB[:JOB...]"},
                                                         {"afterok:", "expected afterok:JOB"},
                                                         {"afterok:1::2", "expected afterok:JOB"},
                                                         {"afterok:1,", "expected one of"},
                                                         {"", "expected one of"},
                                                         {"on:0", "from 1"},
                                                         {"on:x", "from 1"},
                                                         {"on:1:2", "from 1"},
                                                         {"on:99999999999", "from 1"},
                                                         {"on:1,on:2", "one count"},
                                                         {"on:-1", "from 1"},
                                                         {"AFTEROK:1", "expected one of"},
                                                         {"synccount:2", "expected one of"}};
    for (const auto& [text, message] : wrong) {
        const auto items = parse_depend(text);
        ASSERT_FALSE(items) << text;
        EXPECT_EQ(items.error().code, 15014) << text;
        EXPECT_THAT(items.error().message, HasSubstr(message)) << text;
    }
}

TEST(DependValue, TheMirrorOfBeforeIsAfter) {
    EXPECT_EQ(mirrored(DependType::afterok), DependType::beforeok);
    EXPECT_EQ(mirrored(DependType::before), DependType::after);
    EXPECT_EQ(depend_name(mirrored(DependType::afternotok)), "beforenotok");
}

}  // namespace
}  // namespace pbs::host
