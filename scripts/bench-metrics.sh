#!/usr/bin/env bash
# What --listen-metrics costs the load generator: the lateness of its sends (p50, p99) with nobody looking, and with a
# scrape a second as a Prometheus makes it, one after the other so that both meet the same machine; medians over the
# rounds. A scrape of a steady load, where every send counts alike, and of a storm. Loopback only, about seven minutes.
# Arguments: rounds (7), seconds of each run (10).
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-7}
length=${2:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/stormtest" ./cmd/stormtest

# scrape asks for the metrics once a second until the run of that process has ended.
scrape() {
  local pid=$1 url= took
  while kill -0 "$pid" 2>/dev/null; do
    url=${url:-$(grep -o 'http://[^ ]*/metrics' "$work/err" || true)}
    if [ -n "$url" ]; then
      took=$(curl -sf -o /dev/null -w '%{time_total}' -H 'Accept: application/openmetrics-text;version=1.0.0' "$url") && echo "$took" >>"$work/scrapes"
    fi
    sleep 1
  done
}

# run makes one run and notes its lateness by percentile, in µs.
run() {
  local name=$1 mode=$2
  shift 2
  local more=()
  [ "$mode" = alone ] || more=(--listen-metrics 0)
  "$work/stormtest" "$@" "${more[@]}" --seed 1 --duration "${length}s" --quiet --prom "$work/prom" >"$work/out" 2>"$work/err" &
  local pid=$!
  [ "$mode" != scraped ] || scrape "$pid"
  wait "$pid" || true
  for q in 0.5 0.99; do
    grep "^stormtest_lateness_quantiles_seconds{.*quantile=\"$q\"}" "$work/prom" | awk '{ printf "%.0f\n", $2 * 1e6 }' >>"$work/$name-$mode-$q"
  done
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

modes=(alone served scraped)
for ((i = 0; i < rounds; i++)); do
  for mode in "${modes[@]}"; do
    run steady "$mode" --rate 2000/s --clients 2000 --capacity 4000/s --strategy full
    run storm "$mode" --clients 2000 --strategy full
  done
done
printf '%-8s %-9s %12s %12s\n' load metrics 'p50, µs' 'p99, µs'
for name in steady storm; do
  for mode in "${modes[@]}"; do
    printf '%-8s %-9s %12s %12s\n' "$name" "$mode" "$(median "$work/$name-$mode-0.5")" "$(median "$work/$name-$mode-0.99")"
  done
done
printf 'a scrape took %s s (median), %s s at most, %s scrapes\n' "$(median "$work/scrapes")" "$(sort -n "$work/scrapes" | tail -n 1)" "$(wc -l <"$work/scrapes")"
