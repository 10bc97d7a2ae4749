// main() of a fuzz target in builds without libFuzzer. Runs the target with the files of a folder, or with
// random inputs (-random=COUNT), each made from its own seed. PBSPOLICY_SEED is the first seed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

size_t run_random(unsigned count) {
    const char* text = std::getenv("PBSPOLICY_SEED");
    const unsigned first =
        text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : std::random_device{}();
    for (unsigned i = 0; i < count; ++i) {
        // print the seed first, as the input may end the process
        std::fprintf(stderr, "\rseed %u ", first + i);
        std::mt19937 random(first + i);
        std::string bytes(random() % 2000, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    }
    return count;
}

}  // namespace

int main(int argc, char** argv) {
    size_t count = 0;
    for (int i = 1; i < argc; ++i) {
        constexpr std::string_view kRandom = "-random=";
        if (std::string_view(argv[i]).starts_with(kRandom)) {
            count += run_random(static_cast<unsigned>(std::strtoul(argv[i] + kRandom.size(), nullptr, 10)));
            continue;
        }
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(argv[i], error)) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
            LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
            ++count;
        }
        if (error) {
            std::fprintf(stderr, "%s: %s\n", argv[i], error.message().c_str());
            return 1;
        }
    }
    std::printf("%zu inputs replayed\n", count);
    return count > 0 ? 0 : 1;
}
