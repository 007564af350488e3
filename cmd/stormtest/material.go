package main

import (
	"errors"
	"fmt"

	"stormtest/load"
	"stormtest/load/plan"
)

// Bounds of the files that a plan names.
const (
	bodyMost = 256 << 20
	pemMost  = 16 << 20
)

// readMaterial reads what the plan names, once, and checks everything about a target elsewhere
// that shows without the network.
func readMaterial(w world, p plan.Plan, scenario string) (load.Material, error) {
	var m load.Material
	var faults []error
	if p.BodyFile == "-" && scenario == "-" {
		return m, usage("--body-file: -: --file took stdin already")
	}
	for _, file := range []struct {
		flag, path string
		most       int64
		into       *[]byte
	}{
		{"body-file", p.BodyFile, bodyMost, &m.Body},
		{"cacert", p.CACert, pemMost, &m.CACert},
		{"cert", p.Cert, pemMost, &m.Cert},
		{"key", p.Key, pemMost, &m.Key},
	} {
		if file.path == "" {
			continue
		}
		b, err := readFile(w, file.path, file.most)
		if err != nil {
			faults = append(faults, usage("--%s: %w", file.flag, err))
		}
		*file.into = append([]byte{}, b...) // an empty file is not an absent one
	}
	if len(faults) == 0 {
		if err := load.Check(p, m); err != nil {
			faults = append(faults, usageError{err})
		}
	}
	if err := errors.Join(faults...); err != nil {
		return m, err
	}
	if p.Insecure {
		fmt.Fprintln(w.err, "stormtest: WARNING: --insecure: the target's certificate is not verified, so nobody knows who answers")
	}
	return m, nil
}
