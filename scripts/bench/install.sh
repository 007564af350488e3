# For the benches, which source it at the root of the repository: builds stormtest and the benches' own
# programs, installs the peers (not with peers=none), and sets bin to the folder of all of them but two: wrk
# and h2load, where the system has none, go into the SYSTEM by apt-get. What is there in the right version is not
# built again. A peer that cannot be had is said to be missing, here and in the tables.
bin="$PWD/.bench/bin"
mkdir -p "$bin"
go build -o "$bin/stormtest" ./cmd/stormtest
(cd scripts/bench && go build -o "$bin/" ./server ./peers)

# install_go NAME PACKAGE MODULE VERSION
install_go() {
  if go version -m "$bin/$1" 2>/dev/null | awk -v m="$3" -v v="$4" '$1 == "mod" && $2 == m && $3 == v { found = 1 } END { exit !found }'; then
    return
  fi
  echo "installing $1 $4" >&2
  if ! (cd / && GOBIN="$bin" go install "$2@$4" >&2); then
    rm -f "$bin/$1"
    echo "$1 $4 could not be installed" >&2
  fi
}

# install_debian PROGRAM PACKAGE
install_debian() {
  if command -v "$1" >/dev/null; then return; fi
  echo "installing $1 from package $2" >&2
  if ! { apt-get install -y --no-install-recommends "$2" || { apt-get update && apt-get install -y --no-install-recommends "$2"; }; } >"$bin/../$1.log" 2>&1; then
    echo "$1 could not be installed (apt-get install $2): $(tail -n 1 "$bin/../$1.log")" >&2
  fi
}

if [ "${peers:-all}" = none ]; then return; fi
install_go hey github.com/rakyll/hey github.com/rakyll/hey v0.1.5
install_go vegeta github.com/tsenart/vegeta/v12 github.com/tsenart/vegeta/v12 v12.13.0
install_go bombardier github.com/codesenberg/bombardier github.com/codesenberg/bombardier v1.2.6
install_go fortio fortio.org/fortio fortio.org/fortio v1.66.5
install_debian wrk wrk
install_debian h2load nghttp2-client
