package main

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// The guides' model as it would be written in Go for one evening: the event queue is container/heap, ties go by
// client. It is what stormtest's engine is compared with.

type plainCall struct {
	due     time.Duration
	client  uint32
	attempt int
}

type plainCalls []plainCall

func (c plainCalls) Len() int { return len(c) }
func (c plainCalls) Less(i, j int) bool {
	return c[i].due < c[j].due || c[i].due == c[j].due && c[i].client < c[j].client
}
func (c plainCalls) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *plainCalls) Push(x any)   { *c = append(*c, x.(plainCall)) }
func (c *plainCalls) Pop() any {
	old := *c
	last := old[len(old)-1]
	*c = old[:len(old)-1]
	return last
}

const (
	plainBase = 100 * time.Millisecond
	plainCap  = 20 * time.Second
)

// plain runs the model until everybody is served.
func plain(clients int, perSecond float64, seed uint64) (calls, served int64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	service := time.Duration(float64(time.Second) / perSecond)
	pending := make(plainCalls, clients)
	for i := range pending {
		pending[i].client = uint32(i)
	}
	heap.Init(&pending)
	var busyUntil time.Duration
	for len(pending) > 0 {
		c := heap.Pop(&pending).(plainCall)
		calls++
		if c.due >= busyUntil {
			busyUntil = c.due + service
			served++
			continue
		}
		ceiling := min(plainCap, plainBase<<min(c.attempt, 20))
		c.due += time.Duration(rng.Int64N(int64(ceiling)))
		c.attempt++
		heap.Push(&pending, c)
	}
	return calls, served
}
