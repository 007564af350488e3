#!/usr/bin/env bash
# Attempts per second and client CPU an attempt of closed loops over 100, 1,000 and 2,000 connections, of
# stormtest, which records all it records, and of its peers, against one server: see
# scripts/bench/README.md. It installs the peers first: those in
# Go into .bench, wrk and h2load by apt-get into the SYSTEM, where it has none. Loopback only, about eight minutes.
# Arguments go on: -rounds 1 -clients 2000 -length 5s -only stormtest,hey -lean.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/bench/install.sh
exec "$bin/peers" rate -bin "$bin" "$@"
