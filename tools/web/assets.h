// The files that browsers load, which are in the program itself: site/.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pbs::web {

struct Asset {
    std::string_view name;  ///< "now.js"
    std::string_view text;
};

/// All of them; made of the folder by embed.cmake.
std::span<const Asset> assets();
/// nullptr: there is none of that name.
const Asset* find_asset(std::string_view name);
/// The MIME type, by the name's ending.
std::string_view type_of(const Asset& asset);

struct Page;
/// The HTML of a page: the frame that its script fills.
std::string html_of(const Page& page);

}  // namespace pbs::web
