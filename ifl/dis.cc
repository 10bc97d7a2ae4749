#include "ifl/dis.h"

#include <fmt/format.h>

#include <algorithm>

#include "values/number.h"

namespace pbs::ifl {

namespace {

// The number of digits of the longest number, 2^64 - 1.
constexpr std::size_t kMaxDigits = 20;

}  // namespace

void DisWriter::put_digits(char sign, std::uint64_t magnitude) {
    // `text` is filled from its end: the digits, the sign, the number of digits, the number of its digits,
    // and so on to a single digit
    char text[2 * kMaxDigits];
    char* begin = text + sizeof text;
    const auto prepend = [&begin](std::uint64_t number) {
        std::size_t digits = 0;
        do {
            *--begin = static_cast<char>('0' + number % 10);
            number /= 10;
            ++digits;
        } while (number != 0);
        return digits;
    };
    std::size_t digits = prepend(magnitude);
    *--begin = sign;
    while (digits > 1) digits = prepend(digits);
    out_.append(begin, text + sizeof text);
}

void DisWriter::put_unsigned(std::uint64_t value) {
    put_digits('+', value);
}

void DisWriter::put_signed(std::int64_t value) {
    const bool negative = value < 0;
    // negated as unsigned, which is right for INT64_MIN too
    put_digits(negative ? '-' : '+',
               negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value));
}

void DisWriter::put_string(std::string_view value) {
    put_unsigned(value.size());
    out_.append(value);
}

void DisWriter::put_text(std::string_view value) {
    if (value.find('\0') == std::string_view::npos) return put_string(value);
    std::string text(value);
    std::replace(text.begin(), text.end(), '\0', '?');
    put_string(text);
}

void DisReader::fail(const char* field, std::string_view what) {
    if (failed_) return;
    failed_ = true;
    error_ = fmt::format("{}, at byte {}: {}", field, position_, what);
}

bool DisReader::take_digits(const char* field, std::size_t count, std::uint64_t& value) {
    if (count > remaining()) {
        fail(field, fmt::format("{} digits expected, the data ends after {}", count, remaining()));
        return false;
    }
    std::string_view text = bytes_.substr(position_, count);
    if (count > 1 && text.front() == '0') {
        fail(field, "a number without leading zeros expected");
        return false;
    }
    const auto number = values::take_number<std::uint64_t>(text);
    if (!number && values::is_digit(text.front())) {
        fail(field, "a number of at most 64 bits expected");
        return false;
    }
    position_ += count - text.size();
    if (!text.empty()) {
        fail(field,
             fmt::format("a digit expected, found byte {:#04x}", static_cast<unsigned char>(text.front())));
        return false;
    }
    value = *number;
    return true;
}

DisReader::Number DisReader::get_number(const char* field) {
    std::uint64_t count = 1;
    while (!failed_) {
        if (at_end()) {
            fail(field, "a number expected, the data ends");
            break;
        }
        const char c = bytes_[position_];
        Number number;
        if (c == '+' || c == '-') {
            ++position_;
            number.negative = c == '-';
            if (!take_digits(field, count, number.magnitude)) break;
            if (number.negative && number.magnitude == 0) {
                fail(field, "a zero without a minus sign expected");
                break;
            }
            return number;
        }
        if (c == '0') {
            fail(field, "a count of digits expected, found 0");
            break;
        }
        const std::uint64_t digits = count;
        if (!take_digits(field, digits, count)) break;
        if (count > kMaxDigits || count <= digits) {
            fail(field,
                 fmt::format("a count of {} to {} digits expected, found {}", digits + 1, kMaxDigits, count));
            break;
        }
    }
    return {};
}

// Reads an unsigned number of one or two digits, as nearly all are: "+5", "2+12". False: the number has
// another form, and nothing is read.
bool DisReader::take_small(std::uint64_t max, std::uint64_t& value) {
    const auto digit = [this](std::size_t at) {
        return static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[position_ + at])) - '0';
    };
    const std::size_t left = failed_ ? 0 : remaining();
    std::size_t length = 0;
    if (left >= 2 && bytes_[position_] == '+' && digit(1) <= 9) {
        value = digit(1);
        length = 2;
    } else if (left >= 4 && bytes_[position_] == '2' && bytes_[position_ + 1] == '+' && digit(2) - 1 < 9 &&
               digit(3) <= 9) {
        value = digit(2) * 10 + digit(3);
        length = 4;
    }
    if (length == 0 || value > max) return false;
    position_ += length;
    return true;
}

std::uint64_t DisReader::get_unsigned(const char* field, std::uint64_t max) {
    if (std::uint64_t small = 0; take_small(max, small)) return small;
    const Number number = get_number(field);
    if (failed_) return 0;
    if (number.negative || number.magnitude > max) {
        fail(field, fmt::format("a number from 0 to {} expected, found {}{}", max, number.negative ? "-" : "",
                                number.magnitude));
        return 0;
    }
    return number.magnitude;
}

std::int64_t DisReader::get_signed(const char* field) {
    const Number number = get_number(field);
    if (failed_) return 0;
    const std::uint64_t limit = static_cast<std::uint64_t>(INT64_MAX) + (number.negative ? 1 : 0);
    if (number.magnitude > limit) {
        fail(field, "a signed number of at most 64 bits expected");
        return 0;
    }
    return static_cast<std::int64_t>(number.negative ? 0 - number.magnitude : number.magnitude);
}

std::int32_t DisReader::get_i32(const char* field) {
    const std::int64_t value = get_signed(field);
    if (value < INT32_MIN || value > INT32_MAX) {
        fail(field, fmt::format("a number from {} to {} expected, found {}", INT32_MIN, INT32_MAX, value));
        return 0;
    }
    return static_cast<std::int32_t>(value);
}

std::string_view DisReader::get_bytes(const char* field, std::size_t max_length) {
    const std::uint64_t length = get_unsigned(field);
    if (failed_) return {};
    if (length > max_length) {
        fail(field, fmt::format("a string of at most {} bytes expected, found {}", max_length, length));
        return {};
    }
    if (length > remaining()) {
        fail(field,
             fmt::format("a string of {} bytes expected, the data ends after {}", length, remaining()));
        return {};
    }
    const std::string_view value = bytes_.substr(position_, length);
    position_ += length;
    return value;
}

std::string_view DisReader::get_text(const char* field, std::size_t max_length) {
    const std::string_view value = get_bytes(field, max_length);
    if (value.find('\0') != std::string_view::npos) {
        fail(field, "a string without NUL bytes expected");
        return {};
    }
    return value;
}

std::size_t DisReader::get_count(const char* field, std::size_t max, std::size_t min_element) {
    const std::uint64_t count = get_unsigned(field, max);
    if (failed_) return 0;
    if (count > remaining() / min_element) {
        fail(field, fmt::format("{} elements announced, the data has {} bytes left", count, remaining()));
        return 0;
    }
    return count;
}

}  // namespace pbs::ifl
