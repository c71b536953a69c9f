package web_test

import (
	"strings"
	"testing"

	"cointill/web"
)

// TestBaseURLWithoutUser: a base URL with a user name or a password is refused by a sentence
// that says so and repeats neither.
func TestBaseURLWithoutUser(t *testing.T) {
	for _, text := range []string{"https://ada:hunter2@pay.example.com", "https://ada@pay.example.com", "https://@pay.example.com",
		"http://ada:hunter2@pay.example.com", "http://ada:hunter2@127.0.0.1:8080", "https://ada:hunter2%zz@pay.example.com"} {
		_, err := web.ParseBase(text)
		if err == nil || !strings.Contains(err.Error(), "must not hold a user name or a password") {
			t.Errorf("ParseBase(%q) = %v, want a refusal of user information", text, err)
		} else if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "ada") {
			t.Errorf("ParseBase(%q) repeats it: %v", text, err)
		}
	}
}

// TestBaseURLsAreToldApart: whether a base URL is https, and whether its host is this machine.
func TestBaseURLsAreToldApart(t *testing.T) {
	for text, want := range map[string]web.Base{
		"https://pay.example.com":   {URL: "https://pay.example.com", HTTPS: true},
		"https://10.0.0.1:8443/":    {URL: "https://10.0.0.1:8443", HTTPS: true},
		"https://localhost":         {URL: "https://localhost", HTTPS: true, Loopback: true},
		"http://127.0.0.1:8080":     {URL: "http://127.0.0.1:8080", Loopback: true},
		"http://127.8.9.1:8080":     {URL: "http://127.8.9.1:8080", Loopback: true},
		"http://[::1]:8080":         {URL: "http://[::1]:8080", Loopback: true},
		"http://localhost":          {URL: "http://localhost", Loopback: true},
		"https://localhost.example": {URL: "https://localhost.example", HTTPS: true},
	} {
		got, err := web.ParseBase(text)
		if err != nil || got.URL != want.URL || got.HTTPS != want.HTTPS || got.Loopback != want.Loopback {
			t.Errorf("ParseBase(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
}
