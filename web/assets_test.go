package web_test

import (
	"testing"

	"cointill/static"
)

// TestAssetsAreLean: scripts and stylesheets carry no headers that only
// documents heed; a picture, which can be opened as one, carries them all.
func TestAssetsAreLean(t *testing.T) {
	b := setup(t, local)
	for name, document := range map[string]bool{"css/cointill.css": false, "js/app.js": false, "js/htmx.min.js": false, "img/favicon.svg": true} {
		answer, _ := b.do(t, "GET", static.URL(name), "")
		for _, header := range []string{"Content-Security-Policy", "X-Frame-Options", "Permissions-Policy"} {
			if there := answer.Header.Get(header) != ""; there != document {
				t.Errorf("%s: %s stands there: %t", name, header, there)
			}
		}
		if answer.Header.Get("X-Content-Type-Options") != "nosniff" || answer.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %v", name, answer.Header)
		}
	}
}
