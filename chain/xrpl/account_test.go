package xrpl

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/chain/xrpl/ledgertest"
	"cointill/chain/xrpl/params"
	"cointill/core/money"
)

// TestAccountSettingsAreRead (XRP-10) checks the settings that matter when a merchant enters an
// account.
func TestAccountSettingsAreRead(t *testing.T) {
	forEachVersion(t, func(t *testing.T, newest int) {
		l := ledgertest.New(testID, nil)
		s := ledgertest.NewServer(l, newest)
		source := openURLs(t, l, "http://"+s.Serve(t))
		at := func(name string) params.Account {
			account, err := params.ParseAccount(ledgertest.Address(name))
			if err != nil {
				t.Fatal(err)
			}
			return account
		}
		for name, flags := range map[string]uint32{"plain": 0, "tags": ledgertest.RequireDestTag,
			"closed": ledgertest.DepositAuth | ledgertest.RequireDestTag, "no XRP": flagDisallowXRP} {
			l.AddAccount(ledgertest.Address(name), 7_000_000, flags)
		}
		if got, err := source.Account(t.Context(), at("plain")); err != nil || got.Exists ||
			got.Reserve.Cmp(money.Units(ledgertest.Reserve)) != 0 {
			t.Errorf("before its ledger is validated: %+v, %v", got, err)
		}
		l.CloseLedgers(1)
		index, _ := l.Tip()
		for name, want := range map[string]Account{
			"plain": {}, "tags": {RequireTag: true}, "closed": {RequireTag: true, DepositAuth: true},
			"no XRP": {DisallowXRP: true},
		} {
			got, err := source.Account(t.Context(), at(name))
			want.Exists, want.Ledger = true, index
			if amount := got.Balance; err != nil || amount.Cmp(money.Units(7_000_000)) != 0 {
				t.Errorf("account %s: balance %s, error %v, want 7000000", name, amount, err)
			}
			if got.Balance = (money.Amount{}); got.Exists != want.Exists || got.RequireTag != want.RequireTag ||
				got.DepositAuth != want.DepositAuth || got.DisallowXRP != want.DisallowXRP || got.Ledger != index ||
				got.Reserve.Cmp(money.Units(ledgertest.Reserve)) != 0 {
				t.Errorf("account %s: settings %+v, want %+v", name, got, want)
			}
		}
		for reserve, want := range map[string]int64{"10": 10_000_000, "0.2": 200_000, "1.000001": 1_000_001,
			"0.0000001": 0, "1e1": 0, "1234567": 0, `"1"`: 0, "-1": 0} {
			s.Tamper(func(command string, _ int, result ledgertest.Fields) {
				if command == "server_info" {
					info := result["info"].(ledgertest.Fields)
					info["validated_ledger"].(ledgertest.Fields)["reserve_base_xrp"] = json.RawMessage(reserve)
				}
			})
			if got, err := source.Account(t.Context(), at("nobody")); err != nil ||
				got.Reserve.Cmp(money.Units(want)) != 0 {
				t.Errorf("a reserve of %s is %s, %v", reserve, got.Reserve, err)
			}
		}
		s.Tamper(func(command string, _ int, result ledgertest.Fields) {
			if command == "account_info" {
				result["account_data"].(ledgertest.Fields)["Account"] = ledgertest.Address("another")
			}
		})
		var told chain.Problem
		if got, err := source.Account(t.Context(), at("plain")); !errors.As(err, &told) ||
			!strings.Contains(string(told), "not as a server") {
			t.Errorf("Account(plain) = %+v, %v, want \"not as a server\"", got, err)
		}
	})
}
