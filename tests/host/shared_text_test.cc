#include "server_plugin/host/state/shared_text.h"

#include <gtest/gtest.h>

#include <string>

namespace pbs::host {
namespace {

TEST(SharedText, ATextAndANameAreKeptApart) {
    const SharedText text("ncpus", "4");
    EXPECT_EQ(text.name(), "ncpus");
    EXPECT_EQ(text.text(), "4");
    EXPECT_EQ(text.whole(), "ncpus4");
    EXPECT_NE(text, SharedText("ncpu", "s4"));
    EXPECT_EQ(text, SharedText("ncpus", "4"));
    EXPECT_EQ(SharedText("ncpus", "").name(), "ncpus");
    EXPECT_TRUE(SharedText("ncpus", "").empty());
    EXPECT_EQ(SharedText(), SharedText(""));
}

TEST(SharedText, TextsOfSeveralKindsAreKeptApart) {
    const int kind = 0;
    const int other = 0;
    SharedTexts texts;
    const SharedText text = texts.of(&kind, "ncpus", "4");
    EXPECT_EQ(text.kind(), &kind);
    EXPECT_EQ(text.whole(), "ncpus4");
    EXPECT_TRUE(texts.of(&kind, "ncpus", "4").shares(text));
    EXPECT_EQ(texts.of(&other, "ncpus", "4").kind(), &other);
    EXPECT_NE(text, SharedText(&other, "ncpus", "4"));
    EXPECT_EQ(SharedText(&kind, "", "").kind(), &kind);
    EXPECT_EQ(SharedText("ncpus", "4").kind(), nullptr);
}

TEST(SharedText, CopiesAreTheSameMemory) {
    SharedText text("some text");
    {
        const SharedText copy = text;
        EXPECT_TRUE(copy.shares(text));
        text = SharedText("another");
        EXPECT_EQ(copy.text(), "some text");
    }
    const SharedText moved = std::move(text);
    EXPECT_EQ(moved.text(), "another");
    text = moved;
    text = *&text;
    EXPECT_EQ(text.text(), "another");
}

TEST(SharedTexts, EqualOnesBecomeOne) {
    SharedTexts texts;
    SharedText one("name", "value");
    SharedText two("name", "value");
    SharedText other("nam", "evalue");
    SharedText nothing;
    for (SharedText* text : {&one, &two, &other, &nothing}) texts.share(*text);
    EXPECT_TRUE(one.shares(two));
    EXPECT_FALSE(one.shares(other));
    EXPECT_EQ(other.name(), "nam");
    EXPECT_EQ(nothing.text(), "");
    EXPECT_TRUE(texts.of("name", "value").shares(one));
    EXPECT_TRUE(texts.of("nam", "evalue").shares(other));
    const SharedText fresh = texts.of("name", "another");
    EXPECT_EQ(fresh, SharedText("name", "another"));
    EXPECT_TRUE(texts.of("name", "another").shares(fresh));
    EXPECT_EQ(texts.of({}, {}), nothing);
}

// Shared texts don't change, however many and long they are: the table may forget a text, but its owners keep
// it.
TEST(SharedTexts, ForgettingLosesNothing) {
    SharedTexts texts;
    std::vector<SharedText> kept;
    for (int i = 0; i < 20'000; ++i) {
        kept.emplace_back(std::to_string(i) + std::string(i % 100 == 0 ? 50'000 : 1, 'x'));
        texts.share(kept.back());
    }
    for (int i = 0; i < 20'000; ++i)
        ASSERT_TRUE(kept[static_cast<size_t>(i)].text().starts_with(std::to_string(i) + "x"));
}

}  // namespace
}  // namespace pbs::host
