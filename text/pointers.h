// Makes argument and environment lists in the form that execve() takes.
#pragma once

#include <string>
#include <vector>

namespace pbs::text {

// Pointers to the texts, then a null pointer. The pointers are valid as long as the texts aren't changed.
inline std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    list.reserve(texts.size() + 1);
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

}  // namespace pbs::text
