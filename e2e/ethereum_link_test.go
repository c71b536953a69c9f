package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cointill/e2e/harness"
)

// parsedLink is what the public parser finds in a wallet's link.
type parsedLink struct {
	Scheme     string
	Target     string `json:"target_address"`
	Chain      string `json:"chain_id"`
	Function   string `json:"function_name"`
	Parameters struct{ Value, Address, Uint256 string }
}

// TestEtherLinks: a public parser reads the links of the payment page as they are
// meant, with every amount as a whole number of the smallest unit.
func TestEtherLinks(t *testing.T) {
	t.Parallel()
	i := harness.New(t, false)
	i.Start()
	i.CreateBusiness()
	pages := &till{Instance: i, t: t}
	var links, want []string
	for _, usd := range []int{1, 25, 999, 123_457, 1_000_000} {
		for _, method := range []string{inEther, inUSDT} {
			request := harness.NewRequest(method)
			request["amount"] = usd
			var o intent
			i.SendRequest("POST", "/v1/payment/initiate", request, 201).DecodeData(t, &o)
			page := pages.open(o.URL)
			if link := etherLink.FindStringSubmatch(page); method == inEther && link != nil {
				links, want = append(links, link[1]), append(want, strings.Join([]string{"ethereum", link[2], link[3], "", link[4], "", ""}, " "))
			} else if link := usdtLink.FindStringSubmatch(page); link != nil {
				links, want = append(links, link[1]), append(want, strings.Join([]string{"ethereum", link[2], link[3], "transfer", "", link[4], link[5]}, " "))
			} else {
				t.Fatalf("no link for %d USD in %s", usd, method)
			}
		}
	}
	parser := exec.Command("node", filepath.Join(harness.FindRoot(), "e2e", "links.mjs"))
	parser.Stdin = strings.NewReader(strings.Join(links, "\n") + "\n")
	output, err := parser.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d links, and %d were parsed", len(want), len(lines))
	}
	for n, line := range lines {
		var p parsedLink
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		got := strings.Join([]string{p.Scheme, p.Target, p.Chain, p.Function, p.Parameters.Value, p.Parameters.Address, p.Parameters.Uint256}, " ")
		if got != want[n] {
			t.Errorf("%s is read as %q, want %q", links[n], got, want[n])
		}
	}
}
