#!/usr/bin/env bash
# Installs the Debian packages that are missing. Usage: scripts/setup.sh build|test|fuzz|lint|bench ...
# Does nothing, at once, where all are present. Needs root or sudo only when something is missing.
set -euo pipefail

build=(g++ cmake ninja-build ccache pkg-config libtbb-dev libsimdjson-dev libcli11-dev nlohmann-json3-dev
  libgrpc++-dev protobuf-compiler-grpc protobuf-compiler libprotobuf-dev libssl-dev libsqlite3-dev libspdlog-dev
  libtomlplusplus-dev libcpp-httplib-dev prometheus-cpp-dev libsystemd-dev)
test=(python3 libgtest-dev librapidcheck-dev spin)
lint=(clang-format clang-tidy)
fuzz=(clang libclang-rt-14-dev)
bench=(libbenchmark-dev)

wanted=()
for group in "${@:-build}"; do
  case "$group" in
    build | test | lint | fuzz | bench)
      declare -n packages="$group"
      wanted+=("${packages[@]}")
      ;;
    *)
      echo "setup.sh: no group of packages is called '$group' (build, test, lint, fuzz, bench)" >&2
      exit 2
      ;;
  esac
  # The independent verifier of the tests runs on Node.js; one that is there from elsewhere is as good.
  if [ "$group" = test ]; then
    command -v node >/dev/null || wanted+=(nodejs)
    command -v npm >/dev/null || wanted+=(npm)
  fi
done

missing=()
for package in "${wanted[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup.sh: please install as root: ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
