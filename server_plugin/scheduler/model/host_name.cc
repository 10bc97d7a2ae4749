#include "server_plugin/scheduler/model/host_name.h"

#include <utility>

#include "values/text.h"

namespace pbs::sched {

bool same_host_name(std::string_view a, std::string_view b) {
    if (a.size() > b.size()) std::swap(a, b);
    if (!values::same_word(a, b.substr(0, a.size()))) return false;
    return b.size() == a.size() ||
           (!a.empty() && b[a.size()] == '.' && a.find('.') == std::string_view::npos);
}

}  // namespace pbs::sched
