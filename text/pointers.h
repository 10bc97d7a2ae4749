// Texts as execve() wants them.
#pragma once

#include <string>
#include <vector>

namespace pbs::text {

// Pointers to the texts, which have to stay as they are, and a null pointer.
inline std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    list.reserve(texts.size() + 1);
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

}  // namespace pbs::text
