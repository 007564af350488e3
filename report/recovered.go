package report

import (
	"slices"
	"strings"
	"time"

	"stormtest/load/record"
)

// recoverySentence answers the question that matters after an outage: is the service back? Empty where there was no
// outage, or where nobody can tell.
//
// METASTABLE takes a time that the target was watched for. Of a run that was over before, it says that and how long it was.
func recoverySentence(run *record.Run) string {
	r := &run.Recovery
	switch {
	case severalSeeds(run):
		return recoverySeeds(run)
	case !finite(r.GoodputBefore) && r.RecoveredAt == nil:
		return ""
	case r.RecoveredAt != nil:
		text := "recovered " + length(float64(*r.RecoveredAt)) + " after the " + lastTrigger(run)
		if finite(r.GoodputLast) && finite(r.GoodputBefore) && *r.GoodputLast < *r.GoodputBefore/2 {
			text += ", and lost it again: " + goodputOfBefore(run)
		}
		return text
	case slices.Contains(run.Convoy.Flags, record.FlagMetastable):
		return record.FlagMetastable + ": the " + lastTrigger(run) + " is over and the target has not recovered: " + goodputOfBefore(run) + lastMinuteWords(run)
	case r.Watched < recoveryWatched:
		return "whether the target recovered is not known: it was " + watchedWords(run)
	}
	return "NOT RECOVERED: " + goodputOfBefore(run) + lastMinuteWords(run) + "; for " + record.FlagMetastable + " it was " + watchedWords(run)
}

// recoverySeeds is that of several seeds.
func recoverySeeds(run *record.Run) string {
	s := run.Repeats
	if s.Figures["goodput_before"].Count <= 0 {
		return ""
	}
	var parts []string
	if back := s.Figures["recovered_after"]; back.Count > 0 && finite(back.Mean) {
		text := "recovered " + length(*back.Mean) + " after the " + lastTrigger(run) + " on average"
		if back.Count < s.Count {
			text += " in" + string(nbsp) + count(back.Count) + " of " + plural(s.Count, "seed")
		}
		parts = append(parts, text)
	}
	stays, _ := metastable.count(run)
	lost, _ := notRecovered.count(run)
	if stays > 0 {
		parts = append(parts, record.FlagMetastable+metastable.seeds(run)+": the "+lastTrigger(run)+" is over and the target has not recovered")
	}
	if lost > stays {
		text := "NOT RECOVERED" + notRecovered.seeds(run)
		if stays == 0 {
			text += "; for " + record.FlagMetastable + " it was " + watchedWords(run)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ". ")
}

// lastTrigger is what the target had to recover from, of several the last.
func lastTrigger(run *record.Run) string {
	n := 0
	for i := range run.Phases {
		if name, _, _ := strings.Cut(run.Phases[i].Name, " "); name == "outage" || name == "surge" {
			n++
		}
	}
	if n > 1 {
		return "last " + trigger(run)
	}
	return trigger(run)
}

// firstTrigger is what the healthy time was before, of several the first.
func firstTrigger(run *record.Run) string {
	if text := lastTrigger(run); !strings.HasPrefix(text, "last ") {
		return text
	}
	for i := range run.Phases {
		if name, _, _ := strings.Cut(run.Phases[i].Name, " "); name == "outage" || name == "surge" {
			return "first " + name
		}
	}
	return trigger(run)
}

// goodputOfBefore holds the goodput of the end against that of before.
func goodputOfBefore(run *record.Run) string {
	r := &run.Recovery
	return "goodput " + number(r.GoodputLast) + "/s at the end, " + number(r.GoodputBefore) + "/s before the " + firstTrigger(run)
}

// lastMinuteWords tells of the last minute what keeps a target down; empty where nobody knows.
func lastMinuteWords(run *record.Run) string {
	r := &run.Recovery
	var parts []string
	if finite(r.AmplificationLast) {
		parts = append(parts, "amplification "+number(r.AmplificationLast))
	}
	if finite(r.WastedShareLast) && run.ArrivalsMeasuredAt != "client" {
		parts = append(parts, percent(r.WastedShareLast)+" of the work wasted")
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, " and ") + " in the last " + span(min(r.Watched, time.Minute))
}

// watchedWords says that a run was too short, and by how much.
func watchedWords(run *record.Run) string {
	needed := run.Recovery.WatchNeeded
	if needed <= 0 {
		needed = record.RecoveryWatchDefault
	}
	return "not watched long enough to say (" + inSeconds(run.Recovery.Watched) + " of the " + inSeconds(needed) + ")"
}

// inSeconds writes what is held against a number of seconds; what is far more as every other length.
func inSeconds(d time.Duration) string {
	if d < 10*time.Minute {
		return seconds(d.Round(10*time.Millisecond)) + string(nbsp) + "s"
	}
	return span(d)
}
