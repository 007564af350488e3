// Command upstream is the small service behind nginx in examples/nginx: it answers every request
// with 200 after the given time of work. It listens on a port of 127.0.0.1 that the kernel chooses,
// prints the address and serves until it is killed.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	work := flag.Duration("work", 2*time.Millisecond, "time of work for one request")
	flag.Parse()
	if err := serve(*work); err != nil {
		fmt.Fprintf(os.Stderr, "upstream: %v\n", err)
		os.Exit(1)
	}
}

func serve(work time.Duration) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Println(listener.Addr()); err != nil {
		return err
	}
	server := http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(work):
				_, _ = io.WriteString(w, "ok\n") // a client that has gone is no concern of ours
			case <-r.Context().Done():
			}
		}),
	}
	return server.Serve(listener)
}
