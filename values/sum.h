// Sums of amounts that many jobs use together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace pbs::values {

// A sum of 64-bit amounts in 128 bits: no number of jobs makes it overflow, so it is exact again when the
// jobs have gone.
class Sum {
  public:
    constexpr Sum() = default;
    constexpr Sum(std::int64_t amount) : sum_(amount) {}

    constexpr Sum& operator+=(const Sum& other) {
        sum_ += other.sum_;
        return *this;
    }
    constexpr Sum& operator-=(const Sum& other) {
        sum_ -= other.sum_;
        return *this;
    }
    friend constexpr Sum operator+(Sum a, const Sum& b) { return a += b; }
    friend constexpr Sum operator-(Sum a, const Sum& b) { return a -= b; }
    // Multiplies an amount by a sign or a count.
    friend constexpr Sum operator*(Sum a, std::int64_t count) {
        a.sum_ *= count;
        return a;
    }
    friend constexpr auto operator<=>(const Sum&, const Sum&) = default;

    // Returns the sum, or the nearest number of 64 bits.
    constexpr std::int64_t value() const {
        using Limits = std::numeric_limits<std::int64_t>;
        return static_cast<std::int64_t>(std::clamp<__int128>(sum_, Limits::min(), Limits::max()));
    }

  private:
    __int128 sum_ = 0;
};

}  // namespace pbs::values
