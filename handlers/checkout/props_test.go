package checkout

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"cointill/core/link"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/models"
	"cointill/views/checkout"
	"cointill/views/ui"
	"cointill/views/words"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const minute = time.Minute

// standing is an opened Bitcoin payment of ₦5,000 that asks for 0.0001 BTC, some time after it was initiated.
func standing(state payment.State, reason payment.Reason, paid int64, age time.Duration) payment.View {
	return payment.View{
		Payment: models.Payment{
			Domain: "test", Reference: "PAY_1", Currency: "NGN", Amount: 5000, Coin: "BTC", Due: money.Units(10_000), Paid: money.Units(paid),
			FinalDepth: 3, UnderTolerance: 100, Status: string(state), Reason: string(reason), Address: "tb1qsample", CustomerEmail: "ngozi@example.com",
			ExpiresAt: noon.Add(payment.Window), AbandonsAt: noon.Add(payment.Monitoring), CreatedAt: noon,
		},
		Business: models.Business{Name: "Ama's Shop", TimeZone: "Africa/Lagos", ReceiptsEnabled: true}, Now: noon.Add(age),
	}
}

// after is a payment whose only transfer is gone, for a reason.
func after(reason payment.Reason) payment.View {
	v := standing(payment.Initiated, "", 0, 2*minute)
	v.Transfers = []models.Transfer{{Amount: money.Units(10_000), Gone: true, GoneReason: string(reason)}}
	return v
}

// TestMinedMoney (BTC-3) counts to where the network lets it move, not to the payment's
// depth.
func TestMinedMoney(t *testing.T) {
	v := standing(payment.Processing, "", 10_000, minute)
	height := int64(10)
	v.Payment.Network, v.Chain.Tip = "bitcoin-mainnet", 14
	v.Transfers = []models.Transfer{{Amount: money.Units(10_000), Height: &height, Maturity: 100}}
	if p := statusProps(v, about{asker: asker{tongue: tongue{Lang: "en"}}}); p.Confirmations != 5 || p.Needed != 100 || p.Wait != 950*minute {
		t.Errorf("%d of %d, %s", p.Confirmations, p.Needed, p.Wait)
	}
}

// atOneAddress is a payment that is told apart from others by its amount.
func atOneAddress(v payment.View) payment.View {
	v.Payment.ExactAmount = true
	return v
}

func TestFace(t *testing.T) {
	for name, c := range map[string]struct {
		v       payment.View
		problem string
		want    checkout.View
	}{
		"not opened":                     {standing(payment.Pending, "", 0, 0), "", checkout.Confirm},
		"at the end of the window":       {standing(payment.Pending, "", 0, 7*minute), "", checkout.Confirm},
		"window over before the sweep":   {standing(payment.Pending, "", 0, 7*minute+1), "", checkout.Expired},
		"waiting":                        {standing(payment.Initiated, "", 0, minute), "", checkout.Waiting},
		"window over, nothing came":      {standing(payment.Initiated, "", 0, 8*minute), "", checkout.WindowOver},
		"seen":                           {standing(payment.Initiated, "", 10_000, minute), "", checkout.Seen},
		"seen, within the tolerance":     {standing(payment.Initiated, "", 9_900, minute), "", checkout.Seen},
		"seen after the window":          {standing(payment.Initiated, "", 10_000, 8*minute), "", checkout.Seen},
		"part seen":                      {standing(payment.Initiated, "", 9_899, minute), "", checkout.Partial},
		"part seen at one address":       {atOneAddress(standing(payment.Initiated, "", 9_899, minute)), "", checkout.PartOnly},
		"part confirmed at one address":  {atOneAddress(standing(payment.Processing, "", 6_000, minute)), "", checkout.PartOnly},
		"waiting at one address":         {atOneAddress(standing(payment.Initiated, "", 0, minute)), "", checkout.Waiting},
		"part seen, window over":         {standing(payment.Initiated, "", 9_000, 8*minute), "", checkout.Seen},
		"taken back by a reorganisation": {standing(payment.Initiated, payment.Reorged, 0, minute), "", checkout.Seen},
		"left a node's mempool":          {after(payment.Dropped), "", checkout.Seen},
		"replaced by nothing for us":     {after(payment.Replaced), "", checkout.Waiting},
		"processing":                     {standing(payment.Processing, "", 10_000, minute), "", checkout.Processing},
		"processing, too much":           {standing(payment.Processing, "", 11_000, minute), "", checkout.Processing},
		"part confirmed":                 {standing(payment.Processing, "", 6_000, minute), "", checkout.Partial},
		"part confirmed, window over":    {standing(payment.Processing, "", 6_000, 8*minute), "", checkout.Processing},
		"after abandoned, processing":    {standing(payment.Processing, payment.AfterAbandoned, 10_000, 25*time.Hour), "", checkout.Processing},
		"successful":                     {standing(payment.Successful, "", 10_000, minute), "", checkout.Successful},
		"successful late":                {standing(payment.Successful, payment.Late, 10_000, 9*minute), "", checkout.Successful},
		"accepted by a person":           {standing(payment.Successful, payment.AcceptedByUser, 9_000, minute), "", checkout.Successful},
		"underpaid":                      {standing(payment.Declined, payment.Underpaid, 9_000, minute), "", checkout.Under},
		"overpaid":                       {standing(payment.Declined, payment.Overpaid, 11_000, minute), "", checkout.Over},
		"declined as late":               {standing(payment.Declined, payment.Late, 10_000, 9*minute), "", checkout.Late},
		"declined after abandoned":       {standing(payment.Declined, payment.AfterAbandoned, 10_000, 25*time.Hour), "", checkout.Late},
		"declined without words, less":   {standing(payment.Declined, "", 9_000, minute), "", checkout.Under},
		"declined without words, more":   {standing(payment.Declined, "", 11_000, minute), "", checkout.Over},
		"declined without words, equal":  {standing(payment.Declined, "", 10_000, minute), "", checkout.Late},
		"replaced":                       {standing(payment.Failed, payment.Replaced, 0, minute), "", checkout.Failed},
		"reverted":                       {standing(payment.Failed, payment.Reverted, 0, minute), "", checkout.Failed},
		"dropped":                        {standing(payment.Failed, payment.Dropped, 0, 25*time.Hour), "", checkout.Failed},
		"abandoned":                      {standing(payment.Abandoned, "", 0, 25*time.Hour), "", checkout.Abandoned},
		"abandoned, then seen":           {standing(payment.Abandoned, "", 10_000, 25*time.Hour), "", checkout.Seen},
		"expired":                        {standing(payment.Expired, "", 0, 8*minute), "", checkout.Expired},
		"network ill, not opened":        {standing(payment.Pending, "", 0, 0), "ill", checkout.Unavailable},
		"network ill, waiting":           {standing(payment.Initiated, "", 0, minute), "ill", checkout.Unavailable},
		"network ill, the rest is due":   {standing(payment.Initiated, "", 5_000, minute), "ill", checkout.Unavailable},
		"network ill, all seen":          {standing(payment.Initiated, "", 10_000, minute), "ill", checkout.Seen},
		"network ill, successful":        {standing(payment.Successful, "", 10_000, minute), "ill", checkout.Successful},
	} {
		if got := chooseView(c.v, c.problem); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestEveryFaceRenders: no state and reason lacks words, in any language, and
// only the two faces that ask for money tell where to send it.
func TestEveryFaceRenders(t *testing.T) {
	for _, lang := range words.Languages {
		for _, state := range payment.States() {
			for _, reason := range append(payment.Reasons(), payment.NoReason) {
				for _, paid := range []int64{0, 6_000, 10_000, 11_000} {
					whole := standing(state, reason, paid, minute)
					for _, v := range []payment.View{whole, atOneAddress(whole)} {
						props := pageProps(v, about{asker: asker{tongue: tongue{Lang: lang}, Token: "token"}})
						text, err := renderFragment(context.Background(), props)
						if err != nil || strings.ContainsAny(text, "\r\n") {
							t.Fatalf("%s %s %s: %v", lang, state, reason, err)
						}
						asks := props.View == checkout.Waiting || props.View == checkout.Partial
						if strings.Contains(text, "tb1qsample") != asks {
							t.Errorf("%s shows the address: %t", props.View, !asks)
						}
					}
				}
			}
		}
	}
}

func TestStatusProps(t *testing.T) {
	height := int64(100)
	v := standing(payment.Processing, "", 6_000, minute)
	v.Chain.Tip = 101
	v.Transfers = []models.Transfer{{TxID: "aa", Amount: money.Units(6_000), Height: &height}}
	link := &models.Link{Code: "abc", RedirectURL: "https://shop.example/thanks", Active: true}
	props := statusProps(v, about{asker: asker{tongue: tongue{Lang: "sw", Chosen: true}, Token: "token"}, Link: link})
	for name, pair := range map[string][2]string{
		"fiat": {props.Fiat, "₦5,000.00"}, "asked": {props.Asked, "0.00010000"}, "received": {props.Received, "0.00006000"},
		"due": {props.Due, "0.00004000"}, "difference": {props.Difference + " " + props.DifferenceFiat, "0.00004000 ₦2,000.00"},
		"hash": {props.Hash, "aa"}, "receipt": {props.ReceiptEmail, "n•••@example.com"}, "zone": {props.Deadline.Format("15:04 MST"), "13:07 WAT"},
		"return": {props.ReturnURL, "https://shop.example/thanks?business_reference=&reference=PAY_1"}, "again": {props.AgainURL, "/l/abc?lang=sw"}, "network": {props.Network, "Bitcoin"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %q, want %q", name, pair[0], pair[1])
		}
	}
	if props.Confirmations != 2 || props.Needed != 3 || props.WalletQR.Path == "" || !strings.HasPrefix(props.WalletURI, "bitcoin:tb1qsample?amount=0.00004") {
		t.Errorf("%d of %d, %s", props.Confirmations, props.Needed, props.WalletURI)
	}
	link.Active, v.Business.ReceiptsEnabled = false, false
	if props = statusProps(v, about{Link: link}); props.AgainURL != "" || props.ReceiptEmail != "" {
		t.Error("a link that is off leads on, or a receipt is promised that nobody sends")
	}
}

func TestConfirmations(t *testing.T) {
	at := func(h int64) *int64 { return &h }
	for name, c := range map[string]struct {
		transfers []models.Transfer
		want      int
	}{
		"none": {nil, 0}, "unconfirmed": {[]models.Transfer{{}}, 0}, "one": {[]models.Transfer{{Height: at(101)}}, 1},
		"the slower counts": {[]models.Transfer{{Height: at(99)}, {Height: at(101)}}, 1},
		"gone ones don't":   {[]models.Transfer{{Height: at(100)}, {Gone: true}, {Reverted: true, Height: at(101)}}, 2},
		"up to the needed":  {[]models.Transfer{{Height: at(1)}}, 3},
	} {
		v := standing(payment.Processing, "", 10_000, minute)
		v.Chain.Tip, v.Transfers = 101, c.transfers
		if got := countConfirmations(v); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestWait: the time that the missing confirmations take on average, in words of
// every language; none where blocks don't come by the clock.
func TestWait(t *testing.T) {
	height, said := int64(101), map[string]string{}
	for _, c := range []struct {
		network, lang string
		depth         int
		mined         bool
		want          string
	}{
		{"bitcoin-mainnet", "en", 2, false, "Confirmations: 0 of 2 Expected in about 20 minutes."},
		{"bitcoin-mainnet", "en", 2, true, "Confirmations: 1 of 2 Expected in about 10 minutes."},
		{"bitcoin-mainnet", "en", 6, false, "Expected in about an hour."},
		{"bitcoin-testnet4", "en", 12, false, "Expected in about 2 hours."},
		{"dogecoin-mainnet", "en", 40, false, "Expected in about 40 minutes."},
		{"dogecoin-testnet", "en", 2, true, "Expected in about a minute."},
		{"bitcoin-mainnet", "fr", 3, true, "Confirmations : 1 sur 3 Prévu dans 20 minutes environ."},
		{"dogecoin-mainnet", "sw", 6, true, "Inatarajiwa baada ya dakika 5 hivi."},
		{"dogecoin-mainnet", "ha", 6, true, "Ana sa ran cikin kamar minti 5."},
		{"bitcoin-mainnet", "en", 1, true, ""}, {"sandbox-bitcoin", "en", 2, false, ""}, {"bitcoin-regtest", "en", 2, false, ""},
	} {
		v := standing(payment.Processing, "", 10_000, minute)
		v.Payment.Network, v.Payment.FinalDepth, v.Chain.Tip = c.network, c.depth, 101
		v.Transfers = []models.Transfer{{Amount: money.Units(10_000)}}
		if c.mined {
			v.Transfers[0].Height = &height
		}
		for _, problem := range []string{"", "The node hangs."} {
			props := pageProps(v, about{asker: asker{tongue: tongue{Lang: c.lang}}, Problem: problem})
			text, err := renderFragment(context.Background(), props)
			if err != nil {
				t.Fatal(err)
			}
			plain := strings.Join(strings.Fields(tags.ReplaceAllString(text, " ")), " ")
			if promised := strings.Contains(text, `id="wait"`); promised != (c.want != "" && problem == "") || promised && !strings.Contains(plain, c.want) {
				t.Errorf("%+v %s: %s", c, problem, plain)
			}
			if delayed := strings.Contains(text, `id="delayed"`); delayed != (problem != "") {
				t.Errorf("%+v %s: it is said to be delayed: %v", c, problem, delayed)
			}
			said[c.lang] += plain
		}
	}
	if len(said) != 4 {
		t.Errorf("%d languages", len(said))
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

func TestReceivedDuringReorganisation(t *testing.T) {
	v := standing(payment.Initiated, payment.Reorged, 0, minute)
	v.Transfers = []models.Transfer{{Amount: money.Units(10_000), Gone: true, GoneReason: "reorged"}, {Amount: money.Units(5), Gone: true, GoneReason: "dropped"}, {Amount: money.Units(7), Gone: true, GoneReason: "replaced"}}
	if got := statusProps(v, about{asker: asker{tongue: tongue{Lang: "en"}}}).Received; got != "0.00010005" {
		t.Errorf("got = %v", got)
	}
}

// TestShownTellsWhatChanged: the time that is left changes nothing that a message must bring, all else does.
func TestShownTellsWhatChanged(t *testing.T) {
	customer := about{asker: asker{tongue: tongue{Lang: "en"}}}
	first := standing(payment.Initiated, "", 0, minute)
	shown := pageProps(first, customer).Shown
	later := standing(payment.Initiated, "", 0, 2*minute)
	if got := pageProps(later, customer).Shown; shown == "" || got != shown {
		t.Errorf("a minute later: %q, want %q", got, shown)
	}
	paid, expired := standing(payment.Initiated, "", 5_000, minute), standing(payment.Initiated, "", 0, 30*minute)
	panel := pageProps(first, customer)
	panel.Scenarios = []checkout.Scenario{{Code: "exact"}}
	panel.Shown = identifyShown(panel)
	french, delayed := customer, customer
	french.Lang, delayed.Problem = "fr", "node"
	for name, props := range map[string]checkout.PageProps{"money came": pageProps(paid, customer), "the window ended": pageProps(expired, customer),
		"French": pageProps(first, french), "the network can't be read": pageProps(first, delayed), "a scenario": panel} {
		if props.Shown == shown {
			t.Errorf("%s: shown is %q as before", name, shown)
		}
	}
}

func TestXRP(t *testing.T) {
	v, tag := standing(payment.Initiated, "", 0, minute), int64(4294967295)
	v.Payment.Coin, v.Payment.Tag, v.Payment.Address = "XRP", &tag, "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"
	props := statusProps(v, about{asker: asker{tongue: tongue{Lang: "en"}}})
	if props.Tag != "4294967295" || props.XAddress == "" || !strings.Contains(props.WalletURI, "dt=4294967295") || props.AddressQR.Path == "" {
		t.Errorf("%+v", props)
	}
}

// TestTether: some wallets read a token request as one to pay the contract, so the plain address comes first.
func TestTether(t *testing.T) {
	v := standing(payment.Initiated, "", 0, minute)
	v.Payment.Coin = "USDT"
	v.Payment.Address = "0x52908400098527886E0F7030069857D2E4169EE7"
	text, err := renderFragment(context.Background(), pageProps(v, about{asker: asker{tongue: tongue{Lang: "en"}}}))
	if err != nil {
		t.Fatal(err)
	}
	address, wallet := strings.Index(text, "QR code of the address"), strings.Index(text, "QR code: pay")
	if address < 0 || wallet < 0 || address > wallet {
		t.Errorf("the address at %d, the request at %d", address, wallet)
	}
}

func TestScenarios(t *testing.T) {
	live, unopened, expired := standing(payment.Initiated, "", 0, minute), standing(payment.Pending, "", 0, minute), standing(payment.Pending, "", 0, 8*minute)
	live.Payment.Domain, unopened.Payment.Address, expired.Payment.Address = "live", "", ""
	for name, c := range map[string]struct {
		v    payment.View
		want int
	}{
		"waiting": {standing(payment.Initiated, "", 0, minute), len(sandbox.For(money.BTC))}, "not opened": {unopened, len(sandbox.For(money.BTC))},
		"abandoned": {standing(payment.Abandoned, "", 0, minute), 6},
		"live":      {live, 0}, "expired": {expired, 0}, "declined": {standing(payment.Declined, payment.Overpaid, 20_000, minute), 3},
	} {
		c.v.Payment.Network = "sandbox-bitcoin"
		if got := len(listScenarios("en", c.v)); got != c.want {
			t.Errorf("%s: %d scenarios, want %d", name, got, c.want)
		}
	}
}

func TestLinkProps(t *testing.T) {
	amount := int64(5000)
	public := link.Public{Link: models.Link{Code: "abc", Title: "Yoga", Currency: "GHC", Amount: &amount}, Business: models.Business{Name: "Ama's Shop"},
		Scope: scope.Scope{Domain: scope.Test}, Methods: money.Coins(), State: link.Open}
	props := linkProps(public, tongue{Lang: "fr"}, ui.Form{})
	if props.Fixed != "GH₵5,000.00" || props.Min != "" || len(props.Methods) != 5 || !props.Test || props.State != checkout.LinkOpen || props.Methods[2].Network != "Ethereum (ERC-20)" {
		t.Errorf("%+v", props)
	}
	public.Link.Amount, public.Link.MinAmount, public.Link.MaxAmount = nil, 10, 500
	if props = linkProps(public, tongue{Lang: "fr"}, ui.Form{}); props.Fixed != "" || props.Min != "GH₵10.00" || props.Max != "GH₵500.00" {
		t.Errorf("%+v", props)
	}
	for state, want := range map[string]checkout.LinkState{link.Inactive: checkout.LinkInactive, link.Expired: checkout.LinkExpired, link.UsedUp: checkout.LinkUsedUp} {
		public.State = state
		if got := linkProps(public, tongue{}, ui.Form{}).State; got != want {
			t.Errorf("%s: %s", state, got)
		}
	}
}

func TestLinkForm(t *testing.T) {
	for text, want := range map[string]int64{"500": 500, "": 0, "5.5": 0, "5e3": 0, "ten": 0, "99999999999999999999": 0, "-3": -3} {
		if got := linkForm(map[string]string{"amount": text}).Amount; got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestMasked(t *testing.T) {
	for email, want := range map[string]string{"ngozi@example.com": "n•••@example.com", "n@example.com": "n•••@example.com", "nobody": "", "@x": ""} {
		if got := maskEmail(email); got != want {
			t.Errorf("%q: %q, want %q", email, got, want)
		}
	}
}

func TestPulse(t *testing.T) {
	updates := make(chan struct{}, 1)
	p := newPulse(updates, time.Hour)
	defer p.stopPulse()
	updates <- struct{}{}
	<-p.beats
	p.askBeat()
	<-p.beats
	short := newPulse(make(chan struct{}), -time.Hour) // the window is over: one more look, a second later
	<-short.beats
	short.stopPulse()
	short.stopPulse()
}
