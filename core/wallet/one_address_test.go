package wallet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cointill/core/fault"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/core/wallet/oneaddress"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestParseOneAddress: a plain address is taken as it is checked elsewhere, and refused with the reason otherwise.
func TestParseOneAddress(t *testing.T) {
	t.Parallel()
	p, _ := wallet.Find("ethereum-mainnet")
	address := addressList("one", 1)[0]
	for _, text := range []string{address, strings.ToLower(address), " " + address + "\n"} {
		key, err := wallet.ParseKey(text, p, "")
		if err != nil || key.String() != address || key.Script() != wallet.ScriptAddress {
			t.Fatalf("ParseKey(%q) = %v, %v; want %s as one address", text, key, err, address)
		}
		again, err := wallet.ParseKey(key.String(), p, key.Script())
		if err != nil || again.Fingerprint() != key.Fingerprint() || key.Fingerprint() == "" {
			t.Errorf("it is read back as %v, %v", again, err)
		}
	}
	usdtOnBSC, _ := money.FindEVMNetwork(money.BSC, money.MainNetwork)
	for text, words := range map[string]string{
		swapCase(address):               "a character may be missing or mistyped",
		address[:41]:                    "a character may be missing or mistyped",
		"0x" + strings.Repeat("0", 40):  "belongs to the network itself",
		"0x" + strings.Repeat("ab", 32): "private key",
		p.Address(p.Script("0xdAC17F958D2ee523a2206206994597C13D831ec7")): "is the contract of USDT",
		usdtOnBSC.Token.Contract:                  "is the contract of a token",
		usdtOnBSC.Others[0].Contract:              "is the contract of a token",
		address + "\n" + usdtOnBSC.Token.Contract: "Entry 2 of the list is the contract of a token",
	} {
		_, err := wallet.ParseKey(text, p, "")
		var f *fault.Fault
		if !errors.As(err, &f) || !strings.Contains(fmt.Sprint(f.Fields), words) {
			t.Errorf("ParseKey(%s): %v, want %q", text, err, words)
		}
	}
	tron, _ := wallet.Find("tron-mainnet")
	const base58, hexadecimal = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "415cbdd86a2fa8dc4bddd8a8f69dba48572eec07fb"
	for _, text := range []string{base58, hexadecimal, strings.ToUpper(hexadecimal)} {
		if key, err := wallet.ParseKey(text, tron, ""); err != nil || key.String() != base58 {
			t.Errorf("ParseKey(%s) on Tron = %v, %v; want %s as one address", text, key, err, base58)
		}
	}
	_, err := wallet.ParseKey(hexadecimal[:41], tron, "")
	var f *fault.Fault
	if !errors.As(err, &f) || !strings.Contains(fmt.Sprint(f.Fields), "a character may be missing or mistyped") {
		t.Errorf("ParseKey(%s) on Tron: %v, want it refused as an address with a character missing", hexadecimal[:41], err)
	}
}

// useOne enters one key, address or list for a business.
func (f *fixture) useOne(sc scope.Scope, key string) (w models.Wallet, err error) {
	f.t.Helper()
	err = f.db.Write(f.t.Context(), func(tx *models.Tx) (err error) {
		w, err = f.Use(tx, sc, money.Ethereum, key, "", "user:1")
		return err
	})
	return w, err
}

// TestOneAddressIsOneBusinesss (ETH-18): an address serves one business and domain, and none that something else
// happens at.
func TestOneAddressIsOneBusinesss(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.Networks = func(scope.Domain, money.Chain) (wallet.Net, bool) { return wallet.Find(sepolia) }
		list := addressList("shop", 6)
		if _, err := f.useOne(owner(1), strings.Join(list[1:3], "\n")); err != nil {
			t.Fatal(err)
		}
		given := f.assignOn(sepolia, 1, money.USDT)
		if given.Address != list[1] || given.Amount != nil {
			t.Fatalf("the list gives %+v, want its first address and no amount", given)
		}
		refund := models.Send{BusinessID: 1, Domain: string(scope.Test), Reference: ident.New("SND_"), Address: list[3]}
		if err := db.Exec(t.Context()).Create(&refund).Error; err != nil {
			t.Fatal(err)
		}
		w, err := f.useOne(owner(1), list[0])
		if err != nil || w.Networks != "ethereum" || !w.Active {
			t.Fatalf("one address is used as %+v, %v; want it for ethereum", w, err)
		}
		other := owner(1)
		other.Domain = scope.Live
		for _, c := range []struct {
			name, key string
			by        scope.Scope
			kind      fault.Kind
		}{
			{"another business", list[0], owner(2), fault.Conflict},
			{"another business in a list", list[0] + " " + list[4], owner(2), fault.Conflict},
			{"the other domain", list[0], other, fault.Conflict},
			{"an address of another's list", list[2], owner(2), fault.Conflict},
			{"an address that a payment was given", list[1], owner(1), fault.Invalid},
			{"an address that a refund goes to", list[3], owner(1), fault.Invalid},
		} {
			if _, err := f.useOne(c.by, c.key); fault.KindOf(err) != c.kind {
				t.Errorf("%s: %v, want %v", c.name, err, c.kind)
			}
		}
		again, err := f.useOne(owner(1), strings.ToLower(list[0]))
		if err != nil || again.ID != w.ID {
			t.Errorf("entered again it is %+v, %v; want the same wallet", again, err)
		}
		first, second := f.assignOn(sepolia, 1, money.USDT), f.assignOn(sepolia, 1, money.USDT)
		if first.Address != list[0] || second.Address != list[0] || first.Amount.Cmp(*second.Amount) == 0 {
			t.Errorf("payments get %+v and %+v, want the address and two amounts", first, second)
		}
		if _, err := f.useOne(owner(1), list[0]+" "+list[5]); err != nil {
			t.Fatal(err)
		}
		if next := f.assignOn(sepolia, 1, money.USDT); next.Address != list[5] {
			t.Errorf("a later list gives %s, want %s: the one address is never a payment's own", next.Address, list[5])
		}
	})
}

// assignOn gives a new payment of 20 USDT, or as much ether, its destination.
func (f *fixture) assignOn(network string, business int64, coin money.Coin) (place wallet.Place) {
	f.t.Helper()
	id := <-f.payments
	f.payments <- id + 1
	p := &models.Payment{ID: id, BusinessID: business, Domain: string(scope.Test), Network: network, Coin: string(coin),
		Reference: ident.New("PAY_"), BusinessReference: ident.New("REF_"), TokenHash: ident.New(""), Amount: 20,
		Currency: "USD", Due: money.Units(20_000_000)}
	err := f.db.Write(f.t.Context(), func(tx *models.Tx) (err error) {
		if err := tx.Create(p).Error; err != nil {
			return err
		}
		place, err = f.Assign(tx, p, "", f.clock.Now())
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return place
}

// TestAmountsAfterARestore: in a restored database amounts begin further up, as those that were held since the
// backup are unknown there.
func TestAmountsAfterARestore(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		f.Networks = func(scope.Domain, money.Chain) (wallet.Net, bool) { return wallet.Find(sepolia) }
		if err := db.Continue(t.Context(), 200); err != nil {
			t.Fatal(err)
		}
		if _, err := f.useOne(owner(1), addressList("restored", 1)[0]); err != nil {
			t.Fatal(err)
		}
		want := oneaddress.ListAmounts(money.USDT, money.Units(20_000_000))[200]
		if got := f.assignOn(sepolia, 1, money.USDT); got.Amount.Cmp(want) != 0 {
			t.Errorf("the first amount is %s, want %s: 200 may have been held", got.Amount, want)
		}
	})
}
