#include "server_plugin/scheduler/model/shape.h"

namespace pbs::sched {

std::size_t Shapes::Hash::operator()(const Shape& shape) const {
    std::uint64_t h = static_cast<std::uint64_t>(shape.walltime.count());
    const auto mix = [&](std::uint64_t value) {
        h = (h ^ value) * 0x9E3779B97F4A7C15ULL;
        h ^= h >> 29;
    };
    mix(shape.request);
    mix(std::uint64_t{shape.queue} << 32 | shape.run_host);
    return h;
}

std::uint32_t Shapes::acquire(const Shape& shape) {
    const auto [place, made] = index_.try_emplace(shape, size());
    if (!made) {
        ++users_[place->second];
        return place->second;
    }
    if (unused_.empty()) {
        shapes_.push_back(shape);
        users_.push_back(1);
    } else {
        place->second = unused_.back();
        unused_.pop_back();
        shapes_[place->second] = shape;
        users_[place->second] = 1;
    }
    return place->second;
}

void Shapes::release(std::uint32_t id) {
    if (--users_[id] > 0) return;
    index_.erase(shapes_[id]);
    unused_.push_back(id);
}

}  // namespace pbs::sched
