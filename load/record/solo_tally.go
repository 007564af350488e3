package record

import (
	"math"
	"math/bits"
)

// A soloTally collects values for a tally in a plain array of its counts, without the library's checks. Not safe
// for concurrent use.
type soloTally struct {
	into    *tally
	counts  []uint32 // by tallyGeometry; as long as the largest value needs
	highest int64    // of into

	count           int64
	min, max        int64
	sumHigh, sumLow uint64
}

func (t *soloTally) init() {
	t.highest = t.into.highest
	t.min, t.max = math.MaxInt64, 0
}

// add records one value.
func (t *soloTally) add(v int64) {
	i := tallyIndex(v)
	if uint64(v) > uint64(t.highest) || uint(i) >= uint(len(t.counts)) {
		t.beyond(v, i)
		return
	}
	t.count++
	t.min, t.max = min(t.min, v), max(t.max, v)
	var carry uint64
	t.sumLow, carry = bits.Add64(t.sumLow, uint64(v), 0)
	t.sumHigh += carry
	if t.counts[i]++; t.counts[i] == math.MaxUint32 {
		t.fold()
	}
}

// beyond records a value for which there is no count yet, or which has none in its tally either.
func (t *soloTally) beyond(v int64, index int) {
	if v < 0 || v > t.highest {
		t.into.add(v)
		return
	}
	// Twofold, for delays and elapsed times grow step by step.
	longer := make([]uint32, min(max(index+1, 2*len(t.counts), 4<<tallyDigitBits), tallyIndex(t.highest)+1))
	copy(longer, t.counts)
	t.counts = longer
	t.add(v)
}

// fold moves what was collected into the tally.
func (t *soloTally) fold() {
	if t.count == 0 {
		return
	}
	into := t.into
	if t.min == t.max {
		t.counts[tallyIndex(t.min)] = 0
		into.addMany(t.min, t.count)
		t.forget()
		return
	}
	if into.histogram == nil {
		into.open()
	}
	for i := tallyIndex(t.min); i <= tallyIndex(t.max); i++ {
		if n := t.counts[i]; n > 0 {
			into.bin(tallyGeometry.lowest(i), int64(n))
			t.counts[i] = 0
		}
	}
	into.count += t.count
	into.min, into.max = min(into.min, t.min), max(into.max, t.max)
	into.addSum(t.sumHigh, t.sumLow)
	t.forget()
}

func (t *soloTally) forget() {
	t.count, t.min, t.max, t.sumHigh, t.sumLow = 0, math.MaxInt64, 0, 0, 0
}
