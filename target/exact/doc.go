// Package exact has what package math and math/rand/v2 have, too, but with the same bits on
// every machine: a run's result must not depend on where it was computed.
//
// Theirs differ by an ulp from one architecture to the next. Some have Exp and Log in
// assembly (on amd64 the steps depend on the CPU), and where the machine multiplies and adds
// in one instruction (arm64, ppc64, riscv64, s390x, GOAMD64=v3) the compiler may leave out
// the rounding of a product. Here everything is plain Go out of +, -, *, / and Sqrt, which
// IEEE 754 defines to the bit, and every product is converted to float64 at once, which by
// the language's definition rounds it.
//
// So of package math only what is exact may be used where a result is made: Sqrt, Floor,
// Round, Abs, Modf, Frexp, Ldexp and the like; and of rand what does not use logarithms. A test
// of package load holds the packages that make results to that.
package exact
