package record

import "time"

// A split says which recorders beside the whole's record the parts of a fleet.
type split struct {
	parts []*Recorder
	of    []uint8 // by client: its place in parts
}

// Split has the recorder of each part record what concerns its clients, beside r, which records the whole: of gives every
// client its place in parts. Of what the target tells, what is told with the client: see [Recorder.ArrivalOf] and its
// like. Call it before anything is recorded, and after a Reset again. The parts are read and reset by themselves.
func (r *Recorder) Split(of []uint8, parts []*Recorder) {
	r.split = split{parts: parts, of: of}
	if r.solo != nil {
		r.solo.divide()
	}
}

// part returns the recorder of a client's part, nil where there is none.
func (r *Recorder) part(client uint32) *Recorder {
	if int64(client) >= int64(len(r.split.of)) {
		return nil
	}
	return r.split.parts[r.split.of[client]]
}

// ArrivalOf is Arrival of an attempt of client.
func (r *Recorder) ArrivalOf(client uint32, a Arrival) {
	r.Arrival(a)
	if part := r.part(client); part != nil {
		part.Arrival(a)
	}
}

// ServedOf is Served of an attempt of client.
func (r *Recorder) ServedOf(client uint32, at time.Duration, wasted bool) {
	r.Served(at, wasted)
	if part := r.part(client); part != nil {
		part.Served(at, wasted)
	}
}

// DroppedOf is Dropped of an attempt of client.
func (r *Recorder) DroppedOf(client uint32, at time.Duration, expired bool) {
	r.Dropped(at, expired)
	if part := r.part(client); part != nil {
		part.Dropped(at, expired)
	}
}

// RejectedOf is Rejected of an attempt of client.
func (r *Recorder) RejectedOf(client uint32, at time.Duration) {
	r.Rejected(at)
	if part := r.part(client); part != nil {
		part.Rejected(at)
	}
}

// divide makes the Solos of the parts those of s.
func (s *Solo) divide() {
	s.parts, s.part = nil, nil
	for _, part := range s.r.split.parts {
		s.parts = append(s.parts, part.Solo())
	}
}

// Of turns s to a client: what follows is recorded of its part too, if s has parts. It returns s.
func (s *Solo) Of(client uint32) *Solo {
	if s.parts != nil {
		s.part = s.parts[s.r.split.of[client]]
	}
	return s
}
