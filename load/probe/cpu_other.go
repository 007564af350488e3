//go:build !unix

package probe

import "time"

// processorTime is what this process has taken of all cores; 0 where nobody knows.
func processorTime() time.Duration { return 0 }
