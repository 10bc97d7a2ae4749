// The files for browsers in site/, which are built into the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pbs::web {

struct Asset {
    std::string_view name;  ///< name in site/: "now.js"
    std::string_view text;
};

/// Returns all files; embed.cmake makes the list from the folder.
std::span<const Asset> assets();
/// Finds a file by name; nullptr: there is none.
const Asset* find_asset(std::string_view name);
/// Returns the MIME type, which follows from the ending of the name.
std::string_view type_of(const Asset& asset);

struct Page;
/// Returns a page's HTML: a frame, which the page's script fills.
std::string html_of(const Page& page);

}  // namespace pbs::web
