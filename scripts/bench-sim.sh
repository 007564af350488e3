#!/usr/bin/env bash
# The engine in virtual time: calls a second beside the guides' Python program (python3) and a plain Go engine, how
# time and memory grow from 1,000 to 10 million clients, and one plan of a million clients: see
# scripts/bench/README.md. No network; some five minutes. Arguments go on: -rounds 1 -most 1000000 -only engines.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/stormtest" ./cmd/stormtest
(cd scripts/bench && go build -o "$dir/bench-sim" ./sim)
"$dir/bench-sim" -stormtest "$dir/stormtest" -guide scripts/bench/guide.py "$@"
