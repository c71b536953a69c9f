package wallet_test

import (
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/ident"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/models"
	"cointill/models/modelstest"
)

func TestBech32(t *testing.T) {
	t.Parallel()
	raw, _ := hex.DecodeString("751e76e8199196d454941c45d1b3a323f1433bd6") // BIP 173's example
	if got := wallet.Bech32("bc", raw); got != "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" {
		t.Errorf(`wallet.Bech32("bc", raw): got = %v`, got)
	}
}

func TestXAddress(t *testing.T) {
	t.Parallel()
	tag := uint32(12345)
	got, err := wallet.XAddress("rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY", &tag, false) // XLS-5's example
	if err != nil || got != "XV5sbjUmgPpvXv4ixFWZ5ptAYZ6PD28Sq49uo34VyjnmK5H" {
		t.Errorf("got = %v, err = %v", got, err)
	}
	if _, err := wallet.XAddress("nonsense", nil, true); err == nil {
		t.Error("nonsense became an X-address")
	}
}

func TestURI(t *testing.T) {
	t.Parallel()
	tag := uint32(7)
	for want, asked := range map[string]wallet.Asked{
		"bitcoin:bcrt1q?amount=0.00012345&label=Ama%27s%20%26%20Co&message=PAY_1": {Coin: money.BTC, Place: wallet.Place{Address: "bcrt1q"}, Amount: money.Units(12345), Label: "Ama's & Co", Message: "PAY_1"},
		"dogecoin:m1?amount=12.5&label=&message=":                                 {Coin: money.DOGE, Place: wallet.Place{Address: "m1"}, Amount: money.Units(1_250_000_000)},
		"ethereum:0xa@1337?value=2014000000000000000":                             {Coin: money.ETH, Place: wallet.Place{Address: "0xa"}, Amount: money.Units(2_014_000_000_000_000_000), ChainID: 1337},
		"ethereum:0xt@1337/transfer?address=0xa&uint256=25000000":                 {Coin: money.USDT, Place: wallet.Place{Address: "0xa"}, Amount: money.Units(25_000_000), ChainID: 1337, Token: "0xt"},
		"ripple:r1?amount=10.5&dt=7":                                              {Coin: money.XRP, Place: wallet.Place{Address: "r1", Tag: &tag}, Amount: money.Units(10_500_000)},
	} {
		if got := asked.URI(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestAssign: two payments never share a destination; on XRP they share the account and differ in the tag.
func TestAssign(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		service := &wallet.Service{Receivers: wallet.SandboxReceivers()}
		payment := int64(0)
		for _, c := range money.Chains() {
			seen := map[string]bool{}
			for range 50 {
				payment++
				p := &models.Payment{ID: payment, BusinessID: 1, Domain: string(scope.Test), Network: string(chain.Sandbox(c)), Reference: ident.New("PAY_")}
				var place wallet.Place
				err := db.Write(t.Context(), func(tx *models.Tx) (err error) {
					place, err = service.Assign(tx, p, "", time.Unix(1, 0).UTC())
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				key := place.Address
				if c == money.XRPL {
					if place.Tag == nil || *place.Tag == 0 {
						t.Fatalf("tag %v", place.Tag)
					}
					key = fmt.Sprint(place.Address, "/", *place.Tag)
				}
				seen[key] = true
			}
			if len(seen) != 50 {
				t.Errorf("%s: %d places for 50 payments", c, len(seen))
			}
		}
	})
}
