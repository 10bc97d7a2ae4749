# Sourced by demo/run and tests/run: checks that the Debian packages that a step needs are installed. As root
# it installs missing ones; otherwise it names them, with the command for root.

build_packages=(
    g++ cmake ninja-build pkg-config tzdata
    libsqlite3-dev libical-dev libfmt-dev libcli11-dev libedit-dev
    libuv1-dev libcpp-httplib-dev zlib1g-dev libssl-dev nlohmann-json3-dev libexpected-dev libabsl-dev
)
# For the preset portable, beside build_packages.
portable_packages=(rpm)
test_packages=(
    libgtest-dev libgmock-dev libbenchmark-dev parallel
    clang lld libclang-rt-dev clang-format clang-tidy man-db mandoc munge openssl chromium chromium-driver
)

# need_packages NAME...: installs or names missing packages.
need_packages() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "These Debian packages are missing; ask root to run:" >&2
        echo "  apt-get install ${missing[*]}" >&2
        return 1
    fi
    echo "Installing: ${missing[*]}"
    apt-get update -qq || return 1
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || {
        echo "apt-get could not install the packages named above" >&2
        return 1
    }
}
