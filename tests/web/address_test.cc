#include "tools/web/address.h"

#include <gtest/gtest.h>

namespace pbs::web {
namespace {

constexpr const char* kBrowser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

TEST(AddressTest, TheFormIsTheEndingOrWhatIsAccepted) {
    EXPECT_EQ(Form::html, parse_address("/now", kBrowser, "")->form);
    EXPECT_EQ(Form::html, parse_address("/now", "*/*", "")->form);
    EXPECT_EQ(Form::json, parse_address("/now", "application/json", "")->form);
    EXPECT_EQ(Form::events, parse_address("/now", "text/event-stream", "")->form);
    EXPECT_EQ(Form::json, parse_address("/now.json", kBrowser, "")->form);
    EXPECT_EQ(Form::events, parse_address("/now.events", "*/*", "")->form);
    EXPECT_EQ("now", parse_address("/now.json", "", "")->name);
    EXPECT_EQ("", parse_address("/", "", "")->name);
}

TEST(AddressTest, WhatIsNotBelowTheBaseIsElsewhere) {
    EXPECT_EQ("now", parse_address("/pbs/now", "", "/pbs")->name);
    EXPECT_EQ("", parse_address("/pbs", "", "/pbs")->name);
    EXPECT_FALSE(parse_address("/now", "", "/pbs"));
    EXPECT_FALSE(parse_address("/pbsx/now", "", "/pbs"));
}

TEST(AddressTest, APrefixIsAPathOfThisHost) {
    EXPECT_EQ("/pbs", parse_prefix("/pbs/"));
    EXPECT_EQ("/a/b-1", parse_prefix("/a/b-1"));
    EXPECT_EQ("", parse_prefix(""));
    EXPECT_EQ("", parse_prefix("/"));
    for (const char* bad :
         {"pbs", "//elsewhere.org", "/a//b", "/a/../b", "/a\r\nSet-Cookie: x", "/a b", "/a?b"})
        EXPECT_FALSE(parse_prefix(bad)) << bad;
}

}  // namespace
}  // namespace pbs::web
