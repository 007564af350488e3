package target

import (
	"bytes"

	"stormtest/target/station"
	"stormtest/target/wire"
)

// A caller is what a loop's connection has said so far.
type caller struct {
	exchange exchange
	head     []byte // the beginning of a request that is not whole yet
	bodyLeft int64  // of the request before, to be passed over
}

// hear takes in what came, in the order in which it came.
func (s *Server) hear(batch []wire.Message) {
	for _, m := range batch {
		c, ok := m.Peer.State.(*caller)
		if !ok {
			c = &caller{exchange: exchange{out: m.Peer}}
			m.Peer.State = c
		}
		if !s.listenTo(c, m) {
			m.Peer.Close()
			s.t.gone(&c.exchange)
		}
	}
}

// listenTo takes in one message; false ends the connection. The rules are those of serve.
func (s *Server) listenTo(c *caller, m wire.Message) bool {
	data := m.Data
	if len(data) == 0 {
		return false
	}
	passed := min(c.bodyLeft, int64(len(data)))
	c.bodyLeft -= passed
	if data = data[passed:]; len(data) == 0 {
		return true
	}
	if len(c.head) > 0 {
		c.head = append(c.head, data...)
		data = c.head
	}
	end := bytes.Index(data, headEnd)
	if end < 0 {
		if len(c.head) == 0 {
			c.head = bytes.Clone(data)
		}
		return len(data) < headMaxBytes
	}
	c.head = nil
	req, err := parseHead(data[:end+len(crlf)])
	if err != nil || end > headMaxBytes {
		return false
	}
	rest := data[end+len(headEnd):]
	inBody := min(req.bodyBytes, int64(len(rest)))
	c.bodyLeft = req.bodyBytes - inBody
	if int64(len(rest)) > inBody || s.t.waits(&c.exchange) {
		return false // the next request before this one's answer
	}
	adm, text := s.t.arrive(m.At, req.call, &c.exchange)
	switch adm.Kind {
	case station.Rejected, station.Failed:
		s.t.answers.send(m.Peer, text)
	case station.Reset, station.Refused:
		m.Peer.Abort()
	}
	return true
}

// waits reports whether an answer is still to come.
func (t *Target) waits(x *exchange) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return x.pending
}
