// Data-is-strings (DIS): the encoding of numbers and strings in the batch protocol.
//
// A number is its sign and its decimal digits. If it has more than one digit, the number of digits stands
// before the sign; if that number has more than one digit, the number of its digits stands before it, and so
// on down to a single digit: 5 is "+5", -12 is "2-12", 1234567890 is "210+1234567890". A string is its length
// as an unsigned number, then its bytes: "abc" is "+3abc", the empty string is "+0".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pbs::ifl {

/// The length of the shortest string on the wire, in bytes.
inline constexpr std::size_t kMinString = 2;

/// Writes DIS to the end of a string that the caller owns.
class DisWriter {
  public:
    explicit DisWriter(std::string& out) : out_(out) {}
    void put_unsigned(std::uint64_t value);
    void put_signed(std::int64_t value);
    void put_string(std::string_view value);
    /// Writes a string that DisReader::get_text() reads: a NUL byte in it becomes a question mark.
    void put_text(std::string_view value);
    /// Appends the output of another DisWriter.
    void put_encoded(std::string_view dis) { out_.append(dis); }

  private:
    void put_digits(char sign, std::uint64_t magnitude);
    std::string& out_;
};

/// Reads DIS from bytes that the caller keeps.
///
/// The first error sticks: from then on every get returns 0 or an empty string and reads nothing, so a
/// decoder can read a whole structure and check failed() once. Each get names the field that it reads, for
/// the error. Only DisWriter's form is accepted (no leading zeros).
class DisReader {
  public:
    explicit DisReader(std::string_view bytes) : bytes_(bytes) {}

    /// Reads an unsigned number of at most `max`.
    std::uint64_t get_unsigned(const char* field, std::uint64_t max = UINT64_MAX);
    /// Reads an unsigned number that fits in 32 bits.
    std::uint32_t get_u32(const char* field) {
        return static_cast<std::uint32_t>(get_unsigned(field, UINT32_MAX));
    }
    std::int64_t get_signed(const char* field);
    /// Reads a signed number that fits in 32 bits.
    std::int32_t get_i32(const char* field);
    /// Reads a string of at most `max_length` bytes of any value. The view is into the reader's bytes.
    std::string_view get_bytes(const char* field, std::size_t max_length);
    /// Reads a string like get_bytes(); a NUL byte in it is an error.
    std::string_view get_text(const char* field, std::size_t max_length);
    std::string get_string(const char* field, std::size_t max_length) {
        return std::string(get_text(field, max_length));
    }
    /// Reads the count of the elements that follow, each of at least `min_element` bytes. A count that the
    /// remaining bytes can't hold is an error, so memory is only reserved for elements that exist.
    std::size_t get_count(const char* field, std::size_t max, std::size_t min_element);

    /// Records an error that the caller found at the current place, unless there was an error before.
    void fail(const char* field, std::string_view what);
    bool failed() const { return failed_; }
    /// "field, at byte N: what was expected"; empty unless failed().
    const std::string& error() const { return error_; }
    bool at_end() const { return position_ == bytes_.size(); }
    std::size_t position() const { return position_; }
    std::size_t remaining() const { return bytes_.size() - position_; }

  private:
    struct Number {
        bool negative = false;
        std::uint64_t magnitude = 0;
    };
    Number get_number(const char* field);
    bool take_small(std::uint64_t max, std::uint64_t& value);
    bool take_digits(const char* field, std::size_t count, std::uint64_t& value);

    std::string_view bytes_;
    std::size_t position_ = 0;
    bool failed_ = false;
    std::string error_;
};

}  // namespace pbs::ifl
