package retry

import (
	"errors"
	"strconv"
	"strings"
)

// SetSyntax says in words what ParseSet reads, for help and errors.
const SetSyntax = "connect, timeout, reset, malformed, a status 100..599 or a class 1xx..5xx, " +
	"each with + or - before it if wished, or none alone"

const (
	statusMin = 100
	statusMax = 599
	classSize = 100 // statuses in one class such as 5xx
)

// A Set lists the outcomes that are worth a retry. The zero Set lists none: nothing is
// retried. Sets are values and compare with ==.
type Set struct {
	statuses [(statusMax - statusMin + 64) / 64]uint64 // bit of status-statusMin
	kinds    uint16                                    // bit of Kind
}

// DefaultSet returns the set of a policy that was told nothing:
// connect, timeout, 408, 429, 502, 503, 504.
// It is what SDKs, proxies and HTTP libraries agree on; see Set.Classify for the rest.
func DefaultSet() Set {
	var s Set
	for k, kind := range kinds {
		if kind.token == "connect" || kind.token == "timeout" {
			s.kinds |= 1 << k
		}
	}
	for _, status := range [...]int{408, 429, 502, 503, 504} {
		s.putStatus(status)
	}
	return s
}

// ParseSet reads a set:
//
//	set    = "none" | member *( "," member )
//	member = [ "+" | "-" ] name
//	name   = "connect" | "timeout" | "reset" | "malformed" | status | class
//	status = "100" .. "599"
//	class  = "1xx" .. "5xx"
//
// Members apply from left to right; "-" takes out, "+" and no sign put in. A list whose
// first member has a sign changes the default set, every other one begins empty:
// "+500,+reset" is the default with two more, "5xx,-501" is all of 5xx but one. Spaces
// around a member are ignored. The error joins one *FieldError for each faulty member.
func ParseSet(text string) (Set, error) {
	if strings.TrimSpace(text) == "none" {
		return Set{}, nil
	}
	var s Set
	var faults []error
	for i, member := range strings.Split(text, ",") {
		member = strings.TrimSpace(member)
		name := strings.TrimPrefix(member, "+")
		put := true
		if name == member {
			name = strings.TrimPrefix(member, "-")
			put = name == member
		}
		if i == 0 && name != member {
			s = DefaultSet()
		}
		group, ok := parseName(name)
		if !ok {
			faults = append(faults, &FieldError{Field: "retry-on", Got: strconv.Quote(member), Want: SetSyntax})
			continue
		}
		s.apply(group, put)
	}
	if len(faults) > 0 {
		return Set{}, errors.Join(faults...)
	}
	return s, nil
}

// String returns the shortest list that ParseSet reads back to the same set: kinds first,
// then statuses upwards; a class of which more than half is in the set appears as the
// class without the rest ("5xx,-501"). It never begins with a sign.
func (s Set) String() string {
	var members []string
	for k, last := Refused, ""; k < KindCount; k++ {
		if s.kinds>>k&1 == 1 && kinds[k].token != last {
			last = kinds[k].token
			members = append(members, last)
		}
	}
	for from := statusMin; from <= statusMax; from += classSize {
		members = s.appendClass(members, from)
	}
	if len(members) == 0 {
		return "none"
	}
	return strings.Join(members, ",")
}

// appendClass appends the members for the statuses [from, from+classSize), as few as there can be.
func (s Set) appendClass(members []string, from int) []string {
	in := 0
	for status := from; status < from+classSize; status++ {
		if s.hasStatus(status) {
			in++
		}
	}
	named, sign := true, "" // whether those that are in are named, or those that are not, after their class
	if in > classSize-in {
		members = append(members, strconv.Itoa(from/classSize)+"xx")
		named, sign = false, "-"
	}
	for status := from; status < from+classSize; status++ {
		if s.hasStatus(status) == named {
			members = append(members, sign+strconv.Itoa(status))
		}
	}
	return members
}

// parseName returns the set of everything that one name stands for.
func parseName(name string) (group Set, ok bool) {
	for k, kind := range kinds {
		if kind.token != "" && kind.token == name {
			group.kinds |= 1 << k
		}
	}
	if group.kinds != 0 {
		return group, true
	}
	if len(name) != 3 || name[0] < '1' || name[0] > '5' {
		return Set{}, false
	}
	first := int(name[0]-'0') * classSize
	if name[1:] == "xx" {
		for status := first; status < first+classSize; status++ {
			group.putStatus(status)
		}
		return group, true
	}
	if !isDigits(name) {
		return Set{}, false
	}
	group.putStatus(first + int(name[1]-'0')*10 + int(name[2]-'0'))
	return group, true
}

// apply puts the members of group into s, or takes them out.
func (s *Set) apply(group Set, put bool) {
	if put {
		s.kinds |= group.kinds
	} else {
		s.kinds &^= group.kinds
	}
	for i, word := range group.statuses {
		if put {
			s.statuses[i] |= word
		} else {
			s.statuses[i] &^= word
		}
	}
}

func (s *Set) putStatus(status int) {
	bit := uint(status - statusMin)
	s.statuses[bit/64] |= 1 << (bit % 64)
}

func (s *Set) hasStatus(status int) bool {
	bit := uint(status - statusMin)
	return bit <= statusMax-statusMin && s.statuses[bit/64]>>(bit%64)&1 == 1
}

// isDigits reports whether text holds nothing but ASCII digits.
func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
