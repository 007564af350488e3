package load_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stormtest/load"
)

// Hedges of a target elsewhere, over each version of HTTP: the copy is answered and the attempt given up, whose server
// sees that its client has gone; nothing is open afterwards.
func TestHedgesOverEveryVersionOfHTTP(t *testing.T) {
	for _, v := range versions {
		for _, keepAlive := range []bool{true, false}[:3-v.major] { // over HTTP/1.1 also without
			t.Run(fmt.Sprint(v.name, ", keep-alive ", keepAlive), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var s goServer
					s.Protocols = every()
					c := signed(t, nil)
					var config *tls.Config
					if strings.HasPrefix(v.url, "https") {
						config = &tls.Config{Certificates: []tls.Certificate{c.pair}}
					}
					var gone atomic.Int64
					stop := s.start(t, config, func(w http.ResponseWriter, r *http.Request) {
						if n, _ := strconv.Atoi(r.Header.Get("Stormtest-Attempt")); n == 0 {
							<-r.Context().Done()
							gone.Add(1)
						}
					})
					defer stop()
					p := scenario(t, "url: "+v.url, "http: "+v.http, "clients: 20", "operations: 40", "hedge: 200ms", fmt.Sprint("keepalive: ", keepAlive))
					material := load.Material{}
					if config != nil {
						material.CACert = c.cert
					}
					result := visit(t.Context(), t, p, load.Env{Connect: s.network.DialContext, Material: material})
					time.Sleep(time.Second)
					synctest.Wait()
					run := &result.Runs[0]
					if got := outcomes(result); got != "map[200:40 cancelled:40] map[]" || s.requests.Load() != 80 || gone.Load() != 40 {
						t.Errorf("%s of %d requests, of which %d saw that their client had gone; want 40 each, of 80, and 40", got, s.requests.Load(), gone.Load())
					}
					if h := run.Hedging; h == nil || h.Sent != 40 || h.Won != 40 || h.Cancelled != 40 || h.Withheld != 0 {
						t.Errorf("hedging = %+v, want 40 sent, won and cancelled", h)
					}
					if s.open.Load() != 0 || run.Generator.Connections != s.opened.Load() {
						t.Errorf("%d of %d connections are open afterwards, and the report says %d", s.open.Load(), s.opened.Load(), run.Generator.Connections)
					}
				})
			})
		}
	}
}
