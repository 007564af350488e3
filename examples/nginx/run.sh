#!/usr/bin/env bash
# Storms nginx with limit_req in front of a small upstream, and compares what stormtest says with
# nginx's own access log. One line a check with its figures; ends with 1 where one of them fails.
#
# Needs Go, openssl and nginx. Where nginx is absent its Debian package is downloaded and unpacked
# into the temporary directory, which takes no root and starts no service. Everything listens on
# high ports of 127.0.0.1, is ended by its own process id, and ends by itself after three minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rate=400 # a second, in nginx.conf

dir=$(mktemp -d)
pids=()
failures=0
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
  printf 'run.sh: %s\n' "$*" >&2
  exit 1
}

# check prints one line; its first argument is the condition, of bash's arithmetic.
check() {
  if (($1)); then
    printf 'ok    %s\n' "$2"
  else
    printf 'FAIL  %s\n' "$2"
    failures=$((failures + 1))
  fi
}

# storm runs stormtest quietly; what it printed is in $dir/out. No run takes a minute.
storm() { timeout --foreground 60 "$dir/stormtest" "$@" >"$dir/out" 2>&1; }

# must is storm for runs that have to end well.
must() { storm "$@" || { code=$?; cat "$dir/out"; fail "stormtest ended with $code: stormtest $*"; }; }

# outcomes FILE prints how the attempts of the result's first run ended, "name count" in a line.
outcomes() { grep -o '"by_outcome": *{[^}]*}' "$1" | awk 'NR == 1' | grep -o '"[a-z_0-9]*": *[0-9][0-9]*' | sed 's/[": ]\{1,\}/ /g'; }
outcome() { outcomes "$1" | awk -v name="$2" '$1 == name { n = $2 } END { print n + 0 }'; }
total() { outcomes "$1" | awk '{ n += $2 } END { print n + 0 }'; }
# number FILE KEY prints the first number of that key, rounded down.
number() { grep -o "\"$2\": *[0-9]*" "$1" | awk -F: 'NR == 1 { print $2 + 0 }' | grep . || fail "$1 has no $2"; }
# logged FILE PATTERN prints how many lines of the access log match.
logged() { grep -c "$2" "$dir/$1" || true; }

find_nginx() {
  PATH=$PATH:/usr/sbin:/sbin
  nginx=$(command -v nginx || true)
  if [ ! -x "$nginx" ]; then
    command -v apt-get >/dev/null || fail "there is no nginx, and no apt-get to fetch it with"
    echo "nginx is absent: downloading Debian's package and unpacking it into $dir (nothing is installed)"
    (cd "$dir" && apt-get download nginx >apt.log 2>&1) || { cat "$dir/apt.log"; fail "apt-get download nginx failed; apt-get update may help"; }
    dpkg -x "$dir"/nginx_*.deb "$dir/debian"
    nginx=$dir/debian/usr/sbin/nginx
  fi
  "$nginx" -v 2>"$dir/version" || { ldd "$nginx" | grep 'not found' || true; fail "nginx does not run; apt-get install nginx would bring what it lacks"; }
  cat "$dir/version"
}

start_upstream() {
  timeout 180 "$dir/upstream" >"$dir/upstream.addr" &
  pids+=($!)
  for _ in {1..50}; do
    upstream=$(cat "$dir/upstream.addr")
    [ -z "$upstream" ] || return 0
    sleep 0.1
  done
  fail "the upstream did not start"
}

# start_nginx tries a few pairs of ports below those that the kernel hands out by itself.
start_nginx() {
  local pid
  for _ in 1 2 3 4 5; do
    http=$((20000 + RANDOM % 6000 * 2))
    https=$((http + 1))
    sed -e "s/@HTTP_PORT@/$http/; s/@HTTPS_PORT@/$https/; s/@UPSTREAM@/$upstream/; s/@RATE@/$rate/" \
      -e "s/@FILES@/$(ulimit -n)/" "$here/nginx.conf" >"$dir/nginx.conf"
    timeout 180 "$nginx" -p "$dir" -c "$dir/nginx.conf" -e "$dir/error.log" 2>"$dir/nginx.err" &
    pid=$!
    for _ in {1..30}; do
      sleep 0.1
      kill -0 "$pid" 2>/dev/null || break
      if (exec 3<>"/dev/tcp/127.0.0.1/$http") 2>/dev/null; then
        pids+=("$pid")
        return 0
      fi
    done
    kill "$pid" 2>/dev/null || true
    wait "$pid" || true
  done
  cat "$dir/nginx.err" >&2
  fail "nginx did not start"
}

probe_finds_the_rate() {
  must probe "http://127.0.0.1:$http/limited" --json "$dir/probe.json"
  local found
  found=$(number "$dir/probe.json" capacity_per_second)
  check "found * 10 >= rate * 8 && found * 10 <= rate * 12" \
    "probe: capacity $found a second, limit_req allows $rate (20 % either way is allowed)"
}

strategies_differ() {
  local s verdict
  for s in none full; do
    must --clients 500 --strategy "$s" --duration 10s --seed 1 --quiet --json "$dir/$s.json" "http://127.0.0.1:$http/limited"
    sed -n "/^$s /,/^\$/p" "$dir/out"
  done
  verdict=$(sed -n 's/^ *"verdict": "\(.*\)",*$/\1/p' "$dir/none.json")
  check "$([ "$verdict" = CONVOY ] && echo 1 || echo 0)" "none: verdict $verdict, 500 clients without jitter are a convoy"
  verdict=$(sed -n 's/^ *"verdict": "\(.*\)",*$/\1/p' "$dir/full.json")
  check "$([ "$verdict" != CONVOY ] && echo 1 || echo 0)" "full: verdict $verdict, not a convoy"
}

# told_apart PATH compares every outcome with the status in the log, where 444 is no answer at all.
# What was in flight at the end may be in the log alone.
told_apart() {
  local json=$dir/$1.json log=$1.log ok rejected reset flying sent all
  must --clients 500 --strategy full --duration 8s --retry-on +reset --seed 2 --probe off --quiet --json "$json" "http://127.0.0.1:$http/$1"
  ok=$(outcome "$json" 200) rejected=$(outcome "$json" 503) reset=$(outcome "$json" reset)
  flying=$(number "$json" in_flight_at_end) sent=$(number "$json" sent) all=$(total "$json")
  check "all + flying == sent && ok + rejected + reset == all" "/$1: $sent sent = $ok x 200 + $rejected x 503 + $reset reset + $flying in flight"
  check "reset > 0 && reset == $(logged "$log" '^444')" "/$1: $reset resets, nginx dropped $(logged "$log" '^444')"
  if [ "$1" = mixed ]; then
    check "rejected > 0 && rejected == $(logged "$log" '^503')" "/$1: $rejected x 503, nginx logged $(logged "$log" '^503')"
  fi
  check "$(logged "$log" .) - all >= 0 && $(logged "$log" .) - all <= flying" "/$1: $all answered or reset, nginx logged $(logged "$log" .)"
}

# speaks FLAG VERSION storms over TLS and asks the log which version was spoken, and no other.
speaks() {
  local all
  : >"$dir/https.log"
  must --clients 200 --strategy full --duration 5s --seed 3 --probe off --quiet --cacert "$dir/cert.pem" --http "$1" \
    --json "$dir/https.json" "https://127.0.0.1:$https/"
  all=$(total "$dir/https.json")
  check "$(outcome "$dir/https.json" 200) >= 190 && all + $(number "$dir/https.json" in_flight_at_end) >= $(logged https.log "$2") && all == $(logged https.log "$2") && all == $(logged https.log .)" \
    "https, --http $1: $all attempts, $(outcome "$dir/https.json" 200) x 200, $(outcome "$dir/https.json" 503) x 503; nginx logged $(logged https.log "$2") of $(logged https.log .) as $2"
}

a_stranger_is_refused() {
  local code=0
  : >"$dir/https.log"
  storm --clients 200 --duration 5s --probe off --quiet "https://127.0.0.1:$https/" || code=$?
  check "code == 1 && $(grep -c 'certificate' "$dir/out") > 0 && $(logged https.log .) == 0" \
    "https without --cacert: exit code $code, $(logged https.log .) requests; $(tail -n 1 "$dir/out")"
}

ulimit -n "$(ulimit -Hn)" 2>/dev/null || true
[ "$(ulimit -n)" != unlimited ] && [ "$(ulimit -n)" -ge 4096 ] || fail "needs 4096 open files, ulimit -n is $(ulimit -n)"
find_nginx
(cd "$here/../.." && export GOFLAGS="${GOFLAGS:-} -buildvcs=false" && go build -o "$dir/stormtest" ./cmd/stormtest && go build -o "$dir/upstream" ./examples/nginx/upstream)
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=storm.example \
  -addext 'subjectAltName=IP:127.0.0.1,DNS:localhost' -keyout "$dir/key.pem" -out "$dir/cert.pem" 2>"$dir/openssl.log" ||
  { cat "$dir/openssl.log"; fail "openssl made no certificate"; }
start_upstream
start_nginx

probe_finds_the_rate
strategies_differ
told_apart mixed
told_apart closed
speaks auto HTTP/2.0
speaks 1.1 HTTP/1.1
a_stranger_is_refused

((failures == 0)) || fail "$failures checks failed"
