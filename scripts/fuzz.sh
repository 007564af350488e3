#!/usr/bin/env bash
# Runs every fuzz target for a while, 30 s each unless told: scripts/fuzz.sh 5m. What a search finds is a new draw each time,
# so it is run by night and by hand, not where a change waits for it; there `go test` runs the corpus, in which every
# finding ends up.
set -uo pipefail
cd "$(dirname "$0")/.."
each="${1:-30s}"
found=0

# search runs one target of one package. Go's fuzzer at times reports its own end of time as a failure, "context deadline
# exceeded" with no failing input; that alone is none.
search() {
  local out
  if out=$(go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "$each" -parallel "${FUZZ_PARALLEL:-2}" 2>&1); then
    printf '%s: %s\n' "$2" "$(tail -n 1 <<<"$out")"
  elif grep -q 'context deadline exceeded' <<<"$out" && ! grep -qE 'Failing input|panic' <<<"$out"; then
    printf '%s: ended by its own deadline, no failing input\n' "$2"
  else
    printf '%s\n' "$out"
    return 1
  fi
}

while read -r file; do
  while read -r _ target; do
    search "./$(dirname "$file")" "$target" || found=1
  done < <(grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file")
done < <(grep -rl --include='*_test.go' '^func Fuzz' cmd load target report)
exit "$found"
