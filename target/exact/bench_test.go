package exact_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"stormtest/target/exact"
)

// Each beside what it replaces.
func BenchmarkExact(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, f := range []struct {
		name string
		call func(x float64) float64
	}{
		{"Exp", exact.Exp}, {"Exp/math", math.Exp},
		{"Exp2", exact.Exp2}, {"Exp2/math", math.Exp2},
		{"Log", exact.Log}, {"Log/math", math.Log},
		{"Pow", func(x float64) float64 { return exact.Pow(x, 40) }},
		{"Pow/math", func(x float64) float64 { return math.Pow(x, 40) }},
		{"ExpFloat64", func(float64) float64 { return exact.ExpFloat64(r) }},
		{"ExpFloat64/rand", func(float64) float64 { return r.ExpFloat64() }},
		{"NormFloat64", func(float64) float64 { return exact.NormFloat64(r) }},
		{"NormFloat64/rand", func(float64) float64 { return r.NormFloat64() }},
	} {
		b.Run(f.name, func(b *testing.B) {
			x := 1.0
			for b.Loop() {
				f.call(x)
				x += 1e-6
			}
		})
	}
}
