// Package stamp is what the bench server writes down of each request, and how it is handed to
// the program that measures.
package stamp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// A Stamp is one request as the server saw it.
type Stamp struct {
	At         time.Duration // since the server began: when its handler started
	Connection uint32        // 0 is the first that the server accepted
	Request    uint32        // 0 is the first of its connection
}

// bytesEach is the size of a Stamp on the wire.
const bytesEach = 16

// A Log holds the stamps of one run. Add is safe for concurrent use; Write and Reset are for
// when nothing is added.
type Log struct {
	stamps []Stamp
	next   atomic.Int64
}

// NewLog returns a Log of room for most stamps, every page of it touched, so that adding one
// costs no page fault.
func NewLog(most int) *Log {
	l := &Log{stamps: make([]Stamp, most)}
	for i := range l.stamps {
		l.stamps[i].Request = 1
	}
	return l
}

// Add writes s down. Beyond the room it is lost, and Write says so.
func (l *Log) Add(s Stamp) {
	if i := l.next.Add(1) - 1; i < int64(len(l.stamps)) {
		l.stamps[i] = s
	}
}

// Reset forgets every stamp.
func (l *Log) Reset() { l.next.Store(0) }

// Write writes every stamp to w, in the order of Add. Two that came together may stand in
// either order.
func (l *Log) Write(w io.Writer) error {
	n := l.next.Load()
	if n > int64(len(l.stamps)) {
		return errors.New("stamp: more requests than there is room for")
	}
	out := bufio.NewWriter(w)
	var b [bytesEach]byte
	for _, s := range l.stamps[:n] {
		binary.LittleEndian.PutUint64(b[:], uint64(s.At))
		binary.LittleEndian.PutUint32(b[8:], s.Connection)
		binary.LittleEndian.PutUint32(b[12:], s.Request)
		if _, err := out.Write(b[:]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Read reads what Write wrote.
func Read(r io.Reader) ([]Stamp, error) {
	in := bufio.NewReader(r)
	var stamps []Stamp
	var b [bytesEach]byte
	for {
		if _, err := io.ReadFull(in, b[:]); err == io.EOF {
			return stamps, nil
		} else if err != nil {
			return nil, err
		}
		stamps = append(stamps, Stamp{
			At:         time.Duration(binary.LittleEndian.Uint64(b[:])),
			Connection: binary.LittleEndian.Uint32(b[8:]),
			Request:    binary.LittleEndian.Uint32(b[12:]),
		})
	}
}
