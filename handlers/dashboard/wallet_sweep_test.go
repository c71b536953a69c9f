package dashboard_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"cointill/chain"
	"cointill/core/collect"
	"cointill/core/money"
	"cointill/core/scope"
	"cointill/core/wallet"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

const (
	etherAt  = "/dashboard/methods/crypto_ethereum/wallet"
	tetherAt = "/dashboard/methods/crypto_tether/wallet"
)

// TestEtherWallet walks through the wallet that ether and USDT share: a list of
// addresses is shown before it is stored, given out in its order, and collected by a
// sheet.
func TestEtherWallet(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		list := []string{"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB"}
		text := strings.Join(list, "\r\n")
		expect(t, b.Get(etherAt), 200, "xpub or tpub", "a list of addresses", "Ether and USDT share this wallet", "m/44'/60'/0'")
		expect(t, b.PostFrom(etherAt, etherAt+"/review", url.Values{"key": {list[0] + "\n" + list[1][:41]}}), 422, "Entry 2 of the list is no address", list[0])
		expect(t, b.PostFrom(etherAt, etherAt+"/review", url.Values{"key": {text}}), 200, "A list of addresses", "3 addresses, the first 0x5aAeb6", list[0], list[1], list[2])
		leads(t, b.PostFrom(etherAt, etherAt, url.Values{"key": {text}, "password": {servertest.Password}}), etherAt)
		expect(t, b.Get(tetherAt), 200, "3 addresses, the first 0x5aAeb6", "3 left for new payments", "What the addresses hold now", tetherAt+`/sweep"`, tetherAt+`/sweep.csv"`)

		var shown []string
		for _, method := range []money.Method{money.CryptoEthereum, money.CryptoTether} {
			v, err := s.Payments.OpenByReference(t.Context(), sc, s.InitiatePayment(sc, servertest.NewRequest(method)).Reference)
			s.FailOn(err)
			shown = append(shown, v.Payment.Address)
		}
		if shown[0] != list[0] || shown[1] != list[1] {
			t.Errorf("payments go to %v", shown)
		}
		expect(t, b.Get(etherAt), 200, "2 addresses", "1 left for new payments", "1 addresses of the list are left")

		expect(t, b.Get(etherAt+"/sweep.csv"), 409, "No node of Ethereum is configured")
		expect(t, b.Get(etherAt+"/sweep"), 409, "No node of Ethereum is configured")
		var fails error
		barred := true
		holder := func(_ context.Context, addresses []string) ([]wallet.Held, money.Amount, error) {
			held := make([]wallet.Held, len(addresses))
			for i, address := range addresses {
				if address == list[1] {
					held[i] = wallet.Held{Token: money.Units(25_000_000), Native: money.Units(1), Barred: barred}
				}
			}
			return held, money.Units(1_000_000_000_000_000), fails
		}
		s.Wallets.Holders = map[scope.Domain]map[money.Chain]wallet.Holder{scope.Test: {money.Ethereum: holder}}
		s.Collecting.Networks[scope.Test] = []collect.Network{{Code: money.Ethereum, Name: "ethereum-sepolia", Native: money.ETH, Token: usdtAt}}
		file := b.Get(etherAt + "/sweep.csv")
		expect(t, file, 200, "Address,Path,Wallet,ETH,USDT", list[1]+",2,", ",0.000000000000000001,25.000000,0.000999999999999999,yes")
		sheet := b.Get(etherAt + "/sweep")
		expect(t, sheet, 200, "What your addresses hold", list[1], "25 USDT", "0.000000000000000001 ETH", "1 address is frozen by Tether", "Frozen by Tether", etherAt+"/sweep.csv")
		lacks(t, sheet, "needs") // ether would not help it
		barred = false
		free := b.Get(etherAt + "/sweep")
		expect(t, free, 200, "1 address needs ether first", "needs 0.000999999999999999 ETH", "Ethereum sepolia")
		lacks(t, free, "sweep?network=")
		lacks(t, free, "rozen")
		if strings.Contains(file.Body+sheet.Body, list[0]) {
			t.Error("an empty address is in the sheet")
		}
		fails = chain.Problem("The node can't be reached.")
		expect(t, b.Get(etherAt+"/sweep.csv"), 503, "can't be looked up now", "The node can't be reached.")
		expect(t, b.Get(etherAt+"/sweep"), 503, "can't be looked up now", "The node can't be reached.")
		leads(t, b.Get(walletAt+"/sweep.csv"), walletAt)
		leads(t, b.Get(walletAt+"/sweep"), walletAt)
	})
}

// TestWorthKnowing (ETH-6, ETH-7): what is unusual about USDT stands beside it, for the
// business whose addresses are barred, and for nobody else; it is paid all the same.
func TestWorthKnowing(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.ConnectNetwork(scope.Test, money.Ethereum, "sepolia")
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.CreateBusiness("Another Shop", "kofi@shop.example")
		b, stranger := s.SignIn(ama), s.SignIn("kofi@shop.example")
		list := "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
		leads(t, b.PostFrom(etherAt, etherAt, url.Values{"key": {list}, "password": {servertest.Password}}), etherAt)
		for range 2 {
			_, err := s.Payments.OpenByReference(t.Context(), sc, s.InitiatePayment(sc, servertest.NewRequest(money.CryptoTether)).Reference)
			s.FailOn(err)
		}
		const methods = "/dashboard/methods"
		lacks(t, b.Get(methods), "Please note")
		cursor := models.ChainCursor{Network: "ethereum-sepolia", Finalized: -1, Note: "The network stalls.", TokenNote: "Tether has paused USDT."}
		s.FailOn(s.DB.Exec(t.Context()).Save(&cursor).Error)
		s.FailOn(s.Networks.Refresh(t.Context()))
		expect(t, b.Get(methods), 200, "Please note", "Tether has paused USDT.", "The network stalls.")
		expect(t, b.Get(etherAt), 200, "The network stalls.")
		lacks(t, b.Get(etherAt), "Tether has paused USDT.")
		bar := func(addresses int) {
			s.FailOn(s.DB.Exec(t.Context()).Exec("UPDATE destinations SET barred_at = ? WHERE id IN (SELECT id FROM destinations WHERE network = ? ORDER BY id LIMIT ?)", s.Clock.Now(), cursor.Network, addresses).Error)
		}
		bar(1)
		expect(t, b.Get(tetherAt), 200, "Tether has frozen one of your addresses, 0x5aAeb", "be sent")
		bar(2)
		expect(t, b.Get(methods), 200, "Tether has frozen 2 of your addresses, the first 0x5aAeb")
		lacks(t, stranger.Get(methods), "frozen")
	})
}
