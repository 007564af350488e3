package sim

import "time"

// heap is a binary heap of events: by moment, and of one moment by the order of their pushes.
type heap struct {
	events []event
	pushed uint64
}

type event struct {
	due   time.Duration
	order uint64
	id    uint32
}

func (a event) before(b event) bool {
	return a.due < b.due || a.due == b.due && a.order < b.order
}

func (h *heap) push(due time.Duration, id uint32) {
	h.pushed++
	x := event{due: due, order: h.pushed, id: id}
	h.events = append(h.events, x)
	i := len(h.events) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !x.before(h.events[parent]) {
			break
		}
		h.events[i] = h.events[parent]
		i = parent
	}
	h.events[i] = x
}

// peek returns the moment of the next event, or false where there is none.
func (h *heap) peek() (due time.Duration, ok bool) {
	if len(h.events) == 0 {
		return 0, false
	}
	return h.events[0].due, true
}

// pop takes out the next event, which must be there.
func (h *heap) pop() (due time.Duration, id uint32) {
	top, last := h.events[0], h.events[len(h.events)-1]
	h.events = h.events[:len(h.events)-1]
	n, i := len(h.events), 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && h.events[child+1].before(h.events[child]) {
			child++
		}
		if !h.events[child].before(last) {
			break
		}
		h.events[i] = h.events[child]
		i = child
	}
	if n > 0 {
		h.events[i] = last
	}
	return top.due, top.id
}
