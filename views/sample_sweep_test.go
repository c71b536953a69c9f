package views_test

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
)

// sweepPage is a sheet with addresses that need ether first, one that is barred, and
// some of a former wallet.
func sweepPage() dashboard.SweepProps {
	return dashboard.SweepProps{Page: shell("What the addresses hold", "methods"), Code: "crypto_tether", Business: "Sunbird Coffee", BusinessCode: "BUS_4F7K2M9QX1", Network: "Ethereum",
		Token: "1342.75 USDT", Ether: "0.4203 ETH", Addresses: "5 addresses", Lack: "1 address needs ether first", Missing: "0.000952 ETH",
		Barred: "1 address is frozen by Tether: its USDT can't be sent.", Several: true, More: "1,204 addresses more are in the table (CSV) only.",
		Printed: now, Zone: "Africa/Lagos", Rows: []dashboard.SweepRow{
			{Address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", Path: "0/12", Wallet: "xpub6CK…9tWqKp", Token: "250 USDT", Missing: "0.000952 ETH"},
			{Address: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", Path: "0/14", Wallet: "xpub6CK…9tWqKp", Token: "1000 USDT", Ether: "0.0203 ETH"},
			{Address: "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", Path: "0/15", Wallet: "xpub6CK…9tWqKp", Ether: "0.4 ETH"},
			{Address: "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb", Path: "0/31", Wallet: "xpub6CK…9tWqKp", Token: "92.75 USDT", Barred: true},
			{Address: "0x52908400098527886E0F7030069857D2E4169EE7", Path: "3", Wallet: "1000 addresses, the first 0x5aAeb6…BeAed", Ether: "0.000000000000000001 ETH"}}}
}

func sweepPages() map[string]templ.Component {
	empty := sweepPage()
	empty.Rows, empty.More, empty.Lack, empty.Barred = nil, "", "", ""
	live := sweepPage()
	live.Domain, live.Several, live.Barred, live.More = "live", false, "", ""
	return map[string]templ.Component{"wallet-sweep": dashboard.Sweep(sweepPage()), "wallet-sweep-empty": dashboard.Sweep(empty), "wallet-sweep-live": dashboard.Sweep(live)}
}

// TestSweepSheet: a sheet says which addresses need ether first, and how much, and
// one without any doesn't speak of sums.
func TestSweepSheet(t *testing.T) {
	html := render(t, dashboard.Sweep(sweepPage()))
	for _, want := range []string{"1 address needs ether first", "needs 0.000952 ETH", "Frozen by Tether", "data-print", "/dashboard/methods/crypto_tether/wallet/sweep.csv", "TEST DATA"} {
		if !strings.Contains(html, want) {
			t.Errorf("the sheet lacks %q", want)
		}
	}
	empty := sweepPage()
	empty.Rows = nil
	if html := render(t, dashboard.Sweep(empty)); strings.Contains(html, "<table") || !strings.Contains(html, "holds anything now") {
		t.Error("a sheet without addresses doesn't say so")
	}
}
