package plan

import "strings"

// keyedForm is the form of a kind with its numbers.
const keyedForm = "NAME[:KEY=VALUE,...]"

// A keyed is one number of a kind, KEY in its text.
type keyed struct {
	name  string
	value scalar
}

// A kinded is what is written as one of several kinds, each with numbers of its own:
//
//	kinded = "none" | NAME [ ":" pair *( "," pair ) ]
//	pair   = KEY "=" VALUE
//
// Each KEY stands at most once. Numbers that are left out have their default.
type kinded struct {
	names []string
	// begin makes p hold the kind at a place in names, with its defaults; keys are its numbers, nil for the kind that is none.
	begin func(p *Plan, at int) (keys []keyed)
	like  string // a text as an example
}

// read makes p hold what text says, or returns what it wanted.
func (k kinded) read(p *Plan, text string) (want string) {
	name, rest, numbers := strings.Cut(text, ":")
	at := 0
	for at < len(k.names) && k.names[at] != name {
		at++
	}
	if at == len(k.names) {
		return didYouMean(oneOf(k.names)+", with numbers after a colon as in "+k.like, name, k.names)
	}
	keys := k.begin(p, at)
	seen := map[string]bool{}
	for numbers {
		var pair string
		pair, rest, numbers = strings.Cut(rest, ",")
		key, value, found := strings.Cut(pair, "=")
		number := valueOf(keys, key)
		switch {
		case keys == nil:
			return name + " alone"
		case number == nil || !found:
			return didYouMean(name+" with "+oneOf(keyNames(keys))+", each as KEY=VALUE", key, keyNames(keys))
		case seen[key]:
			return "each key once, not " + key + " twice"
		}
		seen[key] = true
		if want := number.read(p, value); want != "" {
			return name + "'s " + key + " as " + want
		}
	}
	return ""
}

// writeKeyed writes every number, as KEY=VALUE,...
func writeKeyed(p *Plan, keys []keyed) string {
	var pairs []string
	for _, k := range keys {
		pairs = append(pairs, k.name+"="+k.value.write(p))
	}
	return strings.Join(pairs, ",")
}

func valueOf(keys []keyed, name string) scalar {
	for _, k := range keys {
		if k.name == name {
			return k.value
		}
	}
	return nil
}

func keyNames(keys []keyed) []string {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	return names
}
