#include "tools/web/page.h"

#include <algorithm>
#include <array>

#include "tools/web/pages/pages.h"

namespace pbs::web {
namespace {

constexpr std::array kPages = {&kNowPage,    &kWhyPage,    &kWhenPage,    &kCalendarPage,
                               &kSharesPage, &kQuotasPage, &kChangesPage, &kWhatIfPage};

}  // namespace

Answer refusal(int status, std::string_view message) {
    return {.status = status, .json = {{"version", kVersion}, {"error", message}}};
}

std::span<const Page* const> pages() {
    return kPages;
}

const Page* find_page(std::string_view name) {
    const auto found = std::ranges::find(kPages, name, &Page::name);
    return found == kPages.end() ? nullptr : *found;
}

}  // namespace pbs::web
