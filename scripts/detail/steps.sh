# Shared by the scripts: where the project is, a timed step, the build. Sourced, never run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# step TITLE COMMAND [ARG ...]: says what is done and how long it took.
step() {
  local title=$1 start=$SECONDS status=0
  shift
  printf '== %s\n' "$title"
  "$@" || status=$?
  if [ "$status" -ne 0 ]; then
    printf '== %s: failed after %d s (exit status %d)\n' "$title" $((SECONDS - start)) "$status" >&2
    return "$status"
  fi
  printf '== %s: done in %d s\n' "$title" $((SECONDS - start))
}

# configure PRESET [CMAKE ARG ...]: quiet when all is well.
configure() {
  local preset=$1 log
  shift
  # Ubuntu 22.04 has g++ 11 as its default.
  if [ -z "${CXX:-}" ] && command -v g++-12 >/dev/null && ! g++ -dumpversion 2>/dev/null | grep -qE '^(1[2-9]|[2-9][0-9])'; then
    export CXX=g++-12
  fi
  mkdir -p build
  log=build/configure-$preset.log
  if ! cmake --preset "$preset" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

# One more than there are processors: many tests wait for a clock or a disk.
tests_at_once() { echo $(($(nproc) + 1)); }

# build PRESET [TARGET ...]
build() {
  local preset=$1
  shift
  cmake --build --preset "$preset" ${1:+--target "$@"}
}
