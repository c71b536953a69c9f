package dashboard_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/internal/testing/servertest"
)

// TestSmallForLarge (AP-24) shows a genuine small payment for a large order: by each of
// the fields that docs/developers.md has merchants compare it is another one, and the
// large order's own reference says that nothing was paid.
func TestSmallForLarge(t *testing.T) {
	doc, err := os.ReadFile("../../docs/developers.md")
	if err != nil {
		t.Fatal(err)
	}
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		_, key, err := s.Keys.CreateKey(t.Context(), sc, "Server")
		s.FailOn(err)
		who := identity{browser: s.NewBrowser(), key: key}
		small, large := servertest.NewRequest(money.CryptoBitcoin), servertest.NewRequest(money.CryptoBitcoin)
		small.Amount, small.Currency, small.BusinessReference = 1, "KES", "order-1"
		large.Amount, large.Currency, large.BusinessReference = 1_000_000, "USD", "order-2"
		s.UpdatePayment(s.InitiatePayment(sc, small).Reference, map[string]any{"status": "successful"})
		s.InitiatePayment(sc, large)
		paid, owed := verified(t, who, "order-1"), verified(t, who, "order-2")
		if paid["data.status"] != "successful" {
			t.Errorf("the small one is %v", paid)
		}
		named := regexp.MustCompile("(?m)^\\| `(data[a-z_.]+)`").FindAllStringSubmatch(string(doc), -1)
		for _, m := range named {
			got, told := paid[m[1]]
			if !told {
				t.Errorf("no answer has the field %s", m[1])
			}
			if m[1] != "data.reversed" && got == owed[m[1]] {
				t.Errorf("%s doesn't tell them apart: %v", m[1], got)
			}
		}
		if len(named) != 5 || paid["data.transaction.charged_amount"] != "1.00" || owed["data.transaction.charged_amount"] != "1000000.00" {
			t.Errorf("%v: %v, %v", named, paid, owed)
		}
	})
}

// verified are the fields of a verification's answer, by the names that lead to them.
func verified(t *testing.T, who identity, reference string) map[string]any {
	t.Helper()
	a := who.ask(http.MethodGet, "/v1/payment/verify/"+reference, "", "")
	var answer map[string]any
	if err := json.Unmarshal([]byte(a.Body), &answer); err != nil || a.Status != http.StatusOK {
		t.Fatalf("json.Unmarshal([]byte(a.Body), &answer): a.Status = %v, err = %v, a.Body = %v", a.Status, err, a.Body)
	}
	fields := map[string]any{}
	var walk func(name string, in map[string]any)
	walk = func(name string, in map[string]any) {
		for key, value := range in {
			if inner, ok := value.(map[string]any); ok {
				walk(name+key+".", inner)
				continue
			}
			fields[strings.ToLower(name+key)] = value
		}
	}
	walk("", answer)
	return fields
}
