// Amounts as PBS writes them: numbers, durations, sizes and booleans. Each is read as OpenPBS's server reads
// it; tests/values/amount_test.cc has the table of inputs, and says where OpenPBS takes what is refused here.
//
// Each parse function reads the whole text, and allows no white space at its ends. It returns nullopt if the
// text is no such value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pbs::values {

// The expected form of each type, as error messages name it.
inline constexpr std::string_view kIntegerForm = "a whole number";
inline constexpr std::string_view kRealForm = "a number";
inline constexpr std::string_view kDurationForm = "a duration as HH:MM:SS or in seconds";
inline constexpr std::string_view kSizeForm =
    "a size such as 512mb: digits, then b, kb, mb, gb, tb, pb or w, kw, mw, gw, tw, pw";
inline constexpr std::string_view kBooleanForm = "True or False";

// The types of resources. An amount is a whole number of the unit beside the type.
enum class ResourceKind : std::uint8_t {
    integer = 1,
    real = 2,      // in millionths
    size = 3,      // in bytes
    duration = 4,  // in seconds
    boolean = 5,
    string = 6,
    string_array = 7
};
constexpr bool is_text(ResourceKind kind) {
    return kind == ResourceKind::string || kind == ResourceKind::string_array;
}
// Reads the amount of a resource of this kind; 0 for string and string_array.
std::optional<std::int64_t> parse_amount(ResourceKind kind, std::string_view text);
// The expected form of a value, as error messages name it.
std::string_view form_of(ResourceKind kind);

// Reads decimal digits, with or without a sign.
std::optional<std::int64_t> parse_integer(std::string_view text);

// Reads a finite number, with or without a fraction and an exponent.
std::optional<double> parse_real(std::string_view text);
// Writes a number with all its digits and no exponent: "1234567.5".
std::string real_text(double number);
// Reads a number as millionths, rounded: the amount of a resource of type float. nullopt also beyond 9e12 or
// -9e12.
std::optional<std::int64_t> parse_millionths(std::string_view text);

// Reads a duration [[HH:]MM:]SS[.fraction], in seconds. Any part may have any number of digits (1:90 is 150
// seconds); a fraction of .5 or more counts as one second. nullopt also beyond 1.28e15 seconds.
std::optional<std::int64_t> parse_duration(std::string_view text);
// Writes a duration as "HH:MM:SS", with more digits for 100 hours and more. A negative duration has a '-' in
// front.
std::string duration_text(std::int64_t seconds);
inline std::string duration_text(std::chrono::seconds duration) {
    return duration_text(duration.count());
}

// A size as it was written: `number` times two to the power of `shift`, in bytes or in words of eight bytes.
struct WrittenSize {
    std::uint64_t number = 0;
    int shift = 0;  // 0, 10, 20 ... 50
    bool words = false;

    // Returns whether the size is more bytes than an int64_t holds.
    bool too_large() const;
    // The size in bytes; the largest int64_t for a size that is too large.
    std::int64_t bytes() const;
    // The size as "400mb" or "8kw": digits, prefix, and always b or w.
    std::string text() const;
};
// Reads a size: digits, then k, m, g, t, p or none, then b, w or none, in capitals or not.
std::optional<WrittenSize> parse_size(std::string_view text);
// Reads a size in bytes, as WrittenSize::bytes() counts them.
std::optional<std::int64_t> parse_bytes(std::string_view text);
// Writes a size in the largest unit that divides it: 1024 mb are "1gb", 1536 kb stay. 0 is "0b".
std::string size_text(std::int64_t bytes);
// Writes a size in kb, rounded up, as PBS shows measured and assigned sizes.
std::string kilobytes_text(std::int64_t bytes);

// Add, and multiply, two amounts. A result that is out of range becomes the largest or the least amount.
std::int64_t amount_sum(std::int64_t a, std::int64_t b);
std::int64_t amount_product(std::int64_t a, std::int64_t b);

// Reads True, TRUE, true, t, T, y, Y and 1; False, FALSE, false, f, F, n, N and 0.
std::optional<bool> parse_boolean(std::string_view text);
inline std::string boolean_text(bool value) {
    return value ? "True" : "False";
}

}  // namespace pbs::values
