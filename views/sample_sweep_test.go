package views_test

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"cointill/views/dashboard"
	"cointill/views/ui"
)

// sweepPage is a sheet with addresses that need ether first, one that is barred, and
// some of a former wallet.
func sweepPage() dashboard.SweepProps {
	return dashboard.SweepProps{Page: shell("What the addresses hold", "methods"), Code: "crypto_tether", Business: "Sunbird Coffee", BusinessCode: "BUS_4F7K2M9QX1", Network: "Ethereum", NetworkCode: "ethereum", NativeCoin: "ETH", Collect: true,
		Networks: []dashboard.SweepNetwork{{Code: "ethereum", Label: "Ethereum", Chosen: true}, {Code: "bsc", Label: "BNB Smart Chain"}, {Code: "arbitrum", Label: "Arbitrum One"}},
		Token:    "1342.75 USDT", Native: "0.4203 ETH", Addresses: "5 addresses", Lack: "1 address needs ether first", Missing: "0.000952 ETH",
		Barred: "1 address is frozen by Tether: its USDT can't be sent.", Several: true, More: "1,204 addresses more are in the table (CSV) only.",
		Printed: now, Zone: "Africa/Lagos", Rows: []dashboard.SweepRow{
			{Address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", Path: "0/12", Wallet: "xpub6CK…9tWqKp", Token: "250 USDT", Missing: "0.000952 ETH"},
			{Address: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", Path: "0/14", Wallet: "xpub6CK…9tWqKp", Token: "1000 USDT", Native: "0.0203 ETH"},
			{Address: "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", Path: "0/15", Wallet: "xpub6CK…9tWqKp", Native: "0.4 ETH"},
			{Address: "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb", Path: "0/31", Wallet: "xpub6CK…9tWqKp", Token: "92.75 USDT", Barred: true},
			{Address: "0x52908400098527886E0F7030069857D2E4169EE7", Path: "3", Wallet: "1000 addresses, the first 0x5aAeb6…BeAed", Native: "0.000000000000000001 ETH"}}}
}

func sweepPages() map[string]templ.Component {
	empty := sweepPage()
	empty.Rows, empty.More, empty.Lack, empty.Barred = nil, "", "", ""
	live := sweepPage()
	live.Domain, live.Several, live.Barred, live.More = "live", false, "", ""
	return map[string]templ.Component{"wallet-sweep": dashboard.Sweep(sweepPage()), "wallet-sweep-empty": dashboard.Sweep(empty), "wallet-sweep-live": dashboard.Sweep(live)}
}

// collectPage is a plan with every step, warning and kind of money that stays.
func collectPage() dashboard.CollectProps {
	return dashboard.CollectProps{Page: shell("Collect to one address", "methods"), Code: "crypto_tether",
		Form:     ui.Form{Values: map[string]string{"network": "ethereum", "address": "0x2444374e5963746b7AC424F7C0EF1f6030F32507", "gas": "0x8617E340B3D01FA5F11F306F4090FD50E238070D", "safe": "true"}},
		Networks: sweepPage().Networks,
		Plan: &dashboard.CollectPlan{Network: "Ethereum", Destination: "0x2444374e5963746b7AC424F7C0EF1f6030F32507", GasPayer: "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
			Count: "5 transactions", Arrives: "1250 USDT and 0.41958 ETH", Value: "$2,508.74", Fees: "0.00432 ETH ($12.96)",
			Steps: []dashboard.CollectStep{
				{Title: "Gas", Text: "Use one of the two files: the second is for a Safe. Wait until all are confirmed before the next step.", Files: []string{"1-gas.json", "1-gas-safe.json"}, Count: "1 transaction", Amount: "0.0013 ETH", Value: "$3.90", Fee: "0.00042 ETH"},
				{Title: "USDT", Text: "Each is signed with the key of its path, and moves all USDT of its address.", Files: []string{"2-usdt.json"}, Count: "2 transactions", Amount: "1250 USDT", Value: "$1,250.00", Fee: "0.0026 ETH"},
				{Title: "ETH", Text: "Each is signed with the key of its path, and moves what its address doesn’t need for fees.", Files: []string{"3-eth.json"}, Count: "2 transactions", Amount: "0.41958 ETH", Value: "$1,258.74", Fee: "0.00084 ETH"}},
			Warnings: []string{"The destination is a contract on Ethereum, such as a Safe. Make sure that it is yours on this network: a Safe’s address on one network may be nobody’s on another.", "The address that pays for gas has 0.001 ETH. Add 0.00072 ETH before you send the first step."},
			Notes:    []string{"Fees are the most that the network can take, at twice the price of gas in the last block. What isn’t used stays at the address that paid.", "12 more addresses hold money. Collect again when these transactions are confirmed: one plan is for 500 addresses."},
			LeftText: "2 amounts stay: 93 USDT.", LeftMore: "3 more are only in README.txt.",
			Left: []dashboard.CollectLeft{{Address: "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb", Path: "0/31", Amount: "92.75 USDT", Value: "$92.75", Why: "Frozen by Tether"},
				{Address: "0x52908400098527886E0F7030069857D2E4169EE7", Path: "0/32", Amount: "0.25 USDT", Value: "$0.25", Cost: "0.00172 ETH ($5.16)", Why: "Moving it costs more than it is worth"}}}}
}

func collectPages() map[string]templ.Component {
	refused := collectPage()
	refused.Plan, refused.Errors = nil, map[string][]string{"address": {"Is one of your own addresses: payments come to it."}}
	nothing := collectPage()
	nothing.Plan = &dashboard.CollectPlan{Network: "Ethereum", Destination: refused.Value("address")}
	return map[string]templ.Component{"wallet-collect": dashboard.Collect(collectPage()), "wallet-collect-refused": dashboard.Collect(refused), "wallet-collect-nothing": dashboard.Collect(nothing)}
}

// TestSweepSheet: a sheet says which addresses need ether first, and how much, and
// one without any doesn't speak of sums.
func TestSweepSheet(t *testing.T) {
	html := render(t, dashboard.Sweep(sweepPage()))
	for _, want := range []string{"1 address needs ether first", "needs 0.000952 ETH", "Frozen by Tether", "data-print", "/dashboard/methods/crypto_tether/wallet/sweep.csv", "TEST DATA", "/dashboard/methods/crypto_tether/wallet/sweep?network=bsc"} {
		if !strings.Contains(html, want) {
			t.Errorf("the sheet lacks %q", want)
		}
	}
	empty := sweepPage()
	empty.Rows = nil
	if html := render(t, dashboard.Sweep(empty)); strings.Contains(html, "<table") || !strings.Contains(html, "holds anything on Ethereum now") {
		t.Error("a sheet without addresses doesn't say so")
	}
}
