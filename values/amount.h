// Amounts as PBS writes them: numbers, durations, sizes and booleans. Each is read as OpenPBS's server reads
// it; tests/values/amount_test.cc has the table of inputs, and says where OpenPBS takes what is refused here.
//
// All functions read the whole text, without white space at its ends. nullopt: the text is no such value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pbs::values {

// The forms that messages say were expected.
inline constexpr std::string_view kIntegerForm = "a whole number";
inline constexpr std::string_view kRealForm = "a number";
inline constexpr std::string_view kDurationForm = "a duration as HH:MM:SS or in seconds";
inline constexpr std::string_view kSizeForm =
    "a size such as 512mb: digits, then b, kb, mb, gb, tb, pb or w, kw, mw, gw, tw, pw";
inline constexpr std::string_view kBooleanForm = "True or False";

// Digits, with a sign or without.
std::optional<std::int64_t> parse_integer(std::string_view text);

// A finite number with a fraction and an exponent, or without.
std::optional<double> parse_real(std::string_view text);
// The same in millionths, rounded: the amount of a resource of type float. At most 9e12 in either direction.
std::optional<std::int64_t> parse_millionths(std::string_view text);

// Seconds of [[HH:]MM:]SS[.fraction]. Any part may have any number of digits (1:90 is 150 seconds); a
// fraction of .5 and more is a second.
std::optional<std::int64_t> parse_duration(std::string_view text);
// "HH:MM:SS", with more digits of hours where there are 100 and more. A negative duration has a '-' in front.
std::string duration_text(std::int64_t seconds);

// A size as it was written: `number` times two to the power of `shift`, in bytes or in words of eight bytes.
struct WrittenSize {
    std::uint64_t number = 0;
    int shift = 0;  // 0, 10, 20 ... 50
    bool words = false;

    // More bytes than an int64_t holds?
    bool too_large() const;
    // The largest amount that there is, for one that is too large.
    std::int64_t bytes() const;
    // "400mb", "8kw": digits, prefix, and always b or w.
    std::string text() const;
};
// Digits, then k, m, g, t, p or none, then b, w or none, in capitals or not.
std::optional<WrittenSize> parse_size(std::string_view text);
// The same in bytes, as WrittenSize::bytes() has them.
std::optional<std::int64_t> parse_bytes(std::string_view text);
// In the largest unit that divides the amount: 1024 mb are "1gb", 1536 kb stay. 0 is "0b".
std::string size_text(std::int64_t bytes);
// In kb, rounded up, as PBS shows measured and assigned sizes.
std::string kilobytes_text(std::int64_t bytes);

// True, TRUE, true, t, T, y, Y and 1; False, FALSE, false, f, F, n, N and 0.
std::optional<bool> parse_boolean(std::string_view text);
inline std::string boolean_text(bool value) {
    return value ? "True" : "False";
}

}  // namespace pbs::values
