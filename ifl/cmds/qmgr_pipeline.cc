#include "ifl/cmds/qmgr_pipeline.h"

#include <algorithm>
#include <utility>

namespace pbs::cmds {

namespace {

// The most requests under way: enough for the server to make hundreds of changes durable in one write to its
// disk.
constexpr std::size_t kMostUnderWay = 1024;

}  // namespace

bool QmgrPipeline::takes(const Directive& directive) {
    const bool changes = directive.command == Command::create || directive.command == Command::remove ||
                         directive.command == Command::set || directive.command == Command::unset;
    const bool named =
        !directive.names.empty() && std::none_of(directive.names.begin(), directive.names.end(),
                                                 [](const ObjectName& name) { return name.name.empty(); });
    return values::is_own_type(directive.type) && changes && named;
}

int QmgrPipeline::send(Request request, int command, int type, AttrList& attributes) {
    const int code = pbs_manager_send(request.connection->handle(), command, type, request.object.c_str(),
                                      attributes.operations(), nullptr);
    if (code == 0) under_way_.push_back(std::move(request));
    return code;
}

bool QmgrPipeline::full() const {
    return under_way_.size() >= kMostUnderWay;
}

QmgrPipeline::Answer QmgrPipeline::take() {
    Request request = std::move(under_way_.front());
    under_way_.pop_front();
    const int code = pbs_manager_reply(request.connection->handle());
    return {std::move(request), code};
}

std::deque<std::string> QmgrPipeline::take_directives() {
    std::deque<std::string> directives;
    for (Request& request : under_way_)
        if (request.first) directives.push_back(std::move(request.directive));
    under_way_.clear();
    return directives;
}

}  // namespace pbs::cmds
