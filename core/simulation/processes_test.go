package simulation_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

var (
	processes = flag.Int("sim.processes", runtime.GOMAXPROCS(0), "in how many processes at once the seeds run")
	countsTo  = flag.String("sim.counts", "", "a file that is to have how often everything happened, as JSON")
)

// portion is how many seeds one process runs: what it holds in memory goes with it.
func portion() int { return max(5, 100/(*payments+*sends/5)) }

// spread runs all seeds in processes of this very program, several at once, as the
// random numbers of a seed are those of a whole process. It prints a line for each
// portion, and returns how often everything happened.
func spread(t *testing.T) map[string]int {
	total, done, dir := map[string]int{}, 0, t.TempDir()
	var mu sync.Mutex
	var running sync.WaitGroup
	next := make(chan int)
	for range *processes {
		running.Go(func() {
			for at := range next {
				n := min(portion(), *seeds-at)
				counts, out, err := runPortion(t, filepath.Join(dir, fmt.Sprint(at)), *from+uint64(at), n)
				mu.Lock()
				for what, n := range counts {
					total[what] += n
				}
				done += n
				how := "ok"
				if err != nil {
					how = fmt.Sprintf("FAILED: %v\n%s", err, out)
					t.Fail()
				}
				fmt.Printf("%d of %d seeds: %d to %d %s\n", done, *seeds, *from+uint64(at), *from+uint64(at+n-1), how) // a run may take hours
				mu.Unlock()
			}
		})
	}
	for at := 0; at < *seeds; at += portion() {
		next <- at
	}
	close(next)
	running.Wait()
	return total
}

// runPortion runs n seeds in a process of their own.
func runPortion(t *testing.T, file string, first uint64, n int) (counts map[string]int, out []byte, err error) {
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSimulation$", "-sim.processes=1", "-sim.counts="+file,
		fmt.Sprint("-sim.from=", first), fmt.Sprint("-sim.seeds=", n), fmt.Sprint("-sim.payments=", *payments),
		fmt.Sprint("-sim.sends=", *sends))
	if out, err = run.CombinedOutput(); err != nil {
		return nil, out, err
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &counts)
	}
	return counts, out, err
}

// writeCounts leaves what happened to the process that started this one.
func writeCounts(total map[string]int) error {
	if *countsTo == "" {
		return nil
	}
	text, err := json.Marshal(total)
	if err != nil {
		return err
	}
	return os.WriteFile(*countsTo, text, 0o600)
}
