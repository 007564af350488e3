// Package validate derives the reference numbers of this tool again, on the machine that it runs
// on: formulas, closed forms, and the tables of figures that published models of retry storms give.
// A broken formula anywhere between a strategy and the convoy index shows as a failed check that
// names it.
//
// # What passes
//
// Every check is one figure with a range. A closed form has a range of one point. A figure that
// chance decides is the mean over runs with fixed seeds, and its range follows from the reference:
//
//	mean ± (half a unit of its last printed digit + z·sd·sqrt(1/n + 1/m))
//
// with n runs here, m there, and z = 4.892, which a figure passes at a rate of 1e-6 by chance alone.
// The sd of one run is what the published 5-95 % band says, taken as that of a normal distribution
// and as wide as its printed digits allow, or that of our own runs where that is larger: completion
// times sit on the waves' lattice, and a band that ends on one of its points is too narrow. Without
// a band it is that of our own runs; where one in a hundred lies far out, that of 400 of them stands in the
// table ("sd 3.0"). With the seed that the command uses nothing of this varies: a
// check that passes once passes always. With another seed the some 700 checks of a full run fail by
// chance in about one run of a thousand, those of the group analytic, whose 4 standard errors the
// reference asks for, in one of a hundred.
//
// Where the reference is inexact or silent on what it measured, the check says so in its note.
package validate
