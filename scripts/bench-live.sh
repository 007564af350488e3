#!/usr/bin/env bash
# What the live view costs the generator: the main job on a pseudo-terminal with the view, with the bar and
# with no progress at all, one after another in turn, and of each the medians over its runs of lateness p99, of that
# after the first wave, of the start spread, and of the processor time. Loopback only; the arrivals differ by seed,
# which is the same for the three of one round. Some 35 s a round. It needs script (bsdutils) and python3.
#
#   scripts/bench-live.sh [ROUNDS] [FLAG...]      # as in: scripts/bench-live.sh 15 --duration 10s
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-9}
shift || true
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -o "$dir/stormtest" ./cmd/stormtest

# one runs the storm in a round in a way, its stderr on a terminal of 100 columns and 30 lines.
one() {
  local round=$1 way=$2
  shift 2
  local command="stty cols 100 rows 30; TIMEFORMAT='%U %S'; { time '$dir/stormtest' --clients 2000 --strategy full --duration 10s --seed $round --progress $way --json '$dir/$way.$round.json' $* 2>/dev/tty >/dev/null; } 2>'$dir/$way.$round.time'"
  TERM=xterm-256color script -qec "bash -c \"$command\"" /dev/null </dev/null >"$dir/$way.$round.screen"
}

for round in $(seq "$rounds"); do
  ways=(live bar none)
  for i in 0 1 2; do
    one "$round" "${ways[(i + round) % 3]}" "$@"
  done
done

python3 - "$dir" "$rounds" <<'PY'
import json, statistics, sys
folder, rounds = sys.argv[1], int(sys.argv[2])
print(f"{'progress':9}{'lateness p99':>14}{'after first wave':>18}{'start spread':>14}{'processor':>11}{'invalid':>9}{'bytes shown':>13}")
for way in ("live", "bar", "none"):
    late, rest, spread, cpu, invalid, shown = [], [], [], [], 0, []
    for n in range(1, rounds + 1):
        with open(f"{folder}/{way}.{n}.json") as f:
            result = json.load(f)
        run = result["runs"][0]
        late.append(run["lateness_ns"]["p99"] / 1e6)
        rest.append(run["generator"]["lateness_rest_ns"]["p99"] / 1e6)
        spread.append(run["generator"]["start_spread_ns"] / 1e6)
        invalid += not result["valid"]
        with open(f"{folder}/{way}.{n}.time") as f:
            cpu.append(sum(float(x) for x in f.read().split()))
        with open(f"{folder}/{way}.{n}.screen", "rb") as f:
            shown.append(len(f.read()))
    m = statistics.median
    print(f"{way:9}{m(late):11.2f} ms{m(rest):15.2f} ms{m(spread):11.2f} ms{m(cpu):9.2f} s{invalid:6d}/{rounds}{m(shown):13.0f}")
PY
