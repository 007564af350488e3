package retry_test

import (
	"strings"
	"testing"

	"stormtest/load/retry"
)

func TestParseSet(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"default", "connect,timeout,408,429,502,503,504", "connect,timeout,408,429,502,503,504"},
		{"order does not matter", "504,timeout,503,connect,502,429,408", "connect,timeout,408,429,502,503,504"},
		{"all kinds", "malformed,reset,timeout,connect", "connect,timeout,reset,malformed"},
		{"one kind", "malformed", "malformed"},
		{"twice", "503,503", "503"},
		{"limits", "100,599", "100,599"},
		{"class", "5xx", "5xx"},
		{"classes", "5xx,1xx", "1xx,5xx"},
		{"class swallows status", "503,5xx", "5xx"},
		{"class without", "5xx,-501,-505", "5xx,-501,-505"},
		{"left to right", "-501,5xx", "connect,timeout,408,429,5xx"},
		{"none", "none", "none"},
		{"spaces", " connect , 503\t", "connect,503"},
		{"spaces around none", " none ", "none"},
		{"plus at the front begins with the default", "+500,+reset", "connect,timeout,reset,408,429,500,502,503,504"},
		{"minus at the front begins with the default", "-connect,-408", "timeout,429,502,503,504"},
		{"sign behind changes the list", "503,+504,-503", "504"},
		{"default emptied", "-connect,-timeout,-408,-429,-5xx", "none"},
		{"taking out what is not in", "503,-504", "503"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := retry.ParseSet(tt.text)
			if err != nil || s.String() != tt.want {
				t.Errorf("ParseSet(%q) = %v, %v, want %v", tt.text, s, err, tt.want)
			}
		})
	}
	if got, want := retry.DefaultSet().String(), tests[0].text; got != want {
		t.Errorf("DefaultSet() = %v, want %v", got, want)
	}
	if got := (retry.Set{}).String(); got != "none" {
		t.Errorf("Set{} = %v, want none", got)
	}
}

func TestParseSetFaults(t *testing.T) {
	tests := []struct {
		name, text string
		faults     []string // members that the error names, in order
	}{
		{"empty", "", []string{`""`}},
		{"spaces", "  ", []string{`""`}},
		{"comma at the end", "503,", []string{`""`}},
		{"sign alone", "+", []string{`"+"`}},
		{"two signs", "+-503", []string{`"+-503"`}},
		{"two minus", "--503", []string{`"--503"`}},
		{"too small", "99", []string{`"99"`}},
		{"zero in front", "0503", []string{`"0503"`}},
		{"below", "099", []string{`"099"`}},
		{"above", "600", []string{`"600"`}},
		{"status too long", "5033", []string{`"5033"`}},
		{"class too long", "5xxx", []string{`"5xxx"`}},
		{"class above", "6xx", []string{`"6xx"`}},
		{"class below", "0xx", []string{`"0xx"`}},
		{"half a class", "50x", []string{`"50x"`}},
		{"class in capitals", "5XX", []string{`"5XX"`}},
		{"kind in capitals", "Timeout", []string{`"Timeout"`}},
		{"key of a kind", "connect_timeout", []string{`"connect_timeout"`}},
		{"range", "500-504", []string{`"500-504"`}},
		{"other digits", "５03", []string{`"５03"`}},
		{"none among others", "none,503", []string{`"none"`}},
		{"every fault", "5o3,503,time,600", []string{`"5o3"`, `"time"`, `"600"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := retry.ParseSet(tt.text)
			if err == nil || s != (retry.Set{}) {
				t.Fatalf("ParseSet(%q) = %v, %v, want an error", tt.text, s, err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.faults) {
				t.Fatalf("ParseSet(%q): %d faults, want %d:\n%v", tt.text, len(lines), len(tt.faults), err)
			}
			for i, member := range tt.faults {
				if want := "retry: retry-on = " + member + ", want connect, timeout, "; !strings.HasPrefix(lines[i], want) {
					t.Errorf("ParseSet(%q): fault %q, want it to begin %q", tt.text, lines[i], want)
				}
			}
		})
	}
}

// What ParseSet takes, String gives back, and in its shortest form.
func FuzzParseSet(f *testing.F) {
	for _, text := range []string{
		"", "0", "1", "100", "599", "99", "600", "-5", "9223372036854775807", "18446744073709551616",
		"none", "1xx,2xx,3xx,4xx,5xx", "5xx,-500", "4xx,-404,+404", "-5xx", "+connect", "connect,timeout,reset,malformed",
		"503,,504", " 503 ", "٥٠٣", "5xx,-500,-501,-502,-503", "\x00", "+", "-", "+,-",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := retry.ParseSet(text)
		if err != nil {
			if s != (retry.Set{}) {
				t.Errorf("ParseSet(%q) = %v and %v, want no set with an error", text, s, err)
			}
			return
		}
		again, err := retry.ParseSet(s.String())
		if err != nil || again != s {
			t.Errorf("ParseSet(%q) = %v, which parses as %v, %v", text, s, again, err)
		}
	})
}
