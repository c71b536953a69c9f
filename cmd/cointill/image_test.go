package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestImage: what .dockerignore lets through is enough to build the program from, with the
// flags that `make build` has, too, and a build that lacks something of it fails. The
// compiler's place is taken by a note of what it was to do; `go list` reads what it would.
func TestImage(t *testing.T) {
	t.Parallel()
	folder := dockerContext(t)
	build := regexp.MustCompile(`(?m)^RUN (.*go build(?:.*\\\n)*.*)$`).FindStringSubmatch(file(t, "../Dockerfile"))
	if build == nil {
		t.Fatal("the Dockerfile builds nothing")
	}
	tools, note := t.TempDir(), filepath.Join(t.TempDir(), "note")
	for name, script := range map[string]string{"go": `printf '%s\n' "$@" > "$NOTE"`, "mkdir": ":"} { // the latter makes /data
		if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := func() error {
		cmd := exec.Command("/bin/sh", "-c", build[1]) // as Docker does
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "NOTE="+note, "VERSION=1.2.3")
		text, err := cmd.CombinedOutput()
		t.Logf("%s", text)
		return err
	}
	if err := run(); err != nil {
		t.Fatal("the image isn't built:", err)
	}
	noted, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	flags := strings.Split(string(noted), "\n")
	for _, must := range []string{"-trimpath", "-gcflags=cointill/views/...=-l", "-gcflags=cointill/handlers/dashboard/...=-l", "-ldflags=-s -w -X cointill/internal/app.Version=1.2.3"} {
		if !slices.Contains(flags, must) {
			t.Errorf("built without %s: %q", must, flags)
		}
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Error}}{{.}}{{end}}", "./cmd/cointill")
	list.Dir = folder
	if missing, err := list.CombinedOutput(); err != nil || strings.TrimSpace(string(missing)) != "" {
		t.Errorf("the image lacks source: %v\n%s", err, missing)
	}
	if err := os.Remove(filepath.Join(folder, "scripts/cold")); err != nil {
		t.Fatal(err)
	}
	if run() == nil {
		t.Error("without scripts/cold it is built with other flags")
	}
}

// dockerContext is a folder with the files that .dockerignore lets through.
func dockerContext(t *testing.T) string {
	t.Helper()
	rules := strings.Fields(regexp.MustCompile(`(?m)^#.*`).ReplaceAllString(file(t, "../.dockerignore"), ""))
	folder := t.TempDir()
	for _, rule := range rules {
		from, through := strings.CutPrefix(rule, "!")
		if !through {
			continue
		}
		err := filepath.WalkDir(filepath.Join("../..", from), func(at string, entry fs.DirEntry, err error) error {
			name := filepath.ToSlash(strings.TrimPrefix(at, "../../"))
			if err != nil || entry.IsDir() || leftOut(rules, name) {
				return err
			}
			return copied(at, filepath.Join(folder, name))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func copied(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// leftOut tells whether Docker leaves a file out: the last rule decides that is about it, or
// about a folder that it is in.
func leftOut(rules []string, name string) (out bool) {
	for _, rule := range rules {
		pattern, back := strings.CutPrefix(rule, "!")
		anywhere, deep := strings.CutPrefix(pattern, "**/")
		for part := name; part != "."; part = path.Dir(part) {
			matched, _ := path.Match(pattern, part) // the patterns are ours
			if deep {
				matched, _ = path.Match(anywhere, path.Base(part))
			}
			if matched {
				out = !back
			}
		}
	}
	return out
}
