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
  cmake --build --preset "$preset" ${1:+--target "$@"} | show_progress
}

# Shows "[12/195] Building ..." lines of a build as one line with an estimate of what is left; on a terminal it is drawn again at
# each step, in a file it appears every half minute. Everything else, such as warnings, is passed on.
show_progress() {
  local line started=$SECONDS shown_at=$SECONDS is_drawn= pattern='^\[([0-9]+)/([0-9]+)\] '
  while IFS= read -r line; do
    if [[ $line =~ $pattern ]]; then
      if [ -t 1 ]; then
        printf '\r\033[K  %s' "$(progress_text "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" $((SECONDS - started)))"
        is_drawn=yes
      elif [ $((SECONDS - shown_at)) -ge 30 ]; then
        printf '  %s\n' "$(progress_text "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" $((SECONDS - started)))"
        shown_at=$SECONDS
      fi
    else
      [ -z "$is_drawn" ] || printf '\r\033[K'
      is_drawn=
      printf '%s\n' "$line"
    fi
  done
  [ -z "$is_drawn" ] || printf '\r\033[K'
}

# progress_text DONE ALL SECONDS: steps take unlike times, so what is left is an estimate, and none is made of the first few.
progress_text() {
  local done=$1 all=$2 seconds=$3 left
  left=$((seconds * (all - done) / done))
  if [ "$done" -ge "$all" ]; then
    printf '%d of %d steps in %s' "$done" "$all" "$(time_text "$seconds")"
  elif [ $((done * 20)) -lt "$all" ] || [ "$seconds" -lt 5 ]; then
    printf '%d of %d steps, %s so far' "$done" "$all" "$(time_text "$seconds")"
  else
    printf '%d of %d steps, %s so far, about %s left' "$done" "$all" "$(time_text "$seconds")" "$(time_text "$left")"
  fi
}

time_text() {
  if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}
