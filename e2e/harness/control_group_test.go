package harness

import (
	"os"
	"path/filepath"
	"testing"
)

// TestControlGroupVersion2 makes a group below the nearest one that hands the memory controller
// on. It works on plain files, because a machine with version 1 has no others.
func TestControlGroupVersion2(t *testing.T) {
	root := t.TempDir()
	parent := filepath.Join(root, "session", "test")
	if err := os.MkdirAll(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	controllersOf := map[string]string{root: "cpu memory pids\n", filepath.Dir(parent): "cpu\n", parent: ""}
	for folder, controllers := range controllersOf {
		if err := os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte(controllers), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := &controlGroup{}
	if err := g.createVersion2(parent, 256<<20); err != nil {
		t.Fatal(err)
	}
	if at := filepath.Dir(g.folder); at != root {
		t.Errorf("the group was made in %s, want %s, which hands the memory controller on", at, root)
	}
	if got, err := os.ReadFile(filepath.Join(g.folder, "memory.max")); err != nil || string(got) != "268435456" {
		t.Errorf("memory.max is %q (%v), want 268435456", got, err)
	}
	for text, want := range map[string]int{
		"low 0\noom 7\noom_kill 3\noom_group_kill 9\n":  3,
		"oom_kill_disable 0\nunder_oom 0\noom_kill 0\n": 0, // version 1
	} {
		if err := os.WriteFile(g.kills, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := g.countKilled(); err != nil || got != want {
			t.Errorf("%q: %d processes were killed (%v), want %d", text, got, err, want)
		}
	}
}
