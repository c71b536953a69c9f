package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/e2e/evm"
	"cointill/e2e/harness"
	"cointill/e2e/nodes"
)

const (
	smallMemory = 256 << 20 // the least that docs/operations.md asks for
	smallFiles  = 1024
	// attackTime is how long each attack lasts.
	attackTime = 6 * time.Second
	// proxyIP is a proxy that the program trusts. All attackers come by it, each with an address
	// of their own: limits for one address don't stop them.
	proxyIP = "127.0.0.2"
	// seededPayments is how many payments the exports hold.
	seededPayments = 10_000
)

// smallMachine is an instance with little memory and few open files, with what attackers need.
type smallMachine struct {
	*harness.Instance
	t        *testing.T
	limits   *harness.Limits
	merchant *browserless
	shop     *shop
	payments []string // paths of payment pages
	flooding *floodingNodes
}

// TestSmallMachine (AP-18) attacks a process that has 256 MiB of memory and 1,024 open files in
// every way that takes much of either, while a shop takes payments. The process lives, every
// request of the shop succeeds, at the latest when it is repeated as the server asked, and every
// payment that was acknowledged is there. Times are printed, not asserted.
func TestSmallMachine(t *testing.T) {
	t.Parallel()
	m := newSmallMachine(t)
	before := m.limits.OpenFiles()
	attacks := slices.Concat([]machineAttack{{"none, for comparison", waitOut}}, machineAttacks)
	attacks = append(attacks, machineAttack{"all of them at once", attackAtOnce})
	table := tableHead
	defer func() { m.report(table) }()
	for _, a := range attacks {
		row, broken := m.endure(a)
		table += row + "\n"
		if broken != "" {
			t.Fatalf("%s: %s", a.name, broken)
		}
		harness.WaitFor(t, 30*time.Second, a.name+": the files and connections to be closed",
			func() bool { return m.limits.OpenFiles() <= before+20 })
	}
	m.shop.checkPayments(t)
	if log := m.ReadLog(); !strings.Contains(log, `"runtime_mib":208`) {
		t.Errorf("the program didn't find out that it has %d MiB: no runtime_mib of 208 in its log", smallMemory>>20)
	}
}

func newSmallMachine(t *testing.T) *smallMachine {
	m := &smallMachine{Instance: harness.New(t, false), t: t, flooding: newFloodingNodes(t, nodes.StartBtcd(t), evm.StartGeth(t))}
	m.flooding.configure(m.Instance)
	m.SetSetting("TRUSTED_PROXIES", proxyIP)
	m.SetSetting("RATE_LIMIT", "1000000")
	m.CreateBusiness()
	m.RunCommand("", "seed", "--business", m.Code, "--payments", fmt.Sprint(seededPayments))
	m.limits = m.LimitResources(smallMemory, smallFiles)
	m.Start()
	m.shop = newShop(m.Instance)
	m.merchant = signIn(t, m.Instance)
	for range 30 {
		p, err := m.shop.initiate()
		if err != nil {
			t.Fatal(err)
		}
		m.payments = append(m.payments, p.path)
	}
	return m
}

// machineAttack is one attack. It ends with its context and returns how much of it there was.
type machineAttack struct {
	name string
	run  func(ctx context.Context, m *smallMachine) (amount string)
}

func waitOut(ctx context.Context, _ *smallMachine) string {
	<-ctx.Done()
	return ""
}

// attackAtOnce runs all attacks at the same time.
func attackAtOnce(ctx context.Context, m *smallMachine) string {
	var running sync.WaitGroup
	for _, a := range machineAttacks {
		running.Go(func() { a.run(ctx, m) })
	}
	running.Wait()
	return fmt.Sprint(len(machineAttacks), " attacks")
}

// endure runs an attack while the shop takes payments. It returns a row of the table, and what
// the attack has broken.
func (m *smallMachine) endure(a machineAttack) (row, broken string) {
	m.limits.ResetPeak()
	m.shop.resetFigures()
	ctx, cancel := context.WithTimeout(m.t.Context(), attackTime)
	defer cancel()
	amount, files := "", 0
	var running sync.WaitGroup
	running.Go(func() { amount = a.run(ctx, m) })
	running.Go(func() { files = mostOpenFiles(ctx, m.limits) })
	err := m.shop.takePayments(ctx)
	if err != nil {
		cancel()
		m.awaitEnd()
	}
	running.Wait()
	survived := "yes"
	if broken = m.limits.CheckLimits(); broken != "" {
		survived = "no"
	}
	if err != nil {
		broken = strings.TrimSpace(broken + "\n" + err.Error())
	}
	peak, _ := m.limits.PeakMiB() // 0 when the process has ended
	return fmt.Sprintf("| %s | %s | %d | %d | %s | %s |", a.name, amount, peak, files, survived, m.shop.figures()), broken
}

// awaitEnd gives a process that no longer answers the time of a graceful stop to end.
func (m *smallMachine) awaitEnd() {
	deadline := time.After(15 * time.Second)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for m.IsAlive() {
		select {
		case <-deadline:
			return
		case <-look.C:
		}
	}
}

// mostOpenFiles counts the process's open files until the context ends.
func mostOpenFiles(ctx context.Context, limits *harness.Limits) (most int) {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return most
		case <-look.C:
			most = max(most, limits.OpenFiles())
		}
	}
}

const tableHead = "| Attack | How much of it | Memory at most, MiB | Open files at most | Survived | Payments paid " +
	"| The shop's requests | Repeated | p50, ms | p99, ms | p99 / 300 ms |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|\n"

// report prints the table. scripts/stages prints the copy in $RESULTS at the end of a run.
func (m *smallMachine) report(table string) {
	text := fmt.Sprintf("── attacks on a small machine\n%s\n%s; open files: RLIMIT_NOFILE of %d\n",
		table, m.limits.DescribeEnforcement(), smallFiles)
	if usage := m.limits.DescribeUsage(); usage != "" {
		text += usage + "\n"
	}
	m.t.Log(text)
	if folder := os.Getenv("RESULTS"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, "attacks.md"), []byte(text), 0o600); err != nil {
			m.t.Error(err)
		}
	}
}
