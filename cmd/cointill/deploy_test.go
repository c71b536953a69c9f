package main

import (
	"cointill/internal/app"
	"regexp"
	"strings"
	"testing"
)

// TestDeploy: what the files for an installation set are settings that there
// are, and what they run are commands.
func TestDeploy(t *testing.T) {
	known := map[string]bool{}
	for _, each := range listSettings(&app.Settings{}) {
		known[each.variable] = true
	}
	for _, name := range []string{"compose.yml", "cointill.service", "env.example"} {
		text := file(t, "deploy/"+name)
		for _, variable := range regexp.MustCompile(`\bCOINTILL_[A-Z_]+\b`).FindAllString(text, -1) {
			if !known[variable] {
				t.Errorf("%s sets %s, which nothing reads", name, variable)
			}
		}
	}
	// By a port of the machine alone Docker connects itself, from its gateway: customers are
	// told apart by what the proxy says.
	compose := file(t, "deploy/compose.yml")
	for name, says := range map[string]string{"compose.yml": `COINTILL_WEBHOOK_LOOPBACK: "false"`, "cointill.service": "\nEnvironment=COINTILL_WEBHOOK_LOOPBACK=false\n",
		"env.example": "\n#COINTILL_WEBHOOK_LOOPBACK=false\n"} {
		if !strings.Contains(file(t, "deploy/"+name), says) {
			t.Errorf("%s doesn't say that webhooks reach no service of this machine: it lacks %q", name, says)
		}
	}
	gateway := regexp.MustCompile(`(?m)^  outside:\n(?:    .*\n)*? +gateway: (\S+)$`).FindStringSubmatch(compose)
	if gateway == nil || !strings.Contains(compose, "COINTILL_TRUSTED_PROXIES: ${COINTILL_TRUSTED_PROXIES:-"+gateway[1]+"}\n") {
		t.Errorf("compose.yml believes another than Docker's gateway %q", gateway)
	}
	for _, port := range regexp.MustCompile(`(?m)^    ports:\n((?:      - .*\n)+)`).FindAllString(compose, -1) {
		if strings.Count(port, "- ") != strings.Count(port, "- 127.0.0.1:") {
			t.Errorf("compose.yml opens a port to others, who could name any address: %s", port)
		}
	}
	if !strings.Contains(file(t, "deploy/env.example"), "COINTILL_TRUSTED_PROXIES=") {
		t.Error("env.example doesn't say how customers are told apart")
	}
	for _, must := range []string{"DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet=\n", "MemoryDenyWriteExecute=yes"} {
		if !strings.Contains(file(t, "deploy/cointill.service"), must) {
			t.Errorf("the unit lacks %s", must)
		}
	}
	image := file(t, "../Dockerfile")
	for _, must := range []string{"COPY . .\n", "CGO_ENABLED=0", "-X cointill/internal/app.Version=$VERSION", "USER 65532:65532", `CMD ["/cointill", "healthcheck"]`} {
		if !strings.Contains(image, must) {
			t.Errorf("the Dockerfile lacks %s", must)
		}
	}
}
