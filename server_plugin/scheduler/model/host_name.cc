#include "server_plugin/scheduler/model/host_name.h"

#include <algorithm>
#include <utility>

namespace pbs::sched {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool same_host_name(std::string_view a, std::string_view b) {
    if (a.size() > b.size()) std::swap(a, b);
    if (!std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); }))
        return false;
    return b.size() == a.size() ||
           (!a.empty() && b[a.size()] == '.' && a.find('.') == std::string_view::npos);
}

}  // namespace pbs::sched
