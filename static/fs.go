// Package static holds the assets that the pages load: the built stylesheet, the vendored
// browser libraries and our own small script and images. Every asset has a URL that carries a
// hash of its content, so that browsers and proxies may keep it permanently.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
)

//go:embed css/cointill.css css/checkout.css js img
var files embed.FS

// Prefix is the path under which the web server serves the assets.
const Prefix = "/static/"

// WorkerPath is the address of the service worker, the asset WorkerName. It may show notifications of all pages below
// its folder.
const (
	WorkerPath = "/push-worker.js"
	WorkerName = "js/push_worker.js"
)

// CacheControl is the header value for an asset fetched by its current hash.
const CacheControl = "public, max-age=31536000, immutable"

const (
	manifestName = "img/app.webmanifest"
	iconName     = "img/favicon.svg"
)

type asset struct {
	hash string
	body []byte
}

var assets = load()

func load() map[string]asset {
	found := map[string]asset{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		found[name] = newAsset(body)
		return nil
	})
	if err != nil {
		panic("static: embedded files can't be read: " + err.Error())
	}
	// The manifest's icon is the page's: under an address of its own it would be loaded twice.
	icon := Prefix + found[iconName].hash + "/" + iconName
	manifest := bytes.Replace(found[manifestName].body, []byte(`"favicon.svg"`), []byte(`"`+icon+`"`), 1)
	found[manifestName] = newAsset(manifest)
	return found
}

func newAsset(body []byte) asset {
	sum := sha256.Sum256(body)
	return asset{hash: hex.EncodeToString(sum[:])[:10], body: body}
}

// URL is the address of an asset by its name, for example "js/app.js". An
// unknown name is a programming error, and gives an address that is not found.
func URL(name string) string {
	known, ok := assets[name]
	if !ok {
		return Prefix + "missing/" + name
	}
	return Prefix + known.hash + "/" + name
}

// File is an asset that was opened by its address.
type File struct {
	// Body is the content. It must not be changed.
	Body []byte
	// ContentType is the value for the header of that name.
	ContentType string
	// Immutable says that the address carried the current hash, so that the answer may be kept
	// permanently (CacheControl); otherwise it must not be kept.
	Immutable bool
}

// Open finds the asset for what follows Prefix in a request path:
// "<hash>/<name>". An old hash still finds the current content, but is not
// immutable.
func Open(rest string) (File, bool) {
	hash, name, found := strings.Cut(rest, "/")
	if !found {
		return File{}, false
	}
	known, ok := assets[name]
	if !ok {
		return File{}, false
	}
	return File{Body: known.body, ContentType: contentType(name), Immutable: hash == known.hash}, true
}

func contentType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".webmanifest":
		return "application/manifest+json"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}
