#!/usr/bin/env bash
# What one more client that waits in its backoff adds to the memory of stormtest: see
# scripts/bench/README.md. Loopback only, under a minute. Arguments go on: -rounds 3 -clients 1000,4000.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=none
source scripts/bench/install.sh
exec "$bin/peers" memory -bin "$bin" "$@"
