package record

import (
	"reflect"
	"testing"
	"time"
)

func TestSynchronyWidth(t *testing.T) {
	for _, c := range []struct{ length, want time.Duration }{
		{1, time.Second},
		{30 * time.Second, time.Second},
		{600 * time.Second, time.Second},
		{600*time.Second + 1, 2 * time.Second},
		{1200 * time.Second, 2 * time.Second},
		{1201 * time.Second, 5 * time.Second},
		{2 * time.Hour, 20 * time.Second},
		{24 * time.Hour, 200 * time.Second},
	} {
		if got := synchronyWidth(c.length); got != c.want {
			t.Errorf("windows of a run of %v are %v wide, want %v", c.length, got, c.want)
		}
	}
}

// Each window is what the whole run would be with that window: the same indexes of the same retries.
func TestSynchronyIsThatOfItsWindow(t *testing.T) {
	rng := seeded(1)
	end := 6*time.Second + 250*time.Millisecond
	c := Config{Duration: 10 * time.Second, Bucket: 70 * time.Millisecond, Detail: true}
	r := New(c)
	times := poisson(rng, 300, 4*time.Second)
	for range 500 { // a convoy in the sixth second, and then too few
		times = append(times, 5*time.Second+time.Duration(rng.Int64N(int64(20*time.Millisecond))))
	}
	times = sorted(append(times, 6*time.Second+1, 6*time.Second+3))
	for _, at := range times {
		r.Arrival(Arrival{At: at, Attempt: 1})
	}
	r.Arrival(Arrival{At: 5 * time.Second}) // no retry
	list := r.Summarise(End{At: end}).Detail.Synchrony
	if len(list) != 7 {
		t.Fatalf("%d windows, want 7", len(list))
	}
	var retries int64
	for i, x := range list {
		if x.At != time.Duration(i)*time.Second || x.To != min(x.At+time.Second, end) {
			t.Errorf("window %d is [%v, %v)", i, x.At, x.To)
		}
		retries += x.Retries
		want := r.Summarise(End{At: end, WindowFrom: x.At, WindowTo: x.To}).Convoy
		if x.Retries != want.WindowArrivals || !reflect.DeepEqual(x.ConvoyIndex, want.ConvoyIndex) || !reflect.DeepEqual(x.RSI, want.RSI) {
			t.Errorf("window %d = %+v, want %d, %v, %v", i, x, want.WindowArrivals, want.ConvoyIndex, want.RSI)
		}
	}
	if retries != int64(len(times)) {
		t.Errorf("%d retries in all windows, want %d", retries, len(times))
	}
	if *list[0].ConvoyIndex > ThresholdPartial || *list[5].ConvoyIndex < ThresholdConvoy || list[4].ConvoyIndex != nil || list[4].RSI != nil || list[6].ConvoyIndex != nil {
		t.Errorf("windows = %+v", list)
	}
}

func TestSynchronyOfNothing(t *testing.T) {
	r := New(Config{Detail: true})
	if got := r.Summarise(End{}).Detail.Synchrony; got == nil || len(got) != 0 {
		t.Errorf("windows of a run of no length = %v, want an empty list", got)
	}
	list := r.Summarise(End{At: 2 * time.Hour}).Detail.Synchrony
	if len(list) != 360 || list[359].To != 2*time.Hour || list[0].ConvoyIndex != nil {
		t.Errorf("%d windows of two hours, the last %+v", len(list), list[len(list)-1])
	}
}
