#include "server_plugin/scheduler/model/told_amounts.h"

#include <utility>

#include "values/find.h"
#include "values/text.h"

namespace pbs::sched {

DynamicResource DynamicResource::of(std::string_view element) {
    const auto mark = element.find('!');
    if (mark == std::string_view::npos) return {values::trim(element), {}};
    return {values::trim(element.substr(0, mark)), values::trim(element.substr(mark + 1))};
}

bool ToldAmounts::set(std::string_view element, std::string value) {
    const auto [place, is_new] = known_.try_emplace(std::string(element));
    Report& known = place->second;
    const bool differs = is_new || known.value != value || known.taken != 0;
    known.value = std::move(value);
    known.taken = 0;
    return differs;
}

const ToldAmounts::Report* ToldAmounts::find(std::string_view element) const {
    return values::find_in(known_, element);
}

}  // namespace pbs::sched
