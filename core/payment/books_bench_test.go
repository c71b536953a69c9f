package payment_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/clock"
	"cointill/core/payment"
	"cointill/models/modelstest"
)

var roundsOnDemand = flag.Bool("journal.rounds", false,
	"BenchmarkPayment: run a round for each line of standard input, and print its times to standard error")

// maxJournalShare is the most of an operation's time that the journal may take.
const maxJournalShare = 0.05

// BenchmarkJournal starts its programs journalStarts times, and runs a round of each journalRounds times
// then: between two starts of one program, a block's payment differs by more than the limit. With a fifth
// of the rounds, the printed share of a block differs by 0.3 of the limit from run to run.
const journalStarts, journalRounds = 10, 100

// unbooked are the places at which BenchmarkJournal leaves the journal out: what books a payment's
// transfers when its state changes, and what books those of a block.
var unbooked = map[string]string{
	"books.go":            "func (v *View) listMoves(transfers []models.Transfer) (moves []journal.Move) {\n",
	"observe/transfer.go": "func bookArrival(row *models.Transfer, v *paymentUpdate, now time.Time, shares payment.Shares) *journal.Move {\n",
	"books/books.go":      "func BookTransfers(tx *models.Tx, now time.Time, network string) error {\n",
}

// roundTimes are what the operations of a round took: initiations, verifications, and the blocks that
// pay the payments and make them final.
type roundTimes [3]time.Duration

// roundParts names the parts of roundTimes.
var roundParts = [3]string{"initiate", "verify", "block"}

// BenchmarkJournal measures what the journal takes of the time of an initiation, a verification and a
// block's payment. It runs a program with the journal and one without it, round by round in turn, and
// prints the median of the shares as a ratio to maxJournalShare.
func BenchmarkJournal(b *testing.B) {
	with, without := filepath.Join(b.TempDir(), "with.test"), filepath.Join(b.TempDir(), "without.test")
	buildTest(b, with)
	buildTest(b, without, "-overlay", writeOverlay(b))
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		b.Run(name, func(b *testing.B) {
			requirePostgres(b, postgres)
			for b.Loop() {
				var shares [3][]float64
				for range journalStarts {
					for part, list := range measureShares(b, startRounds(b, with, name), startRounds(b, without, name)) {
						shares[part] = append(shares[part], list...)
					}
				}
				for part, list := range shares {
					slices.Sort(list)
					b.ReportMetric((list[len(list)/2-1]+list[len(list)/2])/2/maxJournalShare, roundParts[part]+"-of-limit")
				}
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// measureShares runs rounds of two programs in turn, and returns the journal's share of each part of each round.
func measureShares(b *testing.B, with, without rounds) (shares [3][]float64) {
	b.Helper()
	defer with.end()
	defer without.end()
	for n := range journalRounds {
		var on, off roundTimes
		if n%2 == 0 {
			on, off = with.run(), without.run()
		} else {
			off, on = without.run(), with.run()
		}
		for part := range shares {
			shares[part] = append(shares[part], 1-off[part].Seconds()/on[part].Seconds())
		}
	}
	return shares
}

// BenchmarkPayment measures initiations, verifications, and blocks of ten payments to their end.
func BenchmarkPayment(b *testing.B) {
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		b.Run(name, func(b *testing.B) {
			requirePostgres(b, postgres)
			x := newBench(b, modelstest.Open(b, postgres, clock.Real()))
			x.unbooked = true
			x.playRound() // prepares statements
			if *roundsOnDemand {
				for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
					took := x.playRound()
					fmt.Fprintln(os.Stderr, "round", int64(took[0]), int64(took[1]), int64(took[2]))
				}
				return
			}
			var sum roundTimes
			for b.Loop() {
				for part, took := range x.playRound() {
					sum[part] += took
				}
			}
			b.ReportMetric(0, "ns/op")
			for part, took := range sum {
				b.ReportMetric(float64(took.Microseconds())/float64(b.N)/roundPayments/1000, "ms-"+roundParts[part])
			}
		})
	}
}

// requirePostgres fails a benchmark of PostgreSQL without one.
func requirePostgres(b *testing.B, postgres bool) {
	b.Helper()
	if postgres && os.Getenv("COINTILL_TEST_DATABASE_URL") == "" {
		b.Fatal("COINTILL_TEST_DATABASE_URL is not set: run it with scripts/with-postgres")
	}
}

// The payments of a round, and the payments of one block.
const roundPayments, blockPayments = 20, 10

// playRound initiates payments, opens and verifies them, and pays them in blocks until they are final.
func (b *bench) playRound() (took roundTimes) {
	b.t.Helper()
	var opened []payment.View
	for range roundPayments {
		began := time.Now()
		started := b.initiate()
		took[0] += time.Since(began)
		v, err := b.service.Open(b.t.Context(), started.AccessToken, "sw", "")
		must(b.t, err)
		opened = append(opened, v)
	}
	began := time.Now()
	for _, v := range opened {
		b.view(v.Payment.Reference)
	}
	took[1] = time.Since(began)
	for some := range slices.Chunk(opened, blockPayments) {
		var pays []chain.Transfer
		for _, v := range some {
			pays = append(pays, b.pay(v, "tx-"+v.Payment.Reference, v.Payment.Due))
		}
		began := time.Now()
		b.mine(pays...)
		b.mine()
		took[2] += time.Since(began)
	}
	for _, v := range opened {
		b.expect(v.Payment.Reference, payment.Successful, "")
	}
	return took
}

// buildTest builds the test program of this package.
func buildTest(b *testing.B, to string, flags ...string) {
	b.Helper()
	args := slices.Concat([]string{"test", "-c", "-vet=off", "-o", to}, flags, []string{"."})
	if out, err := exec.CommandContext(b.Context(), "go", args...).CombinedOutput(); err != nil {
		b.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// writeOverlay writes copies of the files that book, without that, for the -overlay of go test.
func writeOverlay(b *testing.B) string {
	b.Helper()
	replace := map[string]string{}
	for name, head := range unbooked {
		text, err := os.ReadFile(name)
		must(b, err)
		if n := strings.Count(string(text), head); n != 1 {
			b.Fatalf("%s has %q %d times, want once", name, head, n)
		}
		file, err := filepath.Abs(name)
		must(b, err)
		replace[file] = filepath.Join(b.TempDir(), "unbooked.go")
		planted := strings.Replace(string(text), head, head+"	if true {\n		return nil\n	}\n", 1)
		must(b, os.WriteFile(replace[file], []byte(planted), 0o600))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	must(b, err)
	file := filepath.Join(b.TempDir(), "overlay.json")
	must(b, os.WriteFile(file, text, 0o600))
	return file
}

// rounds is a program that runs a round when it is asked to.
type rounds struct {
	b       *testing.B
	command *exec.Cmd
	ask     io.WriteCloser
	answer  *bufio.Scanner
}

// startRounds starts a test program on a database of its own.
func startRounds(b *testing.B, program, database string) rounds {
	b.Helper()
	command := exec.CommandContext(b.Context(), program, "-test.run", "^$", "-test.bench",
		"^BenchmarkPayment$/^"+database+"$", "-test.benchtime", "1x", "-journal.rounds")
	ask, err := command.StdinPipe()
	must(b, err)
	answer, err := command.StderrPipe()
	must(b, err)
	must(b, command.Start())
	return rounds{b, command, ask, bufio.NewScanner(answer)}
}

// end ends the program.
func (r rounds) end() {
	_ = r.ask.Close()
	_ = r.command.Wait()
}

// run runs a round.
func (r rounds) run() (took roundTimes) {
	r.b.Helper()
	_, err := fmt.Fprintln(r.ask)
	must(r.b, err)
	for r.answer.Scan() {
		if n, _ := fmt.Sscanf(r.answer.Text(), "round %d %d %d", &took[0], &took[1], &took[2]); n == len(took) {
			return took
		}
		r.b.Log(r.answer.Text())
	}
	r.b.Fatal("the program of the rounds ended")
	return took
}
