package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"cointill/core/account/auth"
	"cointill/core/alarm"
	"cointill/core/money"
	"cointill/core/networks"
	"cointill/core/scope"
	"cointill/views/mail"
)

func chainNotice(over bool) alarm.Notice {
	return alarm.Notice{To: auth.User{ID: 1, Name: "Amara Okafor", Email: "amara@sunbird.example"}, Business: "Sunbird Coffee", Domain: scope.Live, Network: "ethereum-mainnet",
		Chain: money.Ethereum, Problem: "All nodes are silent: 10.0.0.4:8545 refuses the connection.", Over: over, Since: now.Add(-10 * time.Minute), At: now, URL: "https://till.example/dashboard/methods"}
}

// chainMails are the mails about a network in trouble.
func chainMails() map[string]templ.Component {
	operator := chainNotice(false)
	operator.Business, operator.Domain, operator.URL = "", scope.Test, "https://till.example/dashboard/system"
	return map[string]templ.Component{"mail-chain-trouble": mail.Notice(mail.ChainTrouble(chainNotice(false))), "mail-chain-over": mail.Notice(mail.ChainTrouble(chainNotice(true))),
		"mail-chain-operator": mail.Notice(mail.ChainTrouble(operator))}
}

// TestChainMails: both forms say which coins, why and since when.
func TestChainMails(t *testing.T) {
	for _, over := range []bool{false, true} {
		n := chainNotice(over)
		n.Business = "<script>x</script>"
		subject, text, html := mail.RenderChainTrouble(n)
		title := map[bool]string{false: "Ether and Tether USD payments are unavailable", true: "Ether and Tether USD payments are available again"}[over]
		if !strings.Contains(subject, title) || strings.Contains(html, "<script>") {
			t.Errorf("%q", subject)
		}
		for _, want := range []string{"ethereum-mainnet", "refuses the connection", "21 November 2026, 05:04 UTC", n.URL, "Amara Okafor"} {
			if !strings.Contains(text, want) || !strings.Contains(html, want) {
				t.Errorf("over %v lacks %q: %s", over, want, text)
			}
		}
	}
}

// TestChainMailOfANetworkWithoutCoins: a network on which nothing is paid yet is named by its own name.
func TestChainMailOfANetworkWithoutCoins(t *testing.T) {
	for c, name := range map[money.Chain]string{money.BSC: "BNB Smart Chain", money.Tron: "Tron"} {
		n := chainNotice(false)
		n.Business, n.Network, n.Chain = "", string(c)+"-mainnet", c
		if subject, _, _ := mail.RenderChainTrouble(n); !strings.Contains(subject, name+" payments are unavailable") {
			t.Errorf("subject %q, want %s by name", subject, name)
		}
	}
}

// TestChainMailInFrench: a member who reads French reads why in French, also when it is over. An operator also reads
// what the nodes said.
func TestChainMailInFrench(t *testing.T) {
	for _, over := range []bool{false, true} {
		n := chainNotice(over)
		n.To.Language, n.Code = "fr", networks.NodesFail
		const why, said = "Les nœuds du réseau ne répondent pas", "10.0.0.4:8545 refuses the connection"
		if _, text, _ := mail.RenderChainTrouble(n); !strings.Contains(text, why) || strings.Contains(text, said) {
			t.Errorf("over %v: the mail says %q, want %q", over, text, why)
		}
		n.Business = ""
		if _, text, _ := mail.RenderChainTrouble(n); !strings.Contains(text, said) {
			t.Errorf("over %v: the operator's mail says %q, want %q in it", over, text, said)
		}
	}
}
