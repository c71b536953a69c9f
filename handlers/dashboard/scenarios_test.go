package dashboard_test

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/sandbox"
	"cointill/core/send"
	"cointill/internal/testing/servertest"
)

// setFrench has a signed-in member read the dashboard in French.
func setFrench(t *testing.T, b *servertest.Browser) {
	t.Helper()
	leads(t, b.PostFrom("/dashboard/account", "/dashboard/account/language", url.Values{"language": {"fr"}}), "/dashboard/account")
}

// expectFrench fails if a page says one of the sandbox's English sentences.
func expectFrench(t *testing.T, a servertest.Answer) {
	t.Helper()
	english := slices.Collect(maps.Values(sandbox.Explanations()))
	for _, s := range sandbox.Scenarios() {
		english = append(english, s.Label)
	}
	for _, s := range sandbox.SendScenarios() {
		english = append(english, s.Label, s.Explanation)
	}
	for _, sentence := range append(english, "The payment", "confirmations, in about") {
		if strings.Contains(a.VisibleText(), sentence) {
			t.Errorf("a French page says %q", sentence)
		}
	}
}

// TestScenariosInFrench: a French member reads the sandbox's scenarios in French on a payment's page, in the notice after
// one was played, and in every later phase of the payment.
func TestScenariosInFrench(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, n := s.SignIn(ama), followBitcoin(s)
		setFrench(t, b)
		at := "/dashboard/payments/" + s.InitiatePayment(sc, servertest.NewRequest(money.CryptoBitcoin)).Reference
		play := func(scenario string, texts ...string) {
			t.Helper()
			leads(t, b.PostFrom(at, at+"/simulate", url.Values{"scenario": {scenario}}), at)
			shown := b.Get(at)
			expect(t, shown, 200, texts...)
			expectFrench(t, shown)
		}
		shown := b.Get(at)
		expect(t, shown, 200, `<option value="exact">Montant exact`, "Double dépense",
			"Le client paie ce qui est encore dû : le paiement devient réussi à sa confirmation définitive.",
			"un bloc ultérieur le confirme définitivement : il est réussi à la fin.")
		expectFrench(t, shown)
		play("exact", "Le paiement est en cours à la première confirmation, puis réussi après 2 confirmations, dans environ 12 s.")
		n.pass(time.Minute)
		shown = b.Get(at)
		expect(t, shown, 200, "Le montant exact est payé après la fin : le paiement reste tel quel",
			"Une réorganisation reprend l'argent, bien qu'il soit définitif")
		expectFrench(t, shown)
		play("exact", "L'état du paiement reste « Réussi » ; l'argent figure dans Non rapprochés")
		play("reorg", "Jouez de nouveau ce scénario pour remettre l'argent dans la chaîne.")
		expect(t, b.PostFrom(at, at+"/simulate", url.Values{"scenario": {"late"}}), 409, "Le statut de ce paiement est déjà « réussi » : seul de l'argent")
	})
}

// TestSignScenariosInFrench: a French member reads in French how the sandbox's wallet can sign a send, and what it did.
func TestSignScenariosInFrench(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, n := s.SignIn(ama), followBitcoin(s)
		setFrench(t, b)
		page := n.payPayment(b, sc)
		asked, err := s.Sends.Ask(t.Context(), sc, send.Request{Kind: send.Refund,
			Payment: strings.TrimPrefix(page, "/dashboard/payments/"), Address: "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"})
		s.FailOn(err)
		_, err = s.Sandbox.ApproveSend(t.Context(), sc, asked.Send.Reference)
		s.FailOn(err)
		at := "/dashboard/sends/" + asked.Send.Reference
		shown := b.Get(at)
		expect(t, shown, 200, `<option value="exact">Exactement comme approuvé`, "Payé deux fois",
			"Le portefeuille signe et envoie la transaction : l'envoi devient réussi à sa confirmation définitive.")
		expectFrench(t, shown)
		leads(t, b.PostFrom(at, at+"/simulate", url.Values{"scenario": {"wrong_amount"}}), at)
		shown = b.Get(at)
		expect(t, shown, 200, "Le portefeuille envoie 1 % de moins que le montant approuvé")
		expectFrench(t, shown)
	})
}

// TestQuotedScenario: pages quote the label of the scenario that the payment's page has in the reader's language, and the
// checklist leads to that page in it.
func TestQuotedScenario(t *testing.T) {
	payPage := regexp.MustCompile(`href="[^"]*/pay/[\w-]+\?lang=(\w+)"`)
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		leads(t, b.PostFrom(goingLiveAt, goingLiveAt+"/payment", url.Values{"method": {"crypto_ripple"}, "currency": {"KES"}}),
			goingLiveAt+"#step-payment")
		for _, lang := range []string{"en", "fr"} {
			quoted := "“Exact amount”"
			if lang == "fr" {
				quoted = "«\u00a0Montant exact\u00a0»"
				setFrench(t, b)
			}
			shown := b.Get(goingLiveAt)
			found := payPage.FindStringSubmatch(shown.Body)
			if found == nil || found[1] != lang || !strings.Contains(shown.Body, quoted) {
				t.Fatalf("%s: the checklist leads to %v, and should quote %s: %.2000s", lang, found, quoted, shown.VisibleText())
			}
			if shown := b.Get("/dashboard/quickstart"); !strings.Contains(shown.Body, quoted) {
				t.Errorf("%s: the quickstart lacks %s: %.2000s", lang, quoted, shown.VisibleText())
			}
		}
	})
}
