package load_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// An outage of a target elsewhere is the user's word: nothing is done to the target, and the notes say so.
func TestAnOutageElsewhereIsDeclared(t *testing.T) {
	for _, outage := range []string{"outage: 1s..2s", "probe: off"} {
		synctest.Test(t, func(t *testing.T) {
			s := stub{answer: func(*http.Request, int) (string, bool) {
				return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false
			}}
			defer s.start(t)()
			result := elsewhere(t, scenario(t, "url: http://127.0.0.1/", "clients: 10", "rate: 50/s", "duration: 4s", outage), s.network.DialContext)
			said := strings.Contains(strings.Join(result.Runs[0].Notes, "\n"), "outages are yours to make here: stormtest does nothing to the target")
			if got := outcomes(result); said != strings.HasPrefix(outage, "outage") || got != "map[200:200] map[]" {
				t.Errorf("%s: %s, said that it is declared: %v", outage, got, said)
			}
		})
	}
}
