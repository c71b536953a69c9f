package static

import (
	"strings"
	"testing"
)

func TestEveryURLOpensItsAsset(t *testing.T) {
	for name := range assets {
		file, ok := Open(strings.TrimPrefix(URL(name), Prefix))
		if !ok || !file.Immutable || len(file.Body) == 0 {
			t.Errorf("%s: found %v, immutable %v, %d bytes", name, ok, file.Immutable, len(file.Body))
		}
		if strings.HasPrefix(file.ContentType, "application/octet") {
			t.Errorf("%s has no content type", name)
		}
	}
}

func TestManifestNamesTheIconOfPages(t *testing.T) {
	manifest, _ := Open(strings.TrimPrefix(URL("img/app.webmanifest"), Prefix))
	if icon := URL("img/favicon.svg"); !strings.Contains(string(manifest.Body), `"src": "`+icon+`"`) {
		t.Errorf("the manifest doesn't name %s, and a browser loads its icon twice:\n%s", icon, manifest.Body)
	}
}

func TestOldHashIsNotImmutable(t *testing.T) {
	file, ok := Open("0000000000/js/app.js")
	if !ok || file.Immutable {
		t.Errorf("found %v, immutable %v", ok, file.Immutable)
	}
	for _, rest := range []string{"", "js", "0000000000/js/none.js", "0000000000/../fs.go"} {
		if _, ok := Open(rest); ok {
			t.Errorf("%q was found", rest)
		}
	}
}
