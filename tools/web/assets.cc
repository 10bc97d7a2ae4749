#include "tools/web/assets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "text/xml.h"
#include "tools/web/page.h"

namespace pbs::web {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypes = {{
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".json", "application/json"},
    {".html", "text/html; charset=utf-8"},
}};

void replace(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

std::string menu(const Page& here) {
    std::string out;
    for (const Page* page : pages())
        out += fmt::format("<li><a href=\"{}\"{}>{}</a></li>\n", page->name,
                           page == &here ? " aria-current=\"page\"" : "", text::to_xml(page->title));
    return out;
}

}  // namespace

const Asset* find_asset(std::string_view name) {
    const auto all = assets();
    const auto found = std::ranges::find(all, name, &Asset::name);
    return found == all.end() ? nullptr : &*found;
}

std::string_view type_of(const Asset& asset) {
    for (const auto& [ending, type] : kTypes)
        if (asset.name.ends_with(ending)) return type;
    return "application/octet-stream";
}

std::string html_of(const Page& page) {
    const Asset* frame = find_asset("page.html");
    std::string html(frame == nullptr ? std::string_view() : frame->text);
    replace(html, "@NAME@", page.name);
    replace(html, "@TITLE@", text::to_xml(page.title));
    replace(html, "@MENU@", menu(page));
    return html;
}

}  // namespace pbs::web
