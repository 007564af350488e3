"""The guides' simulation of a retry storm with full jitter, written anew from its description.

All clients call at t = 0. One server: a call at t is served if t >= busy_until, and then
busy_until = t + 1/capacity; otherwise the client waits random(0, min(cap, base * 2^attempt)) and calls again, for
ever. Events are in heapq, ties by client. Times are in ms.

    python3 guide.py CLIENTS CAPACITY_PER_MS CPU_SECONDS

It runs one seed after another until that much CPU time is gone, and prints what all of them did as JSON.
"""

import heapq
import json
import random
import sys
import time

BASE = 100.0
CAP = 20_000.0


def full_jitter(rng, attempt):
    return rng.uniform(0, min(CAP, BASE * 2**attempt))


def simulate(clients, capacity, seed):
    rng = random.Random(seed)
    events = [(0.0, client, 0) for client in range(clients)]
    heapq.heapify(events)
    busy_until = 0.0
    calls = served = 0
    while events:
        t, client, attempt = heapq.heappop(events)
        calls += 1
        if t >= busy_until:
            busy_until = t + 1 / capacity
            served += 1
        else:
            heapq.heappush(events, (t + full_jitter(rng, attempt), client, attempt + 1))
    return calls, served


def main():
    clients, capacity, least = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    calls = served = runs = 0
    began = time.process_time()
    while runs == 0 or time.process_time() - began < least:
        c, s = simulate(clients, capacity, runs)
        calls, served, runs = calls + c, served + s, runs + 1
    spent = time.process_time() - began
    print(json.dumps({"runs": runs, "calls": calls, "served": served, "events": calls, "cpu_ns": int(spent * 1e9)}))


main()
