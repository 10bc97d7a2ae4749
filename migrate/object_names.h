// The names of objects that migrations make from the files of several schedulers. Internal to migrate/.
#pragma once

namespace pbs::migrate {

inline constexpr const char* kPolicy = "default_policy";
inline constexpr const char* kGroup = "default_fs_group";
inline constexpr const char* kSched = "default";

}  // namespace pbs::migrate
