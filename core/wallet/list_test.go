package wallet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cointill/chain/abi"
	"cointill/chain/ethereum/params"
	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/models/modelstest"
)

const sepolia = "ethereum-sepolia"

// addressList makes addresses that nobody has.
func addressList(name string, count int) (list []string) {
	for i := range count {
		sum := abi.Keccak(fmt.Appendf(nil, "%s %d", name, i))
		list = append(list, params.Address(sum[12:]).String())
	}
	return list
}

// TestParseList: a list is taken whole or not at all, and says which entry is wrong
// without repeating it.
func TestParseList(t *testing.T) {
	t.Parallel()
	p, _ := wallet.Find(sepolia)
	list := addressList("list", wallet.MaxList)
	for _, text := range []string{strings.Join(list, "\n"), strings.Join(list, ", "),
		strings.ToLower(strings.Join(list, "\r\n")), " " + strings.Join(list, ";") + "\n"} {
		key, err := wallet.ParseKey(text, p, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := wallet.ParseKey(key.String(), p, key.Script())
		if err != nil || again.Fingerprint() != key.Fingerprint() || key.Script() != wallet.ScriptList {
			t.Errorf("it is read back as %v, %v", again, err)
		}
		for i, want := range list {
			if got, err := key.Address(int64(i)); err != nil || got != want {
				t.Fatalf("address %d is %s, %v", i, got, err)
			}
		}
		if _, err := key.Address(wallet.MaxList); err == nil {
			t.Error("there is an address after the last")
		}
	}
	secret := strings.Repeat("ab", 32)
	for text, words := range map[string]string{
		list[0] + "\n" + list[1][:41]:                    "Entry 2 of the list is no address",
		list[0] + "\n" + list[1] + "\n" + list[0]:        "Entry 3 of the list is the same address as entry 1",
		list[0] + " " + swapCase(list[1]):                "Entry 2 of the list is no address",
		strings.Join(append(list, list[0]), " "):         "1000 addresses at most",
		list[0] + "\n0x" + secret:                        "private key",
		list[0] + " 0x" + strings.Repeat("0", 40):        "Entry 2 of the list belongs to the network itself",
		list[0] + " 0x" + strings.Repeat("0", 38) + "09": "Entry 2 of the list belongs to the network itself",
		list[0][:41]: "no address of Ethereum",
		"wpkh(" + accountKeys("tpub", 0) + "/0/*)": "do not exist on Ethereum",
		accountKeys("vpub", 0):                     "xpub",
	} {
		_, err := wallet.ParseKey(text, p, "")
		var f *fault.Fault
		if !errors.As(err, &f) || !strings.Contains(fmt.Sprint(f.Fields), words) || strings.Contains(fmt.Sprint(f), secret) {
			t.Errorf("%.60q: %v, want %q", text, err, words)
		}
	}
	mainnet, _ := params.Find(money.Ethereum, "mainnet")
	_, err := wallet.ParseKey(list[0]+" "+mainnet.Token.String(), wallet.Ethereum(mainnet), "")
	if err == nil || !strings.Contains(fmt.Sprint(err.(*fault.Fault).Fields), "is the contract of USDT") {
		t.Errorf("the token's contract: %v", err)
	}
	bitcoin, _ := wallet.Find("bitcoin-regtest")
	if _, err := wallet.ParseKey(strings.Join(list[:2], "\n"), bitcoin, ""); err == nil {
		t.Error("bitcoin takes a list")
	}
}

// swapCase spoils the checksum in the case of an address's letters.
func swapCase(address string) string {
	return "0x" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'f' {
			return r - 'a' + 'A'
		} else if r >= 'A' && r <= 'F' {
			return r - 'A' + 'a'
		}
		return r
	}, address[2:])
}

// TestAssignList: payments in ether and USDT get the addresses in their order, each
// once, also of a later list that repeats some; when none is left, they are told.
func TestAssignList(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.Networks = func(_ scope.Domain, c money.Chain) (wallet.Net, bool) { return wallet.Find(sepolia) }
		use := func(list ...string) {
			t.Helper()
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				_, err := f.Use(tx, owner(1), money.Ethereum, strings.Join(list, "\n"), "", "user:1")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		assign := func() (string, error) {
			id := <-f.payments
			f.payments <- id + 1
			p := &models.Payment{ID: id, BusinessID: 1, Domain: string(scope.Test), Network: sepolia,
				Reference: ident.New("PAY_")}
			var place wallet.Place
			err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
				place, err = f.Assign(tx, p, "", f.clock.Now())
				return err
			})
			return place.Address, err
		}
		expect := func(want ...string) {
			t.Helper()
			for _, address := range want {
				if got, err := assign(); err != nil || got != address {
					t.Fatalf("got %s, %v, want %s", got, err, address)
				}
			}
		}
		list := addressList("shop", 5)
		use(list[:3]...)
		expect(list[:3]...)
		for range 2 {
			if _, err := assign(); err == nil || !strings.Contains(err.Error(), "no address left") {
				t.Fatalf("a fourth address of three: %v", err)
			}
		}
		state, found, err := f.Active(t.Context(), owner(1), money.Ethereum)
		if err != nil || !found || state.Left != 0 || state.Gap != 0 ||
			!strings.Contains(state.Advice.String(), "0 addresses of the list are left") {
			t.Errorf("%+v, %v", state, err)
		}
		use(list[1], list[3], list[2], list[4])
		expect(list[3], list[4])
	})
}

// TestListOfAnother: an address that stands in another business's list, or was given
// to a payment of one, is in nobody else's.
func TestListOfAnother(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.Networks = func(_ scope.Domain, c money.Chain) (wallet.Net, bool) { return wallet.Find(sepolia) }
		use := func(business int64, list ...string) error {
			return db.Write(t.Context(), func(tx *models.Tx) error {
				_, err := f.Use(tx, owner(business), money.Ethereum, strings.Join(list, "\n"), "", "user:1")
				return err
			})
		}
		list := addressList("both", 5)
		given := models.Destination{Network: sepolia, Address: list[4], Tag: wallet.NoTag, BusinessID: 1,
			Domain: string(scope.Test), CreatedAt: f.clock.Now()}
		if err := errors.Join(use(1, list[:2]...), db.Exec(t.Context()).Create(&given).Error,
			use(1, list[1], list[0])); err != nil {
			t.Fatal(err)
		}
		for _, mixed := range [][]string{{list[2], list[1]}, {list[2], list[4]}} {
			if err := use(2, mixed...); fault.KindOf(err) != fault.Conflict {
				t.Errorf("another business takes %v: %v", mixed, err)
			}
		}
		if err := errors.Join(use(2, list[2:4]...), use(1, list[0], list[4])); err != nil {
			t.Errorf("a list of new addresses, or of one's own: %v", err)
		}
	})
}
