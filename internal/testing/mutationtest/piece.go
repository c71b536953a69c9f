package mutationtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// piece is a part of the product whose conditions are changed: some files of a package.
type piece struct {
	name   string
	folder string
	files  []string // patterns of names; none is all files
	suites []suite  // asked after the package's own tests, for mutants that those don't find
}

// suite is the tests of a package.
type suite struct {
	folder    string
	tests     string // a regular expression; "" is all
	arguments []string
}

// pieces are measured in this order.
var pieces = []piece{
	{name: "core/idempotency", folder: "core/idempotency"},
	{name: "core/account/apikey", folder: "core/account/apikey"},
	{name: "core/webhook/guard", folder: "core/webhook/guard"},
	{name: "core/webhook", folder: "core/webhook",
		files:  []string{"validate.go", "endpoint.go", "failing.go", "pause.go", "queue.go"},
		suites: []suite{{folder: "core/webhook/delivery"}}},
	{name: "core/webhook/delivery", folder: "core/webhook/delivery",
		files: []string{"settle.go", "missed.go", "redeliver.go"}},
	{name: "core/account", folder: "core/account", suites: []suite{{folder: "core/account/auth"}}},
	{name: "core/account/auth", folder: "core/account/auth", suites: []suite{{folder: "core/account"}}},
	{name: "chain/abi", folder: "chain/abi", suites: []suite{{folder: "chain/ethereum"},
		{folder: "chain/ethereum/signing"}, {folder: "chain/tron"}, {folder: "chain/tron/signing"}}},
	{name: "chain/bitcoin", folder: "chain/bitcoin",
		files: []string{"auxpow.go", "decode*.go", "fee_rate.go", "find_transaction.go", "matcher.go", "merkle.go", "order*.go"}},
	{name: "chain/bitcoin/bytereader", folder: "chain/bitcoin/bytereader",
		suites: []suite{{folder: "chain/bitcoin"}, {folder: "chain/bitcoin/signing"}}},
	{name: "chain/bitcoin/params", folder: "chain/bitcoin/params", files: []string{"difficulty.go"},
		suites: []suite{{folder: "chain/bitcoin"}}},
	{name: "chain/bitcoin/signing", folder: "chain/bitcoin/signing"},
	{name: "chain/bitcoin/signing/ur", folder: "chain/bitcoin/signing/ur"},
	{name: "chain/ethereum", folder: "chain/ethereum",
		files: []string{"block.go", "bloom.go", "call_tracer.go", "fetch_block.go", "token.go", "trace_block.go",
			"transfer.go"}},
	{name: "chain/ethereum/hexjson", folder: "chain/ethereum/hexjson"},
	{name: "chain/ethereum/signing", folder: "chain/ethereum/signing"},
	{name: "chain/xrpl", folder: "chain/xrpl",
		files: []string{"account.go", "header.go", "issued_currency.go", "ledger.go", "transfer.go"}},
	{name: "chain/xrpl/signing", folder: "chain/xrpl/signing"},
	{name: "core/payment", folder: "core/payment",
		suites: []suite{requests, pages, simulated}},
	{name: "core/payment/observe", folder: "core/payment/observe", suites: []suite{payments, simulated}},
	{name: "core/payment/fence", folder: "core/payment/fence", suites: []suite{payments}},
	{name: "core/payment/list", folder: "core/payment/list", suites: []suite{payments, requests, pages}},
	{name: "core/payment/reconcile", folder: "core/payment/reconcile", suites: []suite{payments}},
	{name: "core/payment/issuer", folder: "core/payment/issuer", suites: []suite{payments}},
	{name: "core/payment/books", folder: "core/payment/books", suites: []suite{payments}},
	{name: "core/journal", folder: "core/journal", suites: []suite{payments}},
	{name: "core/send", folder: "core/send"},
	{name: "core/send/destination", folder: "core/send/destination"},
	{name: "core/send/request", folder: "core/send/request", suites: []suite{sends}},
	{name: "core/send/outputs", folder: "core/send/outputs", suites: []suite{sends}},
	{name: "core/send/payer", folder: "core/send/payer", suites: []suite{sends}},
	{name: "core/send/batch", folder: "core/send/batch", suites: []suite{sends}},
	{name: "core/send/addressbook", folder: "core/send/addressbook", suites: []suite{sends}},
	{name: "core/send/fees", folder: "core/send/fees", suites: []suite{sends}},
	{name: "core/send/validity", folder: "core/send/validity", suites: []suite{sends}},
	{name: "core/send/match", folder: "core/send/match", suites: []suite{sends}},
	{name: "core/send/rules", folder: "core/send/rules", suites: []suite{sends}},
}

// Suites that several pieces ask: the tests of a payment's life, of the API and of the
// dashboard, of sends, and a few runs of the simulation.
var (
	requests  = suite{folder: "handlers/api"}
	pages     = suite{folder: "handlers/dashboard"}
	payments  = suite{folder: "core/payment"}
	sends     = suite{folder: "core/send"}
	simulated = suite{"core/simulation", "^TestSimulation$", []string{"-sim.seeds=6", "-sim.processes=1", "-sim.first"}}
)

// selectPieces returns the pieces of some names, as they are or as in names of files, with
// commas between them; all for none.
func selectPieces(names string) (selected []piece, err error) {
	if names == "" {
		return pieces, nil
	}
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(pieces, func(p piece) bool { return name == p.name || name == fileName(p.name) })
		if i < 0 {
			var names []string
			for _, p := range pieces {
				names = append(names, fileName(p.name))
			}
			return nil, fmt.Errorf("no piece is named %q; there are %s", name, strings.Join(names, ", "))
		}
		selected = append(selected, pieces[i])
	}
	return selected, nil
}

// source is a piece's files and mutants.
type source struct {
	piece        piece
	packageName  string
	instrumented map[string]string // by path from the root
	mutants      []mutant
	code, tests  string // hashes of the package's files, without and with its tests
}

// loadSource reads a piece's files and finds its mutants.
func (p piece) loadSource(root string) (*source, error) {
	s := &source{piece: p, packageName: path.Base(p.folder), instrumented: map[string]string{}}
	entries, err := os.ReadDir(filepath.Join(root, p.folder))
	if err != nil {
		return nil, err
	}
	r := newRewriter()
	for _, entry := range entries {
		if !p.holdsFile(entry.Name()) {
			continue
		}
		name := path.Join(p.folder, entry.Name())
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		if s.instrumented[name], err = r.rewriteFile(name, string(text)); err != nil {
			return nil, err
		}
	}
	for _, pattern := range p.files {
		if !slices.ContainsFunc(entries,
			func(e os.DirEntry) bool { ok, _ := path.Match(pattern, e.Name()); return ok }) {
			return nil, fmt.Errorf("%s: no file is called %s", p.name, pattern)
		}
	}
	s.mutants = r.mutants
	s.code, s.tests, err = p.hashFiles(root)
	return s, err
}

// holdsFile reports whether the piece changes conditions of a file.
func (p piece) holdsFile(name string) bool {
	matches := func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") &&
		(len(p.files) == 0 || slices.ContainsFunc(p.files, matches))
}

// hashFiles hashes the files of the package, and of the packages whose tests are asked too.
func (p piece) hashFiles(root string) (code, tests string, err error) {
	only, all := sha256.New(), sha256.New()
	fmt.Fprint(all, p.suites)
	folders := []string{p.folder}
	for _, s := range p.suites {
		folders = append(folders, s.folder)
	}
	for i, folder := range folders {
		err := fs.WalkDir(os.DirFS(root), folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(root, name))
			fmt.Fprintf(all, "%s %d\n%s", name, len(text), text)
			if i == 0 && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				fmt.Fprintf(only, "%s %d\n%s", name, len(text), text)
			}
			return err
		})
		if err != nil {
			return "", "", err
		}
	}
	return hex.EncodeToString(only.Sum(nil))[:16], hex.EncodeToString(all.Sum(nil))[:16], nil
}
