package mutationtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// binary is a suite's tests, compiled with all mutants of a piece.
type binary struct {
	suite suite
	file  string
	dir   string // where its tests run
}

// buildSuites compiles the suites of a piece: the package's own when it has tests, then the others.
func buildSuites(ctx context.Context, root, work string, s *source) ([]binary, error) {
	overlay := map[string]string{}
	files := map[string]string{helperName(s.piece.folder): buildHelper(s.packageName)}
	for name, text := range s.instrumented {
		files[name] = text
	}
	for name, text := range files {
		written := filepath.Join(work, strings.ReplaceAll(name, "/", "-"))
		overlay[filepath.Join(root, name)] = written
		if err := os.WriteFile(written, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	list := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(list, replaced, 0o600); err != nil {
		return nil, err
	}
	var binaries []binary
	suites := s.piece.suites
	if tests, err := filepath.Glob(filepath.Join(root, s.piece.folder, "*_test.go")); err != nil {
		return nil, err
	} else if len(tests) > 0 {
		suites = append([]suite{{folder: s.piece.folder}}, suites...)
	}
	for i, own := range suites {
		b := binary{own, filepath.Join(work, fmt.Sprintf("suite%d.test", i)), filepath.Join(root, own.folder)}
		compile := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", list, "-o", b.file,
			"./"+path.Clean(own.folder))
		compile.Dir = root
		if out, err := compile.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("the mutants of %s don't compile: %w\n%.4000s", s.piece.name, err, out)
		}
		binaries = append(binaries, b)
	}
	return binaries, nil
}

// maxMemory bounds the address space of a test process, in KiB: a loop that a mutant
// makes endless must not take the machine's memory.
const maxMemory = 12_000_000

// runTests runs some of the tests, and returns their output. The error comes from the context
// or from a process that failed.
func (b binary) runTests(ctx context.Context, limit time.Duration, tests string, variables ...string) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	arguments := []string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, maxMemory), b.file, "-test.failfast",
		"-test.run", tests, "-test.timeout", limit.String()}
	command := exec.CommandContext(bounded, "sh", append(arguments, b.suite.arguments...)...)
	var out bytes.Buffer
	command.Stdout, command.Stderr, command.Dir = &out, &out, b.dir
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CI=") })
	command.Env = append(command.Env, variables...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what the tests start ends with them
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 5 * time.Second
	err := command.Run()
	return out.String(), errors.Join(ctx.Err(), err)
}

// listTests lists the names of the suite's tests.
func (b binary) listTests(ctx context.Context) (names []string, err error) {
	list := exec.CommandContext(ctx, b.file, "-test.list", ".")
	list.Dir = b.dir
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	chosen, err := regexp.Compile(b.suite.tests)
	if err != nil {
		return nil, err
	}
	for _, name := range strings.Fields(string(out)) {
		if !strings.HasPrefix(name, "Benchmark") && chosen.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil
}
