package secret_test

import (
	"testing"

	"stormtest/load/secret"
)

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "X-Vault-Token": true, "api_key": true, "pass": true, "PASSPHRASE": true, "password": true, "code": true, "sig": true,
		"pin": true, "otp": true, "sessionid": true,
		"page": false, "zipcode": false, "bypass": false, "design": false, "spin": false, "": false,
	} {
		if got := secret.Named(name); got != want {
			t.Errorf("Named(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"http://a/b": "http://a/b", "http://a/?page=7": "http://a/?page=7", "": "",
		"http://a/?token=hush&page=7&code=hush": "http://a/?token=left-out&page=7&code=left-out",
		"a/?api%5Fkey=hush=hush":                "a/?api%5Fkey=left-out",
		"http://a/?token":                       "http://a/?token",
	} {
		if got := secret.URL(text); got != want {
			t.Errorf("URL(%q) = %q, want %q", text, got, want)
		}
	}
}
