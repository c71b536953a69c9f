package e2e

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/e2e/browser"
	"cointill/e2e/evm"
	"cointill/e2e/harness"
)

// walletAddress is an address as MetaMask and Trust Wallet show it; no key of it is known here.
const walletAddress = "0x8ba1f109551bD432803012645Ac136ddd64DBA72"

// tokenLink finds the contract, the receiver and the amount in a link that opens a wallet, by EIP-681.
var tokenLink = regexp.MustCompile(`ethereum:(0x[0-9A-Fa-f]{40})@31339/transfer\?address=(0x[0-9A-Fa-f]{40})&uint256=([0-9]+)`)

// TestFirstUSDT takes USDT on BNB Smart Chain, whose token has 18 decimals, as a merchant would who has nothing but a
// wallet on the phone: sign up, enter its address, switch the network on, charge at the till. It prints how long that
// takes by the keystroke-level model, and fails where the person needs three minutes without the waiting.
func TestFirstUSDT(t *testing.T) {
	t.Parallel()
	if *tasksBefore {
		t.Log("from sign-up to USDT: – (the release before the till couldn't do it)")
		return
	}
	i, bsc, contract := newTillOnBSC(t)
	page := browser.StartShared(t).OpenTab(t, browser.Desktop)
	p := &person{page: page}
	signUp(p, i)

	p.followLink("main a[href='/dashboard/methods']")
	page.CheckPage()
	page.TakeShot("first-usdt-methods")
	p.compareShown()
	p.clickElement("#switch-crypto_tether-bsc")
	p.awaitExpression(`document.querySelector("#switch-crypto_tether-bsc").getAttribute("aria-checked") === "true"`)
	p.followLink("main a[href='/dashboard/methods/crypto_tether/wallet']")
	page.TakeShot("first-usdt-wallet")
	p.compareShown()
	p.clickElement("[name=key]")
	p.countKeys("^v")
	page.PasteText("[name=key]", walletAddress)
	p.followLink("main form[action$='/review'] button[type=submit]")
	page.CheckPage()
	page.TakeShot("first-usdt-review")
	p.compareShown()
	p.fillField("input[name=password]", harness.Password)
	p.submitKeys("")
	page.TakeShot("first-usdt-wallet-set")
	if text := page.ReadText("main"); !strings.Contains(text, walletAddress) || !strings.Contains(text, "BNB Smart Chain") {
		t.Fatalf("the wallet's page says %q, want the address and BNB Smart Chain", text)
	}

	p.followLink(".side nav a[href='/dashboard']")
	p.followLink("main a[href='/dashboard/till']")
	page.CheckPage()
	page.TakeShot("first-usdt-till")
	p.typeKeys("25")
	p.chooseOption("select[name=currency]", "USD")
	p.clickElement("input[value=crypto_tether]")
	p.clickElement("input[name=network_crypto_tether][value=bsc]")
	p.followLink("[data-till-form] button[type=submit]")
	page.TakeShot("first-usdt-code")
	at := page.CurrentAddress()
	reference := at[strings.LastIndex(at, "/")+1:]

	customer := browser.StartShared(t).OpenTab(t, browser.Phone)
	customer.Open(page.ReadAttribute("main a[target=_blank]", "href"))
	customer.WaitForElement("a[href*='@31339/transfer']")
	customer.CheckPage()
	customer.TakeShot("first-usdt-pay")
	link := tokenLink.FindStringSubmatch(customer.ReadAttribute("a[href*='@31339/transfer']", "href"))
	if link == nil || !strings.EqualFold(link[1], contract) || link[2] != walletAddress {
		t.Fatalf("the link to a wallet is %q, want one to %s for %s", link, contract, walletAddress)
	}
	amount, _ := new(big.Int).SetString(link[3], 10)
	step := new(big.Int).Exp(big.NewInt(10), big.NewInt(12), nil) // what the token has beyond the 6 decimals of USDT
	if new(big.Int).Mod(amount, step).Sign() != 0 {
		t.Errorf("the wallet is asked for %s of the smallest unit, want a multiple of %s", amount, step)
	}
	bsc.SendTransaction(evm.Tx{To: contract,
		Data: evm.EncodeCall("Tether", "transfer(address,uint256)", walletAddress, amount)})
	bsc.Mine(50)
	p.awaitExpression(`document.querySelector("[data-till-face=paid]") !== null`)
	page.CheckPage()
	page.TakeShot("first-usdt-paid")
	page.Open(i.Base + "/dashboard/payments/" + reference)
	page.CheckPage()
	page.TakeShot("first-usdt-payment")
	if text := page.ReadText("main"); !strings.Contains(text, "Successful") || !strings.Contains(text, "BNB Smart Chain") {
		t.Errorf("the payment's page says %q, want Successful on BNB Smart Chain", text)
	}
	took := p.acting + p.waiting
	t.Logf("from sign-up to USDT: %d clicks, %d keys, %.0f s, of which the pages took %.1f", p.clicks, p.keys, took.Seconds(),
		p.waiting.Seconds())
	if p.acting > 3*time.Minute {
		t.Errorf("a merchant needs %s from sign-up to USDT without waiting, want at most 3 minutes", p.acting)
	}
}

// newTillOnBSC starts an instance without a business, on two nodes; one stands for BNB Smart Chain, with a token of 18
// decimals.
func newTillOnBSC(t *testing.T) (i *harness.Instance, bsc *evm.Node, contract string) {
	t.Helper()
	ether := evm.StartAnvil(t)
	bsc = evm.StartAnvilAs(t, 31339)
	contract = bsc.DeployContract("Pegged")
	i = newTaskInstance(t)
	i.SetSetting("TEST_ETHEREUM_URL", "http://"+ether.HTTP)
	i.SetSetting("TEST_ETHEREUM_NETWORK", "chain-31337")
	i.SetSetting("TEST_ETHEREUM_USDT", ether.DeployContract("Tether"))
	i.SetSetting("TEST_BSC_URL", "http://"+bsc.HTTP)
	i.SetSetting("TEST_BSC_NETWORK", "chain-31339")
	i.SetSetting("TEST_BSC_USDT", contract)
	i.Start()
	return i, bsc, contract
}

// signUp makes a business and its owner.
func signUp(p *person, i *harness.Instance) {
	p.page.Open(i.Base + "/")
	p.fillField("input[name=business_name]", "Ama's Shop")
	p.typeKeys("\tAma Mensah\t" + harness.Email + "\t" + harness.Password)
	p.submitKeys("")
}
