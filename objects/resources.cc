#include "objects/resources.h"

namespace pbs::objects {

ResourceNames::ResourceNames()
    : names_{"accelerator",
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
             "walltime"} {}

}  // namespace pbs::objects
