package metrics

import (
	"slices"
	"strings"
)

// A Kind is what the samples of a family are.
type Kind int

// The kinds.
const (
	Gauge     Kind = iota
	Counter        // a count since the start, which never falls
	Histogram      // cumulative counts
	Summary        // quantiles
)

// A Family is all series of one name. What it was given to others is not changed any more.
type Family struct {
	Name string
	Kind Kind
	Help string
	// Labels are the names of every sample's labels, in their order.
	Labels  []string
	Samples []Sample
}

// Unit is the unit of the family's values by its name; empty where they have none.
func (f *Family) Unit() string {
	if strings.HasSuffix(strings.TrimSuffix(f.Name, "_total"), "_seconds") {
		return "seconds"
	}
	return ""
}

// A Sample is one series at one moment.
type Sample struct {
	Labels []string // values, one for each of the family's names
	Value  float64  // of a gauge or a counter

	// Count and Sum are of a histogram or a summary.
	Count uint64
	Sum   float64
	// Buckets are of a histogram, ascending; what lies above the last is in Count alone.
	Buckets []Bucket
	// Quantiles are of a summary.
	Quantiles []Quantile
}

// A Bucket says how many values are at most UpTo.
type Bucket struct {
	UpTo  float64
	Count uint64
}

// A Quantile is the value that the share At of all values does not exceed: 0 is the least, 1 the largest.
type Quantile struct{ At, Value float64 }

// key tells s from the other samples of its family.
func (s *Sample) key() string { return strings.Join(s.Labels, "\x00") }

// clone returns a copy of s of which the counts may be changed.
func (s *Sample) clone() Sample {
	own := *s
	own.Buckets = slices.Clone(s.Buckets)
	return own
}

// cumulative reports whether k counts since the start: what must not fall, and adds up over runs.
func (k Kind) cumulative() bool { return k != Gauge }

// add adds the counts of t, which is of the same series.
func (s *Sample) add(t *Sample) {
	s.Value += t.Value
	s.Count += t.Count
	s.Sum += t.Sum
	for i := range s.Buckets {
		s.Buckets[i].Count += t.Buckets[i].Count
	}
}

// raise brings the counts of s to those of t where these are higher.
func (s *Sample) raise(t *Sample) {
	s.Value = max(s.Value, t.Value)
	s.Count = max(s.Count, t.Count)
	s.Sum = max(s.Sum, t.Sum)
	for i := range s.Buckets {
		s.Buckets[i].Count = max(s.Buckets[i].Count, t.Buckets[i].Count)
	}
}
