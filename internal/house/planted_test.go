package house_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// planted are violations, one a case: the file that breaks a rule, which rule
// finds it, and what the finding says.
var planted = []struct{ rule, path, text, says string }{
	{"own imports", "core/payment/a.go", `import _ "cointill/web"`, "core may not import web"},
	{"own imports", "core/payment/a.go", `import _ "cointill/chain/bitcoin"`, "core may not import chain/bitcoin"},
	{"own imports", "views/checkout/a.go", `import _ "cointill/handlers/api"`, "views may not import handlers/api"},
	{"own imports", "handlers/api/a.go", `import _ "cointill/handlers/dashboard"`, "handlers/api may not import handlers/dashboard"},
	{"own imports", "handlers/dashboard/links/a.go", `import _ "cointill/handlers/dashboard/payments"`, "handlers/dashboard/* may not import handlers/dashboard/payments"},
	{"own imports", "handlers/api/a.go", `import _ "cointill/chain"`, "handlers/api may not import chain"},
	{"own imports", "models/a.go", `import _ "cointill/core/payment"`, "models may not import core/payment"},
	{"own imports", "chain/xrpl/a.go", `import _ "cointill/models"`, "chain/xrpl may not import models"},
	{"own imports", "chain/xrpl/a.go", `import _ "cointill/chain/sandbox"`, "chain/xrpl may not import chain/sandbox"},
	{"own imports", "chain/node/a.go", `import _ "cointill/chain/xrpl/params"`, "chain/node may not import chain/xrpl/params"},
	{"own imports", "core/payment/a.go", `import _ "cointill/chain/node"`, "core may not import chain/node"},
	{"own imports", "core/payment/a.go", `import _ "cointill/models/modelstest"`, "is for tests"},
	{"own imports", "helpers/a.go", `import _ "cointill/core/money"`, "no room of the house"},
	{"own imports", "e2e/a_test.go", `import _ "cointill/core/money"`, "from outside only"},
	{"outside imports", "core/account/a.go", `import _ "github.com/gorilla/sessions"`, "may import github.com/gorilla/sessions"},
	{"outside imports", "handlers/api/a.go", `import _ "gorm.io/gorm"`, "may import gorm.io/gorm"},
	{"outside imports", "chain/sandbox/a.go", `import _ "gorm.io/gorm/clause"`, "may import gorm.io/gorm/clause"},
	{"outside imports", "core/payment/a.go", `import _ "gorm.io/driver/postgres"`, "may import gorm.io/driver/postgres"},
	{"outside imports", "core/payment/a.go", `import _ "github.com/gofiber/fiber/v2"`, "may import github.com/gofiber/fiber/v2"},
	{"outside imports", "core/mail/a.go", `import _ "github.com/a-h/templ"`, "may import github.com/a-h/templ"},
	{"outside imports", "core/payment/a.go", `import _ "net/http"`, "may import net/http"},
	{"outside imports", "views/ui/a.go", `import _ "os"`, "may import os"},
	{"outside imports", "web/a.go", `import _ "crypto/rand"`, "may import crypto/rand"},
	{"outside imports", "core/link/a.go", `import _ "math/rand/v2"`, "may import math/rand/v2"},
	{"calls", "core/payment/a.go", "import \"time\"\nvar _ = time.Now()", "time.Now"},
	{"calls", "web/a.go", "import clock \"time\"\nvar now = clock.Now", "time.Now"},
	{"calls", "core/payment/a_test.go", "import \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep"},
	{"calls", "models/a.go", "import \"os\"\nvar _ = os.Getenv(\"A\")", "os.Getenv"},
	{"calls", "web/a.go", "import \"os\"\nfunc f() { os.Exit(1) }", "os.Exit"},
	{"calls", "core/webhook/a.go", "import \"net/http\"\nvar _ http.Server", "serve in web"},
	{"calls", "core/quote/a.go", "import \"net/http\"\nvar _, _ = http.Get(\"\")", "use a client with a timeout"},
	{"one command", "tools/main.go", "", "main packages are in [cmd/cointill tools]"},
	{"no floats near money", "core/quote/a.go", "var rate float64", "float64"},
	{"no floats near money", "core/money/a.go", "import \"strconv\"\nvar f, _ = strconv.ParseFloat(\"1\", 64)", "ParseFloat"},
	{"no safe block tag", "chain/ethereum/a.go", "const tag = \"safe\"", "promises nothing"},
	{"no built SQL", "core/payment/a.go", "import \"fmt\"\nvar _ = db.Where(fmt.Sprintf(\"a = %s\", x))", "Where with text"},
	{"no built SQL", "core/payment/a.go", "var _ = db.Order(\"a \" + input.Sort)", "Order with text"},
	{"no built SQL", "models/a.go", "import \"strings\"\nvar _ = db.Raw(strings.ReplaceAll(a, b, c))", "Raw with text"},
	{"no skipped test", "core/payment/a_test.go", "func f() { t.Skip(\"later\") }", "fails without it"},
	{"no skipped test", "core/payment/a_test.go", "func f() { t.Skipf(\"later\") }", "fails without it"},
	{"no skipped test", "core/payment/a_test.go", "func f() { t.SkipNow() }", "fails without it"},
	{"attack ids", "core/payment/a_test.go", "// TestA (AP-" + "1): nothing crosses, as AP-" + "95 says.\nfunc TestA(t *testing.T) {}", "AP-95 is no attack"},
	{"attack ids", "core/payment/a_test.go", "// TestA: nothing crosses (AP-" + "1).\nfunc TestA(t *testing.T) {}", "AP-1 stands where nobody looks"},
	{"pages", "views/ui/a.templ", "<p style=\"color: red\">", "a style attribute"},
	{"pages", "views/ui/a.templ", "<script>alert(1)</script>", "an inline script"},
	{"pages", "views/ui/a.templ", "<script type=\"module\">alert(1)</script>", "an inline script"},
	{"pages", "views/ui/a.templ", "<button hx-on:click=\"x()\">", "hx-on"},
	{"pages", "views/ui/a.templ", "<button onclick=\"x()\">", "an event attribute"},
	{"pages", "views/ui/a.templ", "@templ.Raw(text)", "templ.Raw"},
	{"pages", "views/ui/a.templ", "<img src=\"https://example.com/a.png\">", "another origin"},
	{"pages", "views/mail/a.templ", "<p onclick=\"x()\">", "an event attribute"},
	{"exported comments", "core/payment/a.go", "func Open() {}", "Open has no comment"},
	{"exported comments", "chain/a.go", "type Tip struct{}", "Tip has no comment"},
	{"exported comments", "models/a.go", "const Limit = 1", "Limit has no comment"},
	{"nothing of one machine", "docs/a.md", "see /ho" + "me/dev/notes", "docs/a.md:1"},
	{"nothing of one machine", "package-lock.json", `"resolved": "https://registry.npm` + `js.org/a"`, "registry"},
	{"module versions", "go.mod", "require github.com/valyala/fasthttp v1.51.0 // indirect", `lowest that may be is "1.74.0"`},
	{"module versions", "go.mod", "require (\n\tgithub.com/gorilla/csrf v1.7.3 // indirect\n)", "gorilla/csrf"},
	{"module versions", "e2e/go.mod", "go 1.26.5", `lowest that may be is "1.26.6"`},
	{"module versions", "go.mod", strings.Repeat("require github.com/jackc/pgx/v5 v5.12.0\n", mostModules+1), "47 direct modules"},
	{"documented modules", "e2e/go.mod", "require a.example/b v1.0.0", "a.example/b v1.0.0 is not in"},
	{"documented modules", "package.json", `"a": "1.0.1"`, "a 1.0.1 is not in"},
}

// house is a small tree that keeps every rule.
func house() fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"go.mod":                "module cointill\n\ngo 1.26.6\n\nrequire github.com/jackc/pgx/v5 v5.12.0\n",
		"cmd/cointill/main.go":  "// Command cointill.\npackage main\n\nimport \"time\"\n\nvar now = time.Now\n",
		"core/clock/clock.go":   "// Package clock tells the time.\npackage clock\n\nimport \"time\"\n\nvar now = time.Now\n",
		"web/web.go":            "// Package web serves.\npackage web\n\nimport _ \"github.com/gorilla/sessions\"\n",
		"core/link/link.go":     "// Package link is one.\npackage link\n\nimport (\n\t_ \"cointill/models\"\n\t_ \"gorm.io/gorm\"\n)\n\nvar _ = db.Where(\"a = ?\"+lock, b)\n",
		"core/link/a_test.go":   "package link_test\n\nimport (\n\t_ \"cointill/web\"\n\t\"time\"\n)\n\nvar now = time.Now\n",
		"views/ui/button.templ": "// Package ui is small parts.\npackage ui\n\ntempl Head() {\n\t<script src={ path } defer></script>\n\t<link rel=\"stylesheet\"/>\n}\n",
		"views/mail/mail.templ": "package mail\n\ntempl Mail() {\n\t<p style=\"margin: 0\"></p>\n}\n",
		"node_modules/a/a.go":   "package main\n",
		"docs/dependencies.md":  "| `github.com/jackc/pgx/v5` | v5.12.0 |\n| `a` | 1.0.0 |\n",
		"package.json":          `{"devDependencies": {"a": "1.0.0"}}`,
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// TestPlanted proves that each rule finds what it is there for, finds it in the
// right file, and finds nothing in a tree that keeps it.
func TestPlanted(t *testing.T) {
	proven := map[string]bool{"package comments": true} // below
	for _, p := range planted {
		t.Run(p.rule+" "+p.says, func(t *testing.T) {
			files := house()
			text := p.text
			if strings.HasSuffix(p.path, ".go") {
				name := "a"
				if p.rule == "one command" {
					name = "main"
				}
				text = "// Package a is planted.\npackage " + name + "\n\n" + text + "\n"
			}
			files[p.path] = &fstest.MapFile{Data: []byte(text)}
			proven[p.rule] = true
			only(t, files, p.rule, p.path, p.says)
		})
	}
	t.Run("package comments", func(t *testing.T) {
		files := house()
		files["core/fault/a.go"] = &fstest.MapFile{Data: []byte("package fault\n")}
		only(t, files, "package comments", "core/fault", "no comment")
	})
	t.Run("nothing planted", func(t *testing.T) { only(t, house(), "", "", "") })
	for _, r := range rules {
		if !proven[r.name] {
			t.Errorf("nothing is planted for the rule %q", r.name)
		}
	}
}

// only fails unless the rule alone finds exactly one thing, in the file named.
func only(t *testing.T, files fstest.MapFS, rule, path, says string) {
	t.Helper()
	tree, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		found := r.check(tree)
		switch {
		case r.name != rule && len(found) > 0:
			t.Errorf("%s finds %q", r.name, found)
		case r.name == rule && (len(found) != 1 || !strings.Contains(found[0], path) && path != "tools/main.go" || !strings.Contains(found[0], says)):
			t.Errorf("%s finds %q, want one finding in %s that says %q", rule, found, path, says)
		}
	}
}
