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
	for name, run := range map[string][]string{"curl": {"sh", "pay.sh"}, "Node": {"node", "pay.mjs"}, "Python": {"python3", "pay.py"}, "PHP": {"php", "pay.php"}, "Go": {"go", "run", "pay.go"}} {
		program := page.ReadAttribute("button[aria-label='Copy "+name+" program']", "data-copy")
		t.Run(name, func(t *testing.T) { runProgram(t, program, run) })
	}
	harness.WaitFor(t, time.Minute, "the log of requests", func() bool {
		page.Open(i.Base + "/dashboard/calls")
		return strings.Contains(page.ReadText("main"), "/v1/payment/initiate")
	})
	call := page.ReadAttribute("a[href^='/dashboard/calls/']", "href")
	page.ClickElement("a[href^='/dashboard/calls/']")
	page.WaitForElement("pre")
	if text := page.ReadText("main"); strings.Contains(text, "ada@example.com") {
		t.Errorf(`page.Text("main"): text = %v`, text)
	}
	for name, view := range views {
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

// runProgram runs a program of the quickstart in a folder of its own.
func runProgram(t *testing.T, program string, run []string) {
	if _, err := exec.LookPath(run[0]); err != nil {
		t.Fatalf("%v: scripts/prepare --all installs it", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, run[len(run)-1]), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), run[0], run[1:]...)
	command.Dir = dir
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	if err := command.Run(); err != nil || !strings.Contains(said.String(), "/pay/") {
		t.Errorf("%v: %s", err, said.String())
	}
	if run[0] != "sh" && !strings.Contains(said.String(), "is pending") {
		t.Errorf("said.String() = %v", said.String())
	}
}
