#!/usr/bin/env bash
# Real time against the exact count: how many a target without a queue serves within 6 s, by the real clock
# over sockets and in memory, and in virtual time. Loopback only, some 45 s for each seed.
#
#   scripts/bench-clock.sh [SEEDS]
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/" ./cmd/stormtest ./scripts/clock
"$dir/clock" "$dir/stormtest" "${1:-1}"
