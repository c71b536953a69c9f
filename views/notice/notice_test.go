package notice_test

import (
	"strings"
	"testing"

	"cointill/core/networks"
	"cointill/core/notification"
	"cointill/core/notification/push"
	"cointill/core/payment"
	"cointill/views/notice"
	"cointill/views/words"
)

// TestReasonsAreInWords: every reason of a payment, and every one that a transfer credits no payment for, has words in
// both languages, and no code stands in a text.
func TestReasonsAreInWords(t *testing.T) {
	reasons := map[notification.Kind][]string{
		notification.Declined: {string(payment.Underpaid), string(payment.Overpaid), string(payment.Late),
			string(payment.AfterAbandoned), string(payment.Replaced), string(payment.Reverted), string(payment.Dropped),
			string(payment.Reorged), string(payment.ReversedReason), string(payment.AcceptedByUser)},
		notification.Unmatched: {payment.WrongAsset, payment.NetworkOff, payment.AddressNotEntered, payment.OtherAmount, payment.MissingTag,
			payment.UnknownTag, payment.UnknownPayment, payment.NotPayment, payment.NoTransaction, payment.Unproved,
			payment.Surplus, payment.AfterFinal},
	}
	french := words.WithLanguage(t.Context(), "fr")
	for kind, codes := range reasons {
		for _, code := range codes {
			n := notification.Notification{Kind: kind, Times: 2, Detail: notification.Detail{Reason: code}}
			inEnglish, inFrench := notice.Text(t.Context(), n), notice.Text(french, n)
			plain := strings.ReplaceAll(code, "_", " ")
			if inEnglish == "" || inFrench == "" || inFrench == inEnglish || inFrench == plain ||
				strings.Contains(inFrench, "_") {
				t.Errorf("the reason %s is %q in English and %q in French", code, inEnglish, inFrench)
			}
		}
	}
	for want, n := range map[string]notification.Notification{
		"payé en partie · 8.00 XRP": {Kind: notification.Declined,
			Detail: notification.Detail{Amount: "8.00 XRP", Reason: string(payment.Underpaid)}},
		"3.00 XRP · Pas de tag de destination": {Kind: notification.Unmatched, Times: 1,
			Detail: notification.Detail{Amount: "3.00 XRP", Reason: payment.MissingTag}},
	} {
		if got := notice.Text(french, n); got != want {
			t.Errorf("a notification of %s in French is %q, want %q", n.Kind, got, want)
		}
	}
}

// TestTroubleIsInWords: a coin that can't be paid says why in the reader's language, also where an earlier release
// noted no code. In English it is the sentence with what the code leaves out.
func TestTroubleIsInWords(t *testing.T) {
	french := words.WithLanguage(t.Context(), "fr")
	for code, want := range map[networks.TroubleCode]string{networks.CatchingUp: "rattrape son retard",
		networks.NodesFail: "Les nœuds du réseau", "": "Les nœuds du réseau"} {
		n := notification.Notification{Kind: notification.CoinUnavailable, Subject: "bitcoin",
			Detail: notification.Detail{Text: "Node 1 of 2 is silent.", Reason: string(code)}}
		if got := notice.Text(french, n); !strings.Contains(got, want) || strings.Contains(got, "silent") {
			t.Errorf("the trouble %q in French is %q, want that it says %q", code, got, want)
		}
		if got := notice.Text(t.Context(), n); got != n.Detail.Text {
			t.Errorf("the trouble %q in English is %q, want %q", code, got, n.Detail.Text)
		}
	}
}

// TestNamesAreHiddenOnLockScreens: what a browser shows has the customer and the order only where amounts may be shown.
func TestNamesAreHiddenOnLockScreens(t *testing.T) {
	l := push.Letter{Business: "Ama's Shop", Notification: notification.Notification{Kind: notification.Paid,
		Payer: notification.Payer{Customer: "Chidi Nwosu", Purpose: "order-77"}}}
	for _, l.Amounts = range []bool{false, true} {
		shown := notice.Push(l)
		for _, word := range []string{"Chidi Nwosu", "order-77"} {
			if got := strings.Contains(shown.Title+shown.Text, word); got != l.Amounts {
				t.Errorf("with amounts %t the browser shows %q: %t", l.Amounts, word, got)
			}
		}
	}
}
