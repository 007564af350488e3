package remote

import (
	"errors"
	"syscall"

	"stormtest/load/retry"
)

// localFaults are of this machine, and say nothing about the target. A host that does not answer on its
// own network (EHOSTUNREACH) is not among them: that is the target's, or its router's.
var localFaults = []struct {
	err  error
	kind retry.Kind
}{
	{syscall.EMFILE, retry.NoDescriptor},
	{syscall.ENFILE, retry.NoDescriptor},
	{syscall.EADDRNOTAVAIL, retry.NoPort},
	{syscall.ENOBUFS, retry.NoPort},
	{syscall.ENOMEM, retry.NoPort},
	{syscall.ENETUNREACH, retry.LocalNetwork},
	{syscall.EPERM, retry.LocalNetwork},
	{syscall.EACCES, retry.LocalNetwork},
}

// LocalFault returns the kind of an error of opening a connection that is this machine's fault; ok is
// false for one that is not.
func LocalFault(err error) (kind retry.Kind, ok bool) {
	for _, fault := range localFaults {
		if errors.Is(err, fault.err) {
			return fault.kind, true
		}
	}
	return 0, false
}
