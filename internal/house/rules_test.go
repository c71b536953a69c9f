// Package house_test holds the house rules that a parser can check: who may
// import whom, what only the command may call, what money code and pages never
// contain, and the module versions that must hold. The tables are in this file,
// the reading of the tree in tree_test.go, each check in checks_test.go, and the
// proof that every check finds what it looks for in planted_test.go.
package house_test

import (
	"os"
	"regexp"
	"sync"
	"testing"
)

// room is a folder with everything in it, and which of Cointill's own packages
// it may import: "core/money" is that one package, "core/..." it and all in it.
// The longest folder that holds a file is the file's room; "folder/*" is each
// folder in it. Tests and packages
// that only tests import (a folder named …test) may import what they need.
type room struct {
	folder string
	may    []string
}

var rooms = []room{
	{"cmd", []string{"internal/app", "core/...", "models", "chain"}}, // flags and commands, no wiring
	{"internal/app", []string{"..."}},
	{"web", []string{"web/...", "handlers/...", "views/layout", "static", "core/..."}},
	{"handlers", []string{"handlers/page", "core/...", "views/...", "models"}},
	{"handlers/api", []string{"handlers/api/...", "handlers/page", "core/...", "views/...", "models"}},
	{"handlers/dashboard", []string{"handlers/page", "handlers/dashboard/...", "core/...", "views/...", "models"}},
	{"handlers/dashboard/*", []string{"handlers/page", "handlers/dashboard/listing", "handlers/dashboard/display", "core/...", "views/...", "models"}},
	{"views", []string{"views/...", "models", "core/...", "static"}},
	{"core", []string{"core/...", "models", "chain", "chain/bitcoin/params", "chain/ethereum/params",
		"chain/tron/params", "chain/xrpl/params"}},
	{"models", []string{"models/sqlitepool", "core/money"}},
	{"chain", []string{"chain", "chain/node", "chain/bitcoin/params", "chain/ethereum/params",
		"chain/tron/params", "chain/xrpl/params", "core/money", "core/clock"}},
	{"chain/bitcoin", []string{"chain", "chain/node", "chain/quorum", "chain/bitcoin/params", "chain/bitcoin/signing", "chain/bitcoin/signing/ur", "chain/bitcoin/zmq", "chain/bitcoin/feerate", "chain/bitcoin/bytereader",
		"core/money", "core/clock"}},
	{"chain/bitcoin/*", []string{"chain", "chain/node", "chain/bitcoin/params", "chain/bitcoin/bytereader", "core/money", "core/clock"}},
	{"chain/ethereum", []string{"chain", "chain/abi", "chain/node", "chain/quorum", "chain/ethereum/params", "chain/ethereum/hexjson", "chain/ethereum/rpc", "chain/ethereum/signing", "core/money",
		"core/clock"}},
	{"chain/ethereum/*", []string{"chain", "chain/abi", "chain/node", "chain/ethereum/params", "core/money", "core/clock"}},
	{"chain/tron", []string{"chain", "chain/abi", "chain/node", "chain/quorum", "chain/tron/params", "chain/tron/signing", "core/money", "core/clock"}},
	{"chain/tron/*", []string{"chain", "chain/abi", "chain/tron/params", "core/money", "core/clock"}},
	{"chain/xrpl", []string{"chain", "chain/node", "chain/quorum", "chain/xrpl/params", "chain/xrpl/signing", "core/money", "core/clock"}},
	{"chain/xrpl/*", []string{"chain", "chain/xrpl/params", "core/money", "core/clock"}},
	{"chain/node", []string{"chain", "core/clock"}}, // what all adapters do alike knows none of them
	{"chain/quorum", []string{"chain", "chain/node"}},
	{"chain/sandbox", []string{"chain", "models", "core/money", "core/clock", "core/ident"}},
	{"static", nil},
}

// holder says which rooms may import a package from outside, or anything below it.
type holder struct {
	imported string
	rooms    []string
}

var holders = []holder{
	{"github.com/gorilla", []string{"web"}},
	{"gorm.io", []string{"models", "core"}},
	{"github.com/go-webauthn", []string{"core/account"}},
	{"gorm.io/driver", []string{"models"}},
	{"github.com/libtnb", []string{"models"}},
	{"modernc.org", []string{"models"}},
	{"github.com/pressly/goose", []string{"models"}},
	{"github.com/jackc", []string{"models"}},
	{"database/sql", []string{"models", "core"}},
	{"github.com/gofiber", []string{"web", "handlers", "internal/app"}},
	{"github.com/valyala/fasthttp", []string{"web", "handlers", "internal/app"}},
	{"github.com/danielgtaylor/huma", []string{"web", "handlers/api"}},
	{"github.com/a-h/templ", []string{"views", "web", "handlers", "internal/app"}},
	{"github.com/alecthomas/kong", []string{"cmd"}},
	{"go.opentelemetry.io", []string{"core/trace"}},
	{"github.com/prometheus", []string{"core/metrics", "web", "internal/app"}},
	{"net/http", []string{"web", "handlers", "cmd", "internal/app", "core/webhook", "core/quote", "core/trace",
		"core/notification/push", "chain"}},
	{"net", []string{"web", "handlers", "cmd", "internal/app", "models", "core/webhook", "core/quote", "core/mail", "chain"}},
	{"net/url", []string{"web", "handlers", "cmd", "internal/app", "views", "core", "chain", "models"}},
	{"net/mail", []string{"core"}},
	{"net/textproto", []string{"core", "web", "handlers"}},
	{"net/netip", []string{"web", "handlers", "cmd", "internal/app", "core", "chain"}},
	{"os", []string{"cmd", "internal/app", "web", "core", "models", "chain/bitcoin"}}, // not all of it: see calls
	{"log", nil}, // log/slog below is the only logger
	{"log/slog", []string{"cmd", "internal/app", "web", "handlers", "core", "models", "chain"}},
	{"crypto/rand", []string{"core/ident", "core/notification/push"}},
	{"math/rand", nil},
	{"testing", nil},
}

// call is a function or name of a package that only some rooms may use.
type call struct {
	imported string
	names    []string
	rooms    []string // may use it all the same
	tests    bool     // tests may, too
	instead  string
}

var calls = []call{
	{"time", []string{"Sleep"}, nil, false, "wait for a signal, or on a timer beside ctx.Done()"},
	{"github.com/chromedp/chromedp", []string{"Sleep"}, nil, false, "wait for what the page shows"},
	{"time", []string{"Now", "Since", "Until"}, []string{"cmd", "core/clock"}, true, "ask the clock.Clock that was handed in"},
	{"os", []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Exit"}, []string{"cmd", "internal/app"}, true,
		"take it as configuration, or return an error"},
	{"net/http", []string{"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"}, nil, true,
		"use a client with a timeout and without a proxy"},
	{"net/http", []string{"Server", "ListenAndServe", "ListenAndServeTLS", "Serve", "ServeTLS", "Handle", "HandleFunc", "Handler",
		"HandlerFunc", "ResponseWriter", "ServeMux", "NewServeMux", "DefaultServeMux"}, []string{"cmd", "web", "handlers"}, true,
		"core and chain are clients only; serve in web"},
}

// moneyFolders hold code that counts money: no floating point comes near it.
var moneyFolders = []string{"core/money", "core/quote", "core/payment", "core/link", "core/wallet"}

// documentedFolders have a comment on every exported name.
var documentedFolders = []string{"core", "chain", "models"}

// markup is what a templ file may not contain: the pages' content security
// policy blocks it, or templ does not escape it. Mails are no pages: mail
// programs read styles from attributes only.
var markup = []struct {
	name    string
	pattern *regexp.Regexp
	mail    bool // mails may
}{
	{"a style attribute", regexp.MustCompile(`(?i)\bstyle\s*(=|\?=|:\s*templ|"\s*:)`), true},
	{"a style element", regexp.MustCompile(`(?i)<style\b`), true},
	{"an inline script", regexp.MustCompile(`(?i)<script\b[^>]*>\s*[^<\s]|<script\s*>`), false},
	{"a templ script", regexp.MustCompile(`(?m)^script\s+\w+\(`), false},
	{"hx-on", regexp.MustCompile(`(?i)\bhx-on\b`), false},
	{"a value that htmx evaluates", regexp.MustCompile(`(?i)["'{]\s*js:`), false},
	{"an event attribute", regexp.MustCompile(`(?i)\son[a-z]+\s*=`), false},
	{"templ.Raw", regexp.MustCompile(`\btempl\.(Raw|JSFuncCall|JSUnsafeFuncCall|ComponentScript)\b`), true},
	{"templ.SafeURL", regexp.MustCompile(`\btempl\.SafeURL\b`), true},
	{"another origin", regexp.MustCompile(`(?i)\b(src|srcset)\s*=\s*["{]?\s*"?(https?:)?//`), false},
	{"formaction or iframe", regexp.MustCompile(`(?i)\bformaction\b|<iframe\b`), false},
}

// private matches what betrays one machine or one package host; the project builds anywhere.
var private = regexp.MustCompile(`(?:^|[\s"'=:(<\x60])/(?:work|root|home|Users)/\w|registry\.npmjs\.org|proxy\.golang\.org|deb\.debian\.org`)

// floors are the lowest versions without a known hole, from the libraries'
// advisories up to August 2026; "" means that the module never comes in.
var floors = map[string]string{
	"go":                            "1.26.6",
	"github.com/gofiber/fiber/v2":   "2.52.15",
	"github.com/valyala/fasthttp":   "1.74.0", // fiber asks for 1.51, which accepts smuggled requests
	"github.com/klauspost/compress": "1.18.7",
	"github.com/jackc/pgx/v5":       "5.9.2",
	"github.com/gorilla/schema":     "1.4.1",
	"github.com/gorilla/csrf":       "",
	"github.com/jackc/pgproto3/v2":  "",
	"github.com/mattn/go-sqlite3":   "", // cgo
	"gorm.io/driver/sqlite":         "", // cgo
}

// mostModules bounds how many modules go.mod asks for directly.
const mostModules = 46 // a feel, not a fence: btcsuite alone is seven small ones, OpenTelemetry five, SQLite two

// repository is the tree that this file lies in, read once for all who look at it.
var repository = sync.OnceValues(func() (*tree, error) { return load(os.DirFS("../..")) })

// TestRules (ETH-11, FX-7, T-4, AP-20) holds the whole tree against every rule.
func TestRules(t *testing.T) {
	tree, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, found := range rule.check(tree) {
				t.Errorf("found = %v", found)
			}
		})
	}
}
