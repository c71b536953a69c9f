package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestDeploy: what the files for an installation set are settings that there
// are, and what they run are commands.
func TestDeploy(t *testing.T) {
	known := map[string]bool{}
	for _, each := range (&Settings{}).list() {
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
	for _, must := range []string{"DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet=\n", "MemoryDenyWriteExecute=yes"} {
		if !strings.Contains(file(t, "deploy/cointill.service"), must) {
			t.Errorf("the unit lacks %s", must)
		}
	}
	image := file(t, "../Dockerfile")
	for _, must := range []string{"COPY . .\n", "CGO_ENABLED=0", "-X main.version=$VERSION", "USER 65532:65532", `CMD ["/cointill", "healthcheck"]`} {
		if !strings.Contains(image, must) {
			t.Errorf("the Dockerfile lacks %s", must)
		}
	}
}
