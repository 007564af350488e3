package fleet

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"sync"

	"stormtest/target/wire"
)

// finish reads an answer's body to its end, of which rest is there already. It reports whether
// the connection is of no more use.
func (c *client) finish(r response, rest []byte) (last bool, err error) {
	switch {
	case r.chunked:
		return c.discardChunks(rest)
	case r.untilEnd:
		return true, c.discardAll()
	}
	missing := r.bodyBytes - int64(len(rest))
	return missing < 0, c.discard(missing) // missing < 0: more came than was asked for
}

// discard reads over a body's rest.
func (c *client) discard(rest int64) error {
	for rest > 0 {
		n, err := c.conn.Receive(c.in[:min(rest, int64(len(c.in)))])
		rest -= int64(n)
		if err != nil && rest > 0 {
			return err
		}
	}
	return nil
}

// discardAll reads until the server ends the connection.
func (c *client) discardAll() error {
	for {
		if _, err := c.conn.Receive(c.in); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// readers are for chunked bodies, which the built-in target does not send.
var readers = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

// trailerMostBytes bounds what follows a chunked body.
const trailerMostBytes = 64 << 10

// discardChunks reads over a chunked body and its trailers.
func (c *client) discardChunks(rest []byte) (last bool, err error) {
	in, ok := readers.Get().(*bufio.Reader)
	if !ok {
		panic("fleet: BUG: a pool of readers holds something else")
	}
	defer readers.Put(in)
	in.Reset(io.MultiReader(bytes.NewReader(bytes.Clone(rest)), receiver{c.conn}))
	defer in.Reset(nil)
	if _, err := io.Copy(io.Discard, httputil.NewChunkedReader(in)); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || isNetwork(err) {
			return true, err
		}
		return true, errMalformed
	}
	for read := 0; read < trailerMostBytes; {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return true, err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return in.Buffered() > 0, nil
		}
		read += len(line)
	}
	return true, errMalformed
}

// isNetwork reports whether err is the connection's, and not one of its text's form.
func isNetwork(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) || errors.Is(err, io.EOF)
}

// receiver reads from a connection as an io.Reader.
type receiver struct{ conn *wire.Conn }

func (r receiver) Read(b []byte) (int, error) { return r.conn.Receive(b) }
