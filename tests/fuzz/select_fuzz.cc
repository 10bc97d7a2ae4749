// Fuzz target of the search for a job's place. The first line of the input is the job's place, and the rest
// its select. A valid request must be placed or refused. Afterwards the vnodes must have the same free
// amounts as before.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server_plugin/scheduler/model/request.h"
#include "server_plugin/scheduler/placement/vnodes.h"

using namespace pbs::sched;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto newline = std::min(input.find('\n'), input.size());
    Resources resources;
    resources.define({0, ResourceKind::integer, "ncpus", true});
    resources.define({1, ResourceKind::size, "mem", true});
    resources.define({2, ResourceKind::duration, "walltime", false});
    resources.define({3, ResourceKind::string, "select", false});
    resources.define({4, ResourceKind::string, "place", false});
    resources.define({5, ResourceKind::string, "arch", false});
    resources.define({6, ResourceKind::boolean, "bigmem", false});
    resources.define({7, ResourceKind::real, "speed", true});
    Interner strings;
    Vnodes vnodes(strings);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        const Amount available[] = {{0, 4, {}}, {1, 1 << 30, {}}, {5, 0, "linux"}, {7, 2'000'000, {}}};
        VnodeRecord record;
        record.vnode = VnodeHandle(i);
        record.name = i == 1 ? "a" : "b";
        record.host = i == 3 ? "c" : "d";
        record.resources_available = available;
        vnodes.change(record, resources);
    }
    const Amount asked[] = {{4, 0, input.substr(0, newline)},
                            {3, 0, input.substr(std::min(newline + 1, input.size()))}};
    Requests requests;
    const auto id = requests.acquire(asked, resources);
    const Request& request = requests[id];
    if (!request.unsupported.empty()) return 0;
    bool found_whole = false;
    for (const Chunks chunks : {Chunks::whole, Chunks::divided}) {
        const PoolId pool = vnodes.pool({}, 0, 0, chunks);
        Placement placement;
        const bool found = vnodes.find(pool, request, {}, placement);
        if (found) {
            vnodes.assume(placement, request, {});
            for (VnodeSlot v = 0; v < vnodes.size(); ++v)
                if (vnodes.free_amount(v, 0) < 0 || vnodes.free_amount(v, 1) < 0) std::abort();
            vnodes.forget(placement, request, {});
        }
        for (VnodeSlot v = 0; v < vnodes.size(); ++v)
            if (vnodes.free_amount(v, 0) != 4 || vnodes.free_amount(v, 1) != 1 << 30) std::abort();
        // a request with one kind of chunks that fits undivided also fits if chunks may be divided
        if (chunks == Chunks::whole) found_whole = found;
        if (found_whole && !found && request.chunks.size() == 1) std::abort();
        if (found && !vnodes.large_enough(pool, request, {})) std::abort();
    }
    return 0;
}
