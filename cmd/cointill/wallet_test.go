package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"cointill/core/account"
	"cointill/core/golive"
	"cointill/core/money"
	"cointill/internal/app"
	"cointill/models"
)

// tronAddress is an address of Tron of which only the tests know.
const tronAddress = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"

// tronShop are settings with nodes of Ethereum and Tron that do not answer, and the code of a business.
func tronShop(t *testing.T) (settings *app.Settings, business string) {
	t.Helper()
	t.Setenv("COINTILL_TEST_ETHEREUM_URL", "http://127.0.0.1:1")
	t.Setenv("COINTILL_TEST_ETHEREUM_NETWORK", "sepolia")
	t.Setenv("COINTILL_TEST_ETHEREUM_USDT", "0xdAC17F958D2ee523a2206206994597C13D831ec7")
	t.Setenv("COINTILL_TEST_TRON_URL", "http://127.0.0.1:1")
	t.Setenv("COINTILL_TEST_TRON_NETWORK", "nile")
	t.Setenv("COINTILL_DATA_DIR", t.TempDir())
	_, all, err := parseArguments([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.New(t.Context(), &all.Settings, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := p.Accounts.CreateBusiness(t.Context(), account.NewBusiness{BusinessName: "Till", Name: "Ama",
		Email: "ama@till.example", Password: "a long enough passphrase"})
	if err := errors.Join(err, p.DB.Close()); err != nil {
		t.Fatal(err)
	}
	return &all.Settings, made.Code
}

// TestWalletOfTronIsSet: --network tron sets Tron's wallet with what its page takes, and leaves the one of the method's
// first network as it is.
func TestWalletOfTronIsSet(t *testing.T) {
	settings, business := tronShop(t)
	account := golive.RehearsalKey(money.Ethereum)
	const second, third = "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", "TQTFYb5X7RPFj9onFCcDdsZFJhsB91SEc1"
	for i, c := range []struct{ network, key, home, script, first string }{
		{"", account, "ethereum-sepolia", "ethereum", "0x"},
		{"tron", tronAddress, "tron-nile", "address", tronAddress},
		{"tron", account, "tron-nile", "tron", "T"},
		{"tron", third + "\n" + tronAddress, "tron-nile", "list", third},
		{"ethereum", account, "ethereum-sepolia", "ethereum", "0x"},
	} {
		use := walletUse{Business: business, Domain: "test", Method: "crypto_tether", Network: c.network, Key: c.key}
		use.JSON = true
		var used struct {
			Wallet          int64
			Network, Script string
			Addresses       []string
		}
		said := printed(t, func() error { return use.Run(t.Context(), settings) })
		if err := json.Unmarshal([]byte(said), &used); err != nil {
			t.Fatalf("case %d prints %q: %v", i, said, err)
		}
		if used.Network != c.home || used.Script != c.script || used.Wallet == 0 || len(used.Addresses) == 0 ||
			!strings.HasPrefix(used.Addresses[0], c.first) {
			t.Errorf("case %d: %s, want a wallet of %s with the script %s and the address %s", i, said, c.home, c.script,
				c.first)
		}
	}
	var rows []walletRow
	said := printed(t, func() error { return (walletList{JSON: true}).Run(t.Context(), settings) })
	if err := json.Unmarshal([]byte(said), &rows); err != nil {
		t.Fatal(err)
	}
	var active []string
	for _, row := range rows {
		if row.Active {
			active = append(active, row.Network+" "+row.Script)
		}
	}
	if want := []string{"ethereum-sepolia ethereum", "tron-nile list"}; !reflect.DeepEqual(active, want) {
		t.Errorf("the active wallets are %q, want %q", active, want)
	}

	use := walletUse{Business: business, Domain: "test", Method: "crypto_tether", Network: "tron", Key: tronAddress}
	said = printed(t, func() error { return use.Run(t.Context(), settings) })
	if want := fmt.Sprintf("all go to the address %s on tron-nile", tronAddress); !strings.Contains(said, want) ||
		!strings.Contains(said, "networks: tron.") {
		t.Errorf("the command says %q, want %q and the network", said, want)
	}
	for _, c := range []struct{ method, network, key, words string }{
		{"crypto_tether", "polygon", account, "go to the addresses of ethereum"},
		{"crypto_tether", "bitcoin", account, `has no network "bitcoin", but ethereum, tron, `},
		{"crypto_ethereum", "tron", tronAddress, `has no network "tron"`},
		{"crypto_tether", "tron", second, "belongs to the network itself"},
		{"crypto_tether", "tron", "0x52908400098527886E0F7030069857D2E4169EE7", "no account's public key"},
		{"crypto_tether", "", tronAddress, "no account's public key"},
	} {
		use := walletUse{Business: business, Domain: "test", Method: c.method, Network: c.network, Key: c.key}
		if err := use.Run(t.Context(), settings); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s on %q with %q: %v, want %q", c.method, c.network, c.key, err, c.words)
		}
	}
}

// TestProvedKeysAreListed: the list of wallets says when the key of one address was proved.
func TestProvedKeysAreListed(t *testing.T) {
	settings, business := tronShop(t)
	use := walletUse{Business: business, Domain: "test", Method: "crypto_tether", Network: "tron", Key: tronAddress}
	printed(t, func() error { return use.Run(t.Context(), settings) })
	listed := func() (text string, rows []walletRow) {
		text = printed(t, func() error { return (walletList{}).Run(t.Context(), settings) })
		said := printed(t, func() error { return (walletList{JSON: true}).Run(t.Context(), settings) })
		if err := json.Unmarshal([]byte(said), &rows); err != nil || len(rows) != 1 {
			t.Fatalf("the command lists %s, %v; want one wallet", said, err)
		}
		return text, rows
	}
	if text, rows := listed(); strings.Contains(text, "proved") || rows[0].ProvedAt != nil {
		t.Errorf("before a proof the list says %q and %v, want nothing of one", text, rows[0].ProvedAt)
	}
	_, db, err := settings.OpenAccounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC)
	err = db.Exec(t.Context()).Model(&models.Wallet{}).Where("active").UpdateColumn("proved_at", at).Error
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	text, rows := listed()
	if !strings.Contains(text, "active, key proved on 2026-03-01") || rows[0].ProvedAt == nil || !rows[0].ProvedAt.Equal(at) {
		t.Errorf("after a proof the list says %q and %v, want %s", text, rows[0].ProvedAt, at)
	}
}
