#include "ifl/cmds/input_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string_view>
#include <vector>

namespace pbs::cmds {
namespace {

using ::testing::ElementsAre;

class InputLinesTest : public ::testing::Test {
  protected:
    InputLinesTest() { EXPECT_EQ(pipe(ends_), 0); }
    ~InputLinesTest() override {
        close(ends_[0]);
        end();
    }
    void put(std::string_view text) const {
        ASSERT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    void end() {
        if (ends_[1] >= 0) {
            close(ends_[1]);
        }
        ends_[1] = -1;
    }
    std::vector<std::string> rest(InputLines& lines) const {
        std::vector<std::string> all;
        while (const auto line = lines.next()) {
            all.push_back(*line);
        }
        return all;
    }
    int ends_[2] = {-1, -1};
};

TEST_F(InputLinesTest, TheLastLineNeedsNoNewline) {
    put("one\n\ntwo\nthree");
    end();
    InputLines lines(ends_[0], [] {});
    EXPECT_THAT(rest(lines), ElementsAre("one", "", "two", "three"));
    EXPECT_EQ(lines.next(), std::nullopt);
}

TEST_F(InputLinesTest, NoLinesOfAnEmptyInput) {
    end();
    InputLines lines(ends_[0], [] {});
    EXPECT_THAT(rest(lines), ElementsAre());
}

TEST_F(InputLinesTest, CallsBeforeItWaitsAndOnlyThen) {
    put("one\ntw");
    int waits = 0;
    InputLines lines(ends_[0], [&] {
        // this input comes only after the reader has begun to wait for it
        if (++waits == 1) {
            put("o\nthree\n");
        } else {
            end();
        }
    });
    EXPECT_EQ(lines.next(), "one");
    EXPECT_EQ(waits, 0);
    EXPECT_EQ(lines.next(), "two");
    EXPECT_EQ(waits, 1);
    EXPECT_EQ(lines.next(), "three");
    EXPECT_EQ(waits, 1);
    EXPECT_EQ(lines.next(), std::nullopt);
    EXPECT_EQ(waits, 2);
}

TEST_F(InputLinesTest, LinesLongerThanARead) {
    const std::string longer(60000, 'x');
    put(longer);
    int waits = 0;
    InputLines lines(ends_[0], [&] {
        if (++waits == 4) {
            put("\n");
            end();
        } else {
            put(longer);
        }
    });
    EXPECT_EQ(lines.next()->size(), 4 * longer.size());
    EXPECT_EQ(lines.next(), std::nullopt);
}

}  // namespace
}  // namespace pbs::cmds
