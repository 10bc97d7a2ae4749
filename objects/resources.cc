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
        names_[name].stays = true;
}

ResourceNames ResourceNames::of_every_server() {
    ResourceNames names;
    for (const char* name : {"accelerator", "accelerator_memory", "accelerator_model", "aoe", "energy", "eoe",
                             "nchunk", "ngpus", "soft_walltime"})
        names.names_.erase(name);
    return names;
}

void ResourceNames::add(std::string_view name, std::optional<values::ResourceKind> kind, bool stays) {
    Known& known = names_[std::string(name)];
    if (kind) known.kind = kind;
    known.stays = known.stays || stays;
}

std::optional<values::ResourceKind> ResourceNames::kind(std::string_view name) const {
    const auto found = names_.find(name);
    return found != names_.end() ? found->second.kind : std::nullopt;
}

void ResourceNames::remove(std::string_view name) {
    if (const auto found = names_.find(name); found != names_.end() && !found->second.stays)
        names_.erase(found);
}

bool ResourceNames::stays(std::string_view name) const {
    const auto found = names_.find(name);
    return found != names_.end() && found->second.stays;
}

}  // namespace pbs::objects
