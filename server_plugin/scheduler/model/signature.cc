#include "server_plugin/scheduler/model/signature.h"

namespace pbs::sched {

std::size_t Signatures::Hash::operator()(const Signature& signature) const {
    std::uint64_t h = 0;
    const auto mix = [&](std::uint64_t value) {
        h = (h ^ value) * 0x9E3779B97F4A7C15ULL;
        h ^= h >> 29;
    };
    mix(static_cast<std::uint64_t>(signature.walltime.count()));
    mix(signature.request);
    mix(std::uint64_t{signature.queue} << 32 | signature.run_host);
    if (signature.suspended != 0) mix(signature.suspended);
    if (signature.hard_walltime != Seconds(0))
        mix(static_cast<std::uint64_t>(signature.hard_walltime.count()));
    if (signature.array != 0) mix(signature.array);
    if (signature.together != 0) mix(std::uint64_t{signature.together} << 32);
    if (signature.project != 0 || signature.shape != 0)
        mix((std::uint64_t{1} + signature.shape) << 32 | signature.project);
    return h;
}

std::uint32_t Signatures::acquire(const Signature& signature) {
    if (const std::uint32_t known = index_.find(signature); known != index_.kNone) {
        ++users_[known];
        return known;
    }
    std::uint32_t id = size();
    if (unused_.empty()) {
        signatures_.push_back(signature);
        users_.push_back(1);
        serials_.push_back(++made_);
    } else {
        id = unused_.back();
        unused_.pop_back();
        signatures_[id] = signature;
        users_[id] = 1;
        serials_[id] = ++made_;
    }
    index_.insert(id);
    return id;
}

void Signatures::release(std::uint32_t id) {
    if (--users_[id] > 0) return;
    index_.erase(id);
    unused_.push_back(id);
}

}  // namespace pbs::sched
