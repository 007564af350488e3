#!/usr/bin/env bash
# How tightly 2,000 and 8,000 simultaneous requests arrive, from stormtest and from its peers, at one server
# that stamps them: see scripts/bench/README.md. It installs the peers first: those in
# Go into .bench, wrk and h2load by apt-get into the SYSTEM, where it has none. Loopback only,
# about five minutes. Arguments go on: -rounds 3 -clients 2000 -only stormtest,wrk -lean.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/bench/install.sh
exec "$bin/peers" release -bin "$bin" -lean "$@"
