package exact

import (
	"math"
	"math/rand/v2"
)

// A ziggurat covers a falling density with layers of one area, the lowest with the tail. A
// random word chooses a layer and a place in it, which is nearly always under the density for
// sure. The layers and the order of draws are those of math/rand/v2: it gives the same draws.
// Source: Marsaglia and Tsang, "The Ziggurat Method for Generating Random Variables", 2000.
type ziggurat [256]layer

type layer struct {
	inside uint32  // a place below it is under the density for sure
	width  float32 // of a place
	height float32 // the density at the layer's end
}

// A density is what a ziggurat is built of.
type density struct {
	layers  int     // of the ziggurat, at most 256
	edge    float64 // where the tail begins
	area    float64 // of a layer
	places  float64 // in a layer
	at      func(x float64) float64
	inverse func(height float64) float64
}

// newZiggurat builds the layers, 0 the lowest, the others from the top downwards.
func newZiggurat(d density) *ziggurat {
	var z ziggurat
	last := d.layers - 1
	x := d.edge
	base := d.area / d.at(x)
	z[0] = layer{uint32(float64(x/base) * d.places), float32(base / d.places), 1}
	z[last].width, z[last].height = float32(x/d.places), float32(d.at(x))
	for i := last - 1; i > 0; i-- {
		next := d.inverse(d.area/x + d.at(x))
		z[i+1].inside = uint32(float64(next/x) * d.places)
		z[i].width, z[i].height = float32(next/d.places), float32(d.at(next))
		x = next
	}
	return &z
}

const (
	expEdge  = 7.69711747013104972
	normEdge = 3.442619855899
)

var (
	expZiggurat = newZiggurat(density{
		layers: 256, edge: expEdge, area: 3.9496598225815571993e-3, places: 1 << 32,
		at:      func(x float64) float64 { return Exp(-x) },
		inverse: func(height float64) float64 { return -Log(height) },
	})
	normZiggurat = newZiggurat(density{
		layers: 128, edge: normEdge, area: 9.91256303526217e-3, places: 1 << 31,
		at:      func(x float64) float64 { return Exp(float64(-0.5 * x * x)) },
		inverse: func(height float64) float64 { return math.Sqrt(-2 * Log(height)) },
	})
)

// ExpFloat64 draws from the exponential distribution with mean 1, as r.ExpFloat64 does.
func ExpFloat64(r *rand.Rand) float64 {
	for {
		word := r.Uint64()
		place, i := uint32(word), uint8(word>>32)
		l := &expZiggurat[i]
		x := float64(float64(place) * float64(l.width))
		switch {
		case place < l.inside:
			return x
		case i == 0:
			return expEdge - Log(r.Float64())
		case expZiggurat.under(i, r.Float64(), Exp(-x)):
			return x
		}
	}
}

// NormFloat64 draws from the normal distribution with mean 0 and deviation 1, as
// r.NormFloat64 does.
func NormFloat64(r *rand.Rand) float64 {
	for {
		word := r.Uint64()
		place, i := int32(word), uint8(word>>32&127)
		l := &normZiggurat[i]
		x := float64(float64(place) * float64(l.width))
		size := uint32(place)
		if place < 0 {
			size = -size
		}
		switch {
		case size < l.inside:
			return x
		case i == 0 && place > 0:
			return normTail(r)
		case i == 0:
			return -normTail(r)
		case normZiggurat.under(i, r.Float64(), Exp(float64(-0.5*x*x))):
			return x
		}
	}
}

// under reports whether a place of a layer, at a share of its height, is under the density.
func (z *ziggurat) under(i uint8, share, density float64) bool {
	below, above := z[i].height, z[i-1].height
	return below+float32(float32(share)*(above-below)) < float32(density)
}

// normTail draws from the normal distribution beyond normEdge.
func normTail(r *rand.Rand) float64 {
	for {
		x := float64(-Log(r.Float64()) * (1 / normEdge))
		y := -Log(r.Float64())
		if y+y >= float64(x*x) {
			return normEdge + x
		}
	}
}
