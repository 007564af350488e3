package budget

import "testing"

// The clients of a fleet share the accounts of its processes in turn, as long as there are as many clients.
func TestProcesses(t *testing.T) {
	c := Table[AWS].Defaults
	c.Shared, c.Processes = false, 3
	b := NewBank(c, 10, nil, Series{})
	if b.Accounts() != 3 || b.Account(0) == b.Account(1) || b.Account(1) != b.Account(4) || b.Account(2) != b.Account(8) {
		t.Errorf("%d accounts, want 3 that clients share in turn", b.Accounts())
	}
	if n := NewBank(c, 2, nil, Series{}).Accounts(); n != 2 {
		t.Errorf("%d accounts for 2 clients, want 2", n)
	}
	for _, processes := range []int{-1, 1, ProcessesMax + 1} {
		if c.Processes = processes; c.Validate() == nil {
			t.Errorf("%d processes are no fault", processes)
		}
	}
	if c.Shared, c.Processes = true, 3; c.Validate() == nil {
		t.Error("processes that share one account are no fault")
	}
}
