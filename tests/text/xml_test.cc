#include "text/xml.h"

#include <gtest/gtest.h>

namespace pbs::text {
namespace {

TEST(Xml, EntitiesThereAndBack) {
    EXPECT_EQ(to_xml("a\"b'c<d>&e"), "a&quot;b&apos;c&lt;d&gt;&amp;e");
    for (const char* text : {"", "a\"b'c<d>&e", "&amp;", "caf\xe9"}) EXPECT_EQ(from_xml(to_xml(text)), text);
}

TEST(Xml, WhatIsNoEntityStays) {
    EXPECT_EQ(from_xml("&amp;lt; & &copy; &"), "&lt; & &copy; &");
}

}  // namespace
}  // namespace pbs::text
