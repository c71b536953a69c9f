package e2e

import (
	"encoding/csv"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cointill/e2e/harness"
)

// statement is what the books' test reads of a statement.
type statement struct {
	Currencies []struct {
		Currency           string
		Payments           int
		Due                string
		Received, Reversed string
	}
	Coins []struct {
		Coin, Network string
		Closing       string
	}
}

// checkBooks compares what the statement of all days says with the payments' own records, with
// the downloaded table, and with what hledger adds up from the downloaded journal.
func checkBooks(t *testing.T, i *harness.Instance, references []string) {
	t.Helper()
	const days = "2020-01-01..2099-12-31"
	var s statement
	i.SendRequest("GET", "/v1/statements/"+days, nil, 200).DecodeData(t, &s)
	if len(s.Currencies) != 1 || len(s.Coins) == 0 {
		t.Fatalf("the statement has %+v", s)
	}
	sold, reversed, due, payments := new(big.Rat), new(big.Rat), new(big.Rat), 0
	for _, reference := range references {
		r := i.VerifyPayment(reference)
		if r.Status != "successful" {
			continue
		}
		amount := exact(t, r.Transaction.AmountPaid)
		payments++
		sold.Add(sold, amount)
		due.Add(due, exact(t, r.Transaction.ChargedAmount))
		if r.Reversed {
			reversed.Add(reversed, amount)
		}
	}
	l := s.Currencies[0]
	received := sold.Sub(sold, reversed)
	if l.Payments != payments || l.Due != due.FloatString(2) || l.Received != received.FloatString(2) ||
		l.Reversed != reversed.FloatString(2) {
		t.Errorf("the statement says %+v; the records say %d payments, due %s, received %s, reversed %s", l, payments,
			due.FloatString(2), received.FloatString(2), reversed.FloatString(2))
	}
	wallet := map[string]*big.Rat{}
	for _, c := range s.Coins {
		wallet[c.Network+" "+c.Coin] = exact(t, c.Closing)
	}
	member := signIn(t, i)
	query := "?from=2020-01-01&to=2099-12-31"
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(member.get("/dashboard/journal.csv"+query), "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	compareWallets(t, "the table", wallet, sumTable(t, rows))
	file := filepath.Join(t.TempDir(), "books.journal")
	if err := os.WriteFile(file, []byte(member.get("/dashboard/journal.hledger"+query)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "hledger", "check", "--strict", "-f", file).CombinedOutput(); err != nil {
		t.Fatalf("hledger refuses the journal: %v\n%s", err, out)
	}
	compareWallets(t, "hledger", wallet, askHledger(t, file))
}

// exact reads a decimal number.
func exact(t *testing.T, text string) *big.Rat {
	t.Helper()
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return number
}

// sumTable adds up what the rows of the table say of the wallet, by network and coin.
func sumTable(t *testing.T, rows [][]string) map[string]*big.Rat {
	t.Helper()
	sums := map[string]*big.Rat{}
	for _, row := range rows[1:] {
		amount, key := exact(t, row[5]), row[7]+" "+row[6]
		if sums[key] == nil {
			sums[key] = new(big.Rat)
		}
		switch "wallet" {
		case row[3]:
			sums[key].Add(sums[key], amount)
		case row[4]:
			sums[key].Sub(sums[key], amount)
		}
	}
	return sums
}

// askHledger returns the balances of the wallet, by network and coin.
func askHledger(t *testing.T, file string) map[string]*big.Rat {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "hledger", "balance", "assets:wallet", "--flat", "--no-total", "-O", "csv",
		"--layout=bare", "-f", file).Output()
	if err != nil {
		t.Fatalf("hledger balance: %v", err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]*big.Rat{}
	for _, row := range rows[1:] { // account, commodity, balance
		sums[strings.TrimPrefix(row[0], "assets:wallet:")+" "+row[1]] = exact(t, row[2])
	}
	return sums
}

// compareWallets compares balances with those of the statement.
func compareWallets(t *testing.T, who string, want, got map[string]*big.Rat) {
	t.Helper()
	for key, amount := range want {
		if got[key] == nil && amount.Sign() != 0 || got[key] != nil && got[key].Cmp(amount) != 0 {
			t.Errorf("%s has %s of %s, and the statement %s", who, got[key], key, amount)
		}
	}
	if len(got) > len(want) {
		t.Errorf("%s has more networks than the statement: %s", who, fmt.Sprint(got))
	}
}
