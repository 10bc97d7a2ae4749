// Files for browsers, built into the program from site/.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pbs::web {

struct Asset {
    std::string_view name;  ///< "now.js"
    std::string_view text;
};

/// Returns all files; embed.cmake makes the list from the folder.
std::span<const Asset> assets();
/// Finds a file by name; nullptr: there is none.
const Asset* find_asset(std::string_view name);
/// Returns the MIME type by the name's ending.
std::string_view type_of(const Asset& asset);

struct Page;
/// Returns a page's HTML, a frame that its script fills.
std::string html_of(const Page& page);

}  // namespace pbs::web
