package app

import (
	"bytes"
	"log/slog"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cointill/core/memory"
)

// TestDescriptorsAreShared: whatever the limit of open files is, clients, those who are turned
// away and webhooks together leave some to the database and to nodes.
func TestDescriptorsAreShared(t *testing.T) {
	for _, c := range []struct {
		descriptors, memory            int64
		connections, pages, deliveries int
	}{
		{64, memory.Unlimited, 21, 10, 5},
		{256, memory.Unlimited, 85, 42, 21},
		{1024, memory.Unlimited, 576, 288, 144},
		{1024, memory.Least, 576, 208, 144},
		{4096, memory.Unlimited, 2624, 1312, 656},
		{4096, memory.Least, 832, 208, 208},
		{16384, memory.Unlimited, 4096, 2048, 1024},
		{math.MaxInt32, memory.Unlimited, 4096, 2048, 1024},
	} {
		l := limitsOf(memory.PlanFor(memory.RuntimeLimit(c.memory)), c.descriptors)
		if l.connections != c.connections || l.pages != c.pages || l.deliveries != c.deliveries {
			t.Errorf("%d descriptors and %d MiB: %d connections, %d pages, %d deliveries, want %+v",
				c.descriptors, c.memory>>20, l.connections, l.pages, l.deliveries, c)
		}
		used := int64(l.connections + l.connections/8 + l.deliveries + l.deliveries/2)
		if left := c.descriptors - used; left < min(ownFiles, c.descriptors/2) {
			t.Errorf("of %d descriptors %d are left to the database and nodes", c.descriptors, left)
		}
	}
}

// TestLowLimitsAreLogged: the log names at start each limit that is too low, and how to raise it.
func TestLowLimitsAreLogged(t *testing.T) {
	for _, c := range []struct {
		available, descriptors int64
		want                   []string
	}{
		{memory.Least, 16384, nil},
		{memory.Unlimited, 16384, nil},
		{memory.Least - 1, 16384, []string{"give it 256 MiB or more"}},
		{memory.Least, 1024, []string{"raise it to 16384"}},
		{128 << 20, 64, []string{"give it 256 MiB or more", "raise it to 16384"}},
	} {
		l := limitsOf(memory.PlanFor(memory.RuntimeLimit(c.available)), c.descriptors)
		l.available = c.available
		var log bytes.Buffer
		l.logLimits(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
		if warned := strings.Count(log.String(), "level=WARN"); warned != len(c.want) || !strings.Contains(log.String(), "msg=limits") {
			t.Errorf("%+v: %d warnings: %s", c, warned, &log)
		}
		for _, want := range c.want {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%+v: the log lacks %q: %s", c, want, &log)
			}
		}
	}
}

// TestDeploySetsDescriptors: the files for an installation allow as many files as all
// connections need.
func TestDeploySetsDescriptors(t *testing.T) {
	for name, setting := range map[string]string{"cointill.service": `(?m)^LimitNOFILE=(\d+)$`, "compose.yml": `(?m)^      nofile: (\d+)$`} {
		text, err := os.ReadFile("../../docs/deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		set := regexp.MustCompile(setting).FindStringSubmatch(string(text))
		if set == nil {
			t.Fatalf("%s sets no limit of open files", name)
		}
		limit, err := strconv.ParseInt(set[1], 10, 64)
		plan := memory.PlanFor(memory.Unlimited)
		if got := limitsOf(plan, limit).connections; err != nil || got != plan.Connections {
			t.Errorf("%s lets %d clients connect, want %d", name, got, plan.Connections)
		}
	}
}
