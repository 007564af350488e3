package record

import (
	"fmt"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	r := New(Config{Duration: 10 * time.Second})
	for i := range 1000 {
		r.Sent(uint32(i), Sent{})
		r.Arrival(Arrival{At: time.Duration(i) * time.Millisecond, Attempt: 1})
	}
	run := r.Summarise(End{At: 10 * time.Second, InFlight: 1000})
	fmt.Printf("%+v\n%+v\n", run.Convoy, run.Books)
}
