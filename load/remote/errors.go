package remote

import (
	"errors"
	"fmt"
	"strconv"
)

// A FieldError names a field of a [Config] by its flag's name (url, unix-socket, allow-host,
// cacert, cert, key, insecure, http), what it held and what it may hold.
//
// Got never holds a password or a key: they are left out or replaced by a size.
type FieldError struct{ Field, Got, Want string }

// Error gives one line: `url: "localhost:80": want ...`. Got is quoted, and cut when it is
// long.
func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: %s: want %s", e.Field, quote(e.Got), e.Want)
}

// quote quotes text for a message, on one line and of bounded length.
func quote(text string) string {
	const most = 80 // bytes, before escapes
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}

// join makes one error of faults, nil of none; a single one stays itself.
func join(faults []*FieldError) error {
	if len(faults) == 1 {
		return faults[0]
	}
	all := make([]error, len(faults))
	for i, f := range faults {
		all[i] = f
	}
	return errors.Join(all...)
}
