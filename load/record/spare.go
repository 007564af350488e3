package record

import "slices"

// A spare holds chunks of an earlier run for the next one.
type spare[T any] struct{ chunks []*T }

// take returns an empty chunk.
func (s *spare[T]) take() *T {
	last := len(s.chunks) - 1
	if last < 0 {
		return new(T)
	}
	chunk := s.chunks[last]
	s.chunks = s.chunks[:last]
	*chunk = *new(T)
	return chunk
}

// keep takes in the chunks of a list that are there, and returns the empty list.
func (s *spare[T]) keep(list []*T) []*T {
	s.chunks = slices.Grow(s.chunks, len(list))
	for i, chunk := range list {
		if chunk != nil {
			s.chunks = append(s.chunks, chunk)
			list[i] = nil
		}
	}
	return list[:0]
}
