package plan

import "strings"

// layerShape is the form of a layer.
const layerShape = "NAME;KEY=VALUE;..."

// layersMost bounds the services of a chain behind the first.
const layersMost = 9

// parseLayer reads a layer.
func parseLayer(text string) (Layer, string) {
	parts := strings.Split(text, ";")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	settings := len(parts) > 1
	for _, text := range parts[1:] {
		settings = settings && strings.Contains(text, "=")
	}
	if !isLine(text) || !settings || parts[0] == "" || strings.Contains(parts[0], "=") {
		return Layer{}, layerShape + ", such as 'db;capacity=500/s;queue=100'"
	}
	return Layer{Name: parts[0], Texts: parts[1:]}, ""
}

func formatLayer(l Layer) string { return strings.Join(append([]string{l.Name}, l.Texts...), ";") }
