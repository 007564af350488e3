package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"stormtest/load/record"
)

// planFields is the plan of a result as its scenario file names it. The report shows the texts of a
// few fields and knows no more of a plan: a field that is missing is left out.
type planFields map[string]any

// readPlan reads the fields of a plan; groups of fields (an object in the plan) are read as if they
// were not grouped. What is no JSON object has no fields.
func readPlan(r *record.Result) planFields {
	decoder := json.NewDecoder(bytes.NewReader(r.Plan))
	decoder.UseNumber()
	var top map[string]any
	if decoder.Decode(&top) != nil {
		return nil
	}
	fields := planFields{}
	for key, value := range top {
		if group, ok := value.(map[string]any); ok {
			for inner, v := range group {
				fields[inner] = v
			}
			continue
		}
		fields[key] = value
	}
	return fields
}

// texts returns the elements of a list, or the one text of a scalar.
func (f planFields) texts(key string) []string {
	values, ok := f[key].([]any)
	if !ok {
		values = []any{f[key]}
	}
	var texts []string
	for _, v := range values {
		switch v := v.(type) {
		case string:
			texts = append(texts, clean(v))
		case json.Number:
			texts = append(texts, clean(v.String()))
		case bool:
			texts = append(texts, strconv.FormatBool(v))
		}
	}
	return texts
}

// text returns a scalar's text, or a list's joined; empty where there is none.
func (f planFields) text(key string) string { return strings.Join(f.texts(key), ", ") }

// label is the name that the run was given; empty for none.
func (f planFields) label() string {
	text := strings.Join(strings.Fields(f.text("label")), " ")
	if text == "none" {
		return ""
	}
	return clip(text, labelMost)
}

// labelMost is the most cells of a label: a plan takes a hundred characters.
const labelMost = 200

// titled is a title with the label, if there is one, before it.
func (f planFields) titled(title string) string {
	if label := f.label(); label != "" {
		return label + ": " + title
	}
	return title
}

// An outage is a window of the plan in which the target fails, [from, to).
type outage struct {
	from, to time.Duration
	mode     string
}

// outages are those of the target, which is the first service of a chain.
func (f planFields) outages() []outage { return readOutages(f.texts("outage")) }

// layerOutages are those of the services behind the first one that have a name: they have none of the target's.
func (f planFields) layerOutages(name string) []outage {
	var list []outage
	for _, l := range f.layers() {
		if l.name == name {
			list = append(list, readOutages(l.outages)...)
		}
	}
	return list
}

// everyOutage lists those of the target and of all services behind it.
func (f planFields) everyOutage() []outage {
	list := f.outages()
	for _, l := range f.layers() {
		list = append(list, readOutages(l.outages)...)
	}
	return list
}

// A planLayer is a service behind the first one.
type planLayer struct {
	name    string
	outages []string // its own, as texts
}

// layers reads NAME;KEY=VALUE;... of each.
func (f planFields) layers() []planLayer {
	var list []planLayer
	for _, text := range f.texts("layer") {
		parts := strings.Split(text, ";")
		l := planLayer{name: strings.TrimSpace(parts[0])}
		for _, part := range parts[1:] {
			if key, value, _ := strings.Cut(part, "="); strings.TrimSpace(key) == "outage" && value != "none" {
				l.outages = append(l.outages, value)
			}
		}
		list = append(list, l)
	}
	return list
}

// outageTexts say when which service fails, the target first.
func (f planFields) outageTexts() []string {
	var list []string
	if text := f.text("outage"); text != "" {
		list = append(list, "outage "+text)
	}
	for _, l := range f.layers() {
		if len(l.outages) > 0 {
			list = append(list, "outage of "+l.name+" "+strings.Join(l.outages, ", "))
		}
	}
	return list
}

// readOutages reads FROM..TO[=MODE]; what is not of that form is left out of the picture.
func readOutages(texts []string) []outage {
	var list []outage
	for _, text := range texts {
		window, mode, _ := strings.Cut(text, "=")
		fromText, toText, _ := strings.Cut(window, "..")
		from, err := time.ParseDuration(strings.TrimSpace(fromText))
		to, err2 := time.ParseDuration(strings.TrimSpace(toText))
		if err != nil || err2 != nil || from < 0 || to <= from {
			continue
		}
		if mode == "" {
			mode = "status"
		}
		list = append(list, outage{from, to, mode})
	}
	return list
}

// A surge is a window of the plan in which the load is higher or lower, [from, to).
type surge struct {
	from, to time.Duration
	factor   string // such as x3
}

// surges reads FROM..TO=xFACTOR; what is not of that form is left out of the picture.
func (f planFields) surges() []surge {
	var list []surge
	for _, text := range f.texts("surge") {
		window, factor, _ := strings.Cut(text, "=")
		fromText, toText, _ := strings.Cut(window, "..")
		from, err := time.ParseDuration(strings.TrimSpace(fromText))
		to, err2 := time.ParseDuration(strings.TrimSpace(toText))
		if err == nil && err2 == nil && from >= 0 && to > from {
			list = append(list, surge{from, to, factor})
		}
	}
	return list
}

// Fields that say what the target is: the built-in one, and one elsewhere.
var (
	builtInFields = []string{"transport", "model", "burst", "capacity", "workers", "queue", "service", "discipline", "expired", "abandoned", "shed-cost", "contention", "coherency",
		"send-retry-after", "outage", "latency", "loss", "layer"}
	elsewhereFields = []string{"url", "unix-socket", "method", "http", "keepalive", "insecure"}
)

// modelOCC is the target that has no capacity.
const modelOCC = "occ"

// fieldWords stand in the target's line for fields whose names read badly there.
var fieldWords = map[string]string{"send-retry-after": "Retry-After sent", "unix-socket": "unix socket"}

// modelUnread lists the fields that each model does not read.
var modelUnread = map[string][]string{
	"slots":          {"burst"},
	"token-bucket":   {"workers", "queue", "service", "abandoned"},
	"reject-if-busy": {"burst", "workers", "queue", "abandoned"},
	modelOCC:         {"burst", "capacity", "workers", "queue", "service", "abandoned", "send-retry-after"},
}

// targetModel names the target in the words of the flags: "capacity 1000/s, workers 1, queue 0, ...".
// What has no effect on it is left out.
func targetModel(r *record.Result, f planFields) string {
	idle := map[string]string{"transport": "tcp", "send-retry-after": "none", "unix-socket": "none", "keepalive": "true", "insecure": "false", "latency": noLatency, "loss": noLoss,
		"discipline": "fifo", "expired": "process", "shed-cost": "0%", "contention": "0", "coherency": "0"}
	unread := modelUnread[cmp.Or(f.text("model"), "slots")]
	if slices.ContainsFunc(r.Runs, func(run record.Run) bool { return virtual(&run) }) {
		unread = append(slices.Clip(unread), "transport")
	}
	for _, key := range unread {
		idle[key] = f.text(key)
	}
	fields := builtInFields
	if url := f.text("url"); url != "" && url != "none" {
		fields = elsewhereFields
	}
	var parts []string
	for _, key := range fields {
		text := f.text(key)
		if key == "outage" {
			text = strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(text)
		}
		if text != "" && text != idle[key] {
			parts = append(parts, cmp.Or(fieldWords[key], key)+string(nbsp)+text)
		}
	}
	if n := len(r.Addresses); n > 1 {
		const shown = 4
		var addresses []string
		for _, a := range r.Addresses[:min(n, shown)] {
			addresses = append(addresses, clean(a))
		}
		text := count(int64(n)) + " addresses in turn: " + strings.Join(addresses, ", ")
		if n > shown {
			text += ", ..."
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
