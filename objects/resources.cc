#include "objects/resources.h"

namespace pbs::objects {

ResourceNames::ResourceNames() {
    for (const char* name : {"accelerator",
                             "accelerator_memory",
                             "accelerator_model",
                             "aoe",
                             "arch",
                             "cput",
                             "energy",
                             "eoe",
                             "file",
                             "host",
                             "hpm",
                             "max_walltime",
                             "mem",
                             "min_walltime",
                             "mpiprocs",
                             "naccelerators",
                             "ncpus",
                             "nchunk",
                             "ngpus",
                             "nice",
                             "nodect",
                             "nodes",
                             "ompthreads",
                             "pcput",
                             "pmem",
                             "pvmem",
                             "site",
                             "software",
                             "soft_walltime",
                             "ssinodes",
                             "vmem",
                             "vnode",
                             "walltime"})
        names_[name];
}

void ResourceNames::add(std::string_view name, std::optional<values::ResourceKind> kind) {
    auto& known = names_[std::string(name)];
    if (kind) known = kind;
}

std::optional<values::ResourceKind> ResourceNames::kind(std::string_view name) const {
    const auto found = names_.find(name);
    return found != names_.end() ? found->second : std::nullopt;
}

void ResourceNames::remove(std::string_view name) {
    static const ResourceNames always;
    if (always.contains(name)) return;
    if (const auto found = names_.find(name); found != names_.end()) names_.erase(found);
}

}  // namespace pbs::objects
