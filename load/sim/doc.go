// Package sim runs a plan's storm in virtual time: the clients, policy, station and recorder of the
// engine that runs in real time, under a queue of events in place of a clock and sockets.
//
// It is pure and exact. A run is a function of its Config: nobody is ever late, an attempt leaves
// when it is due, and two runs of one seed are the same to the byte on any machine.
//
// # Order
//
// Events happen in the order of their moments, those of one moment in the order in which they were
// scheduled. What the target has finished by a moment comes before everything else of that moment,
// each completion at its own. So at t0 the clients arrive in the order of their numbers. An answer
// that arrives at the very moment when its attempt times out is an answer.
//
// The rules are those of the fleet that reaches its target in memory (load/fleet), of which a run
// in a bubble counts the same.
//
// # Network
//
// Where a plan has latency or loss, an attempt arrives one latency after it left, and its answer
// another one after the target gave it. A timeout counts from when the attempt was due. What was
// given up still arrives, and is work until the news of it arrives, when a target that cancels abandoned
// work stops. Work is counted as wasted where its answer reaches nobody, whatever the target knows.
// A client whose message was lost learns nothing before its timeout. A target that begins to refuse closes its connections:
// clients learn of it one latency later, and a request that is on its way then is lost.
//
// Model occ has no station but a row of a database, and each attempt is four messages: see row.
package sim
