// Package secret knows what must not go into results and messages, by its name.
package secret

import (
	"net/url"
	"slices"
	"strings"
)

// parts are in the names of headers and query parameters that hold secrets, words are such names.
var (
	parts = []string{
		"auth", "cookie", "credential", "jwt", "key", "passcode", "passphrase", "passw", "pwd", "secret", "session", "signature", "token",
	}
	words = []string{"code", "otp", "pass", "pin", "sig"}
)

// Named reports whether what has this name, in any case, is a secret.
func Named(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(words, name) || slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// leftOut stands for a value.
const leftOut = "left-out"

// URL returns a URL, or what was meant for one, without the values of those parameters of its query that
// are secrets.
func URL(text string) string {
	path, query, found := strings.Cut(text, "?")
	if !found {
		return text
	}
	parameters := strings.Split(query, "&")
	for i, parameter := range parameters {
		name, _, valued := strings.Cut(parameter, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if valued && Named(name) {
			parameters[i] = parameter[:strings.IndexByte(parameter, '=')+1] + leftOut
		}
	}
	return path + "?" + strings.Join(parameters, "&")
}
