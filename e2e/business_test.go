package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cointill/e2e/browser"
	"cointill/e2e/harness"
)

// TestBusinessPages changes settings and reads the logs with JavaScript off,
// runs the quickstart's programs as they are shown, and looks at each of these
// pages in every view. Then somebody writes into the database.
func TestBusinessPages(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	chromium := browser.StartShared(t)
	page := chromium.OpenTab(t, browser.Plain)
	enter(page, i)

	page.Open(i.Base + "/dashboard/settings")
	page.FillField("input[name=under]", "7")
	page.ClickElement("form[action$='/payments'] button")
	page.WaitForElement("#f-under-error")
	page.TakeShot("settings-refused")
	page.FillField("input[name=contact_email]", "help@shop.example")
	page.ClickElement("form[action$='/profile'] button")
	page.WaitForElement("input[value='help@shop.example']")

	page.Open(i.Base + "/dashboard/quickstart")
	page.ClickElement("form[action='/dashboard/quickstart'] button")
	page.WaitForElement(".panel-once")
	programs := map[string][]string{"curl": {"sh", "pay.sh"}, "Node": {"node", "pay.mjs"}, "Python": {"python3", "pay.py"}, "PHP": {"php", "pay.php"}, "Go": {"go", "run", "pay.go"}}
	for name, run := range programs {
		program := page.ReadAttribute("button[aria-label='Copy "+name+" program']", "data-copy")
		t.Run(name, func(t *testing.T) {
			said := runProgram(t, program, run, "")
			if !strings.Contains(said, "/pay/") || run[0] != "sh" && !strings.Contains(said, "is pending") {
				t.Errorf("the program of the quickstart said %q, want the payment page's address and the state", said)
			}
		})
	}
	page.Open(i.Base + "/docs/payments")
	for _, operation := range []struct{ id, want string }{{"initiatePayment", "/pay/"}, {"verifyPayment", "order-"}, {"listPayments", "order-"}} {
		for _, name := range []string{"curl", "Node", "Python", "PHP"} {
			// The languages space the same JSON in their ways, so each is an order of its own.
			program := page.ReadAttribute("article[aria-labelledby="+operation.id+"] button[aria-label='Copy "+name+" program']", "data-copy")
			program = strings.ReplaceAll(program, "order-1001", "order-"+name)
			t.Run(operation.id+" in "+name, func(t *testing.T) {
				if said := runProgram(t, program, programs[name], i.Key); !strings.Contains(said, operation.want) {
					t.Errorf("the program of the reference said %q, want %q in it", said, operation.want)
				}
			})
		}
	}
	harness.WaitFor(t, time.Minute, "the log of requests", func() bool {
		page.Open(i.Base + "/dashboard/calls")
		return strings.Contains(page.ReadText("main"), "/v1/payment/initiate")
	})
	call := page.ReadAttribute("a[href^='/dashboard/calls/']", "href")
	page.FollowLink("a[href^='/dashboard/calls/']")
	page.WaitForElement("pre")
	if text := page.ReadText("main"); strings.Contains(text, "ada@example.com") {
		t.Errorf(`page.Text("main"): text = %v`, text)
	}
	for name, view := range chooseViews() {
		t.Run(name, func(t *testing.T) {
			seen := chromium.OpenTab(t, view)
			enter(seen, i)
			for _, path := range []string{"/dashboard/settings", "/dashboard/audit", "/dashboard/audit?what=refused", "/dashboard/calls", "/dashboard/quickstart", "/dashboard/keys"} {
				look(t, seen, i.Base, path, name)
			}
			look(t, seen, i.Base, call, name)
		})
	}
	if said := i.RunCommand("", "audit", "verify"); !strings.Contains(said, "holds") {
		t.Errorf(`i.Run("", "audit", "verify"): said = %v`, said)
	}
}

// runProgram runs a program in a folder of its own, with a key in its environment, and returns what it printed.
func runProgram(t *testing.T, program string, run []string, key string) string {
	t.Helper()
	if _, err := exec.LookPath(run[0]); err != nil {
		t.Fatalf("%v: scripts/prepare --all installs it", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, run[len(run)-1]), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), run[0], run[1:]...)
	command.Dir = dir
	command.Env = append(os.Environ(), "COINTILL_KEY="+key)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Run(); err != nil {
		t.Errorf("running %v: %v: %s", run, err, said.String())
	}
	return said.String()
}
