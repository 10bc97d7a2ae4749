#include "tools/diag/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pbs::diag {
namespace {

constexpr std::size_t kBlock = 512;

void put(std::array<char, kBlock>& header, std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

void Tar::add(std::string_view name, std::string_view text) {
    // Offsets and sizes are those of the standard's table "ustar Header Block". Numbers are octal.
    std::array<char, kBlock> header{};
    put(header, 0, name.substr(0, 100));
    put(header, 100, "0000600");
    put(header, 108, "0000000");
    put(header, 116, "0000000");
    put(header, 124, fmt::format("{:011o}", text.size()));
    put(header, 136, fmt::format("{:011o}", now_.time_since_epoch().count()));
    put(header, 148, "        ");
    put(header, 156, "0");
    put(header, 257, std::string_view("ustar\00000", 8));
    put(header, 265, "root");
    put(header, 297, "root");
    unsigned sum = 0;
    for (const char byte : header) sum += static_cast<unsigned char>(byte);
    put(header, 148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
    archive_.append(header.data(), header.size());
    archive_.append(text);
    archive_.append((kBlock - text.size() % kBlock) % kBlock, '\0');
}

std::string Tar::finish() {
    archive_.append(2 * kBlock, '\0');
    return std::move(archive_);
}

}  // namespace pbs::diag
