package payment_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/internal/testing/speed"
	"cointill/models"
)

// placed makes n payments, a minute apart.
func (b *bench) placed(n int, change func(i int, r *payment.Request)) (references []string) {
	b.t.Helper()
	for i := range n {
		r := request()
		r.BusinessReference = fmt.Sprintf("order-%02d", i)
		if change != nil {
			change(i, &r)
		}
		started, err := b.service.Initiate(b.t.Context(), b.scope, r)
		if err != nil {
			b.t.Fatal(err)
		}
		references = append(references, started.Reference)
		b.clock.Advance(time.Minute)
	}
	return references
}

func (b *bench) search(f list.Filter) list.Page {
	b.t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	page, err := b.lists().Search(b.t.Context(), b.scope, f)
	if err != nil {
		b.t.Fatal(err)
	}
	return page
}

// orders are the merchant's references of a page, in its order.
func orders(page list.Page) string {
	var list []string
	for _, p := range page.Payments {
		list = append(list, strings.TrimPrefix(p.BusinessReference, "order-"))
	}
	return strings.Join(list, " ")
}

func (b *bench) put(reference string, values map[string]any) {
	b.t.Helper()
	b.unbooked = true
	if err := b.db.Exec(b.t.Context()).Model(&models.Payment{}).Where("reference = ?", reference).Updates(values).Error; err != nil {
		b.t.Fatal(err)
	}
}

// TestPagesOfAList goes through a list to its end and back: every payment is
// met once, in order, whether its index gives one state or several.
func TestPagesOfAList(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		references := b.placed(10, nil)
		for i, reference := range references {
			b.put(reference, map[string]any{"status": string(payment.States()[i%3])})
		}
		for name, c := range map[string]struct {
			states []payment.State
			want   string
		}{
			"all":     {nil, "09 08 07 06 05 04 03 02 01 00"},
			"one":     {[]payment.State{payment.Pending}, "09 06 03 00"},
			"several": {[]payment.State{payment.Processing, payment.Pending}, "09 08 06 05 03 02 00"},
			"each":    {payment.States(), "09 08 07 06 05 04 03 02 01 00"},
		} {
			var forth, back []string
			f := list.Filter{States: c.states, Limit: 3}
			page := b.search(f)
			for ; ; page = b.search(f) {
				forth = append(forth, orders(page))
				if page.Newer == f.Before.None() {
					t.Errorf("%s: newer is %v", name, page.Newer)
				}
				if !page.Older {
					break
				}
				f.Before = list.Place{ID: page.Next()}
			}
			if got := strings.Join(forth, " "); got != c.want {
				t.Errorf("%s forth: %s", name, got)
			}
			for page.Newer {
				page = b.search(list.Filter{States: c.states, Limit: 3, After: list.Place{Reference: page.Payments[0].Reference}})
				back = append(back, orders(page))
				if !page.Older {
					t.Errorf("%s: nothing is older than the page before", name)
				}
			}
			slices.Reverse(back)
			if got := strings.Join(back, " "); !strings.HasPrefix(c.want, got) || !strings.HasPrefix(got, forth[0]) {
				t.Errorf("%s back: %q", name, back)
			}
		}
	})
}

// TestSearchFilters narrows by each filter; what another merchant or domain has is never there.
func TestSearchFilters(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		start := b.clock.Now()
		references := b.placed(5, func(i int, r *payment.Request) {
			r.Amount = int64(100 * (i + 1))
			r.Currency = []string{"NGN", "USD"}[i%2]
			r.Method = string(money.Coins()[i].Method)
			r.Email = fmt.Sprintf("payer%d@example.com", i)
			r.Metadata = fmt.Appendf(nil, `{"invoice":{"ids":["Inv 2026/%d",77%d]},"paid":true,"at":"https://shop.example/o/%d",
				"note":"%d: Été"}`, i, i, i, i%2)
			r.FirstName, r.LastName = []string{"Ngozi", "Ọlá", "Kofi", "Amina", "Chidi"}[i], []string{"Okafor", "Adé", "Mensah", "Bello", "Okoye"}[i]
		})
		opened, err := b.service.Verify(t.Context(), b.scope, references[2])
		if err != nil {
			t.Fatal(err)
		}
		rows := []any{
			&models.Destination{Network: "n", Address: "rSharedAddressOfTheTest", Tag: 1, BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: &opened.Payment.ID},
			&models.Destination{Network: "n", Address: "0x52908400098527886E0F7030069857D2E4169EE7", Tag: 2, BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: new(opened.Payment.ID + 1)},
			&models.Transfer{Network: "n", TxID: strings.Repeat("ab", 32), BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: &opened.Payment.ID},
		}
		for _, row := range rows {
			if err := b.db.Exec(t.Context()).Create(row).Error; err != nil {
				t.Fatal(err)
			}
		}
		var code string
		must(t, b.db.Read(t.Context()).Model(&models.Customer{}).Where("id = ?", opened.Payment.CustomerID).Pluck("code", &code).Error)
		token := path.Base(b.service.PageURL(opened.Payment))
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", opened.Payment.ID).
			Update("due", money.Units(60_770_285)).Error)
		const due = "60.770285"
		from, to := start.Add(time.Minute), start.Add(3*time.Minute)
		for name, c := range map[string]struct {
			f    list.Filter
			want string
		}{
			"currency": {list.Filter{Currency: "USD"}, "03 01"}, "method": {list.Filter{Method: "crypto_tether"}, "02"},
			"time": {list.Filter{From: &from, To: &to}, "02 01"}, "amount": {list.Filter{Least: 200, Most: 400}, "03 02 01"},
			"several": {list.Filter{Least: 200, Currency: "USD", From: &to}, "03"},
			"own":     {list.Filter{Query: references[3]}, "03"}, "own, begun": {list.Filter{Query: references[3][:12]}, "03"},
			"own, small": {list.Filter{Query: strings.ToLower(references[3])}, "03"}, "PAY_ alone": {list.Filter{Query: "PAY_"}, "04 03 02 01 00"},
			"reference": {list.Filter{Reference: "order-0"}, "04 03 02 01 00"}, "reference, one": {list.Filter{Reference: "order-03"}, "03"}, "P": {list.Filter{Reference: "P"}, "04 03 02 01 00"},
			"business reference": {list.Filter{Query: "order-0"}, "04 03 02 01 00"}, "percent": {list.Filter{Query: "order%"}, ""}, "underscore": {list.Filter{Query: "order_0"}, ""},
			"e-mail": {list.Filter{Query: "Payer2@example.com"}, "02"}, "e-mail, begun": {list.Filter{Query: "payer2@"}, "02"}, "e-mail exactly": {list.Filter{Email: "payer2@"}, ""},
			"first name": {list.Filter{Query: "ngo"}, "00"}, "last name": {list.Filter{Query: "OKO"}, "04"}, "both names": {list.Filter{Query: "kofi  mens"}, "02"}, "no accents": {list.Filter{Query: "ola ade"}, "01"},
			"two people": {list.Filter{Query: "ok"}, "04 00"}, "hash": {list.Filter{Query: strings.Repeat("AB", 32)}, "02"}, "hash exactly": {list.Filter{Hash: strings.Repeat("ab", 32)}, "02"},
			"address":                  {list.Filter{Query: "rSharedAddressOfTheTest"}, "02"},
			"address, other letters":   {list.Filter{Query: "rsharedaddressofthetest"}, "02"},
			"address in small letters": {list.Filter{Query: "0x52908400098527886e0f7030069857d2e4169ee7"}, "03"},
			"amount, typed":            {list.Filter{Query: "NGN 300"}, "02"},
			"amount with its sign":     {list.Filter{Query: "₦300.00"}, "02"}, "amount, currency behind": {list.Filter{Query: "300 ngn"}, "02"},
			"amount with another sign": {list.Filter{Query: "$300"}, "02"}, "amount alone": {list.Filter{Query: "400.00"}, "03"}, "amount in parts": {list.Filter{Query: "1,00"}, ""},
			"authorization": {list.Filter{Query: strings.ToLower(opened.Payment.AuthorizationCode)}, "02"}, "authorization, begun": {list.Filter{Query: "AUTH_"}, ""},
			"customer's code": {list.Filter{Query: code}, "02"}, "token": {list.Filter{Query: token}, "02"},
			"pasted page": {list.Filter{Query: "https://pay.example/pay/" + token + "?lang=fr"}, "02"}, "pasted reference": {list.Filter{Query: "http://127.0.0.1:8080/dashboard/payments/" + references[1] + "/"}, "01"},
			"pasted explorer": {list.Filter{Query: "https://mempool.example/tx/" + strings.Repeat("ab", 32)}, "02"}, "pasted host": {list.Filter{Query: "https://shop.example"}, ""},
			"pasted way back": {list.Filter{Query: "https://shop.example/thanks?reference=mine&reference=" + references[1] +
				"&business_reference=order-03"}, "01"},
			"pasted way back, own reference": {list.Filter{Query: "https://shop.example/?business_reference=order-03"}, "03"},
			"pasted without references":      {list.Filter{Query: "https://shop.example/order-03?reference=x&business_reference="}, "03"},
			"coin amount":                    {list.Filter{Query: due}, "02"},
			"coin amount and symbol":         {list.Filter{Query: due + " USDT"}, "02"},
			"symbol and coin amount":         {list.Filter{Query: "usdt" + due}, "02"},
			"coin amount, more zeros":        {list.Filter{Query: due + "0 usdt"}, "02"},
			"coin amount, begun":             {list.Filter{Query: due[:len(due)-1] + " USDT"}, ""},
			"coin amount of another coin":    {list.Filter{Query: due + " XRP"}, ""},
			"coin amount of no coin":         {list.Filter{Query: due + " ABC"}, ""},
			"coin amount of two coins":       {list.Filter{Query: "USDT " + due + " USDT"}, ""},
			"coin amount, too many decimals": {list.Filter{Query: due + "1 USDT"}, ""},
			"coin amount and filter":         {list.Filter{Query: due, Currency: "USD"}, ""},
			"metadata, small letters":        {list.Filter{Query: " inv 2026/3"}, "03"},
			"metadata, a number":             {list.Filter{Query: "774"}, "04"},
			"metadata, begun":                {list.Filter{Query: "inv 2026"}, ""},
			"metadata, a name":               {list.Filter{Query: "invoice"}, ""},
			"metadata, true":                 {list.Filter{Query: "true"}, ""},
			"metadata, an address":           {list.Filter{Query: "https://shop.example/o/1"}, "01"},
			"metadata of several":            {list.Filter{Query: "1: Été"}, "03 01"},
			"metadata and filter":            {list.Filter{Query: "0: Été", Currency: "NGN", From: &to}, "04"},
			"nobody":                         {list.Filter{Query: "nobody"}, ""}, "no text": {list.Filter{Query: "\u0301"}, ""},
			"both searches":     {list.Filter{Query: "ok", Email: "payer0@example.com"}, "00"},
			"search and filter": {list.Filter{Query: "ok", Currency: "NGN", States: []payment.State{payment.Pending, payment.Failed}}, "04 00"},
		} {
			if got := orders(b.search(c.f)); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
			n, err := b.lists().Count(t.Context(), b.scope, c.f)
			if err != nil || int(n) != len(strings.Fields(c.want)) {
				t.Errorf("%s: counts %d, %v", name, n, err)
			}
			for _, sc := range []scope.Scope{{BusinessID: b.scope.BusinessID, Domain: scope.Live, Role: scope.Owner}, {BusinessID: b.scope.BusinessID + 1, Domain: scope.Test, Role: scope.Owner}} {
				if page, err := b.lists().Search(t.Context(), sc, c.f); err != nil || len(page.Payments) > 0 {
					t.Errorf("%s in %v: %v, %v", name, sc, orders(page), err)
				}
			}
		}
	})
}

// TestFindExact finds the one payment that a text names whole, in its own business and domain.
func TestFindExact(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		references := b.placed(2, nil)
		first := b.view(references[0]).Payment
		hash, both := strings.Repeat("cd", 32), strings.Repeat("EF", 32)
		for i, tx := range []string{hash, both, both} {
			row := models.Transfer{Network: "n", TxID: tx, Index: i, BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: &first.ID}
			if i == 2 {
				row.PaymentID = new(b.view(references[1]).Payment.ID)
			}
			must(t, b.db.Exec(t.Context()).Create(&row).Error)
		}
		for text, want := range map[string]string{
			references[0]: references[0], " " + strings.ToLower(references[0]) + " ": references[0], first.BusinessReference: references[0],
			first.AuthorizationCode: references[0], b.service.PageURL(first): references[0], hash: references[0],
			"https://explorer.example/tx/" + hash: references[0],
			"https://shop.example/thanks?order=7&reference=" + references[0] + "&business_reference=order-00": references[0],
			b.view(references[0]).Customer.Code: b.view(references[0]).Customer.Code,
			references[0][:20]:                  "", first.CustomerEmail: "", both: "", "": "", "nothing": "",
		} {
			got, err := b.lists().FindExact(t.Context(), b.scope, text)
			if err != nil || got != want {
				t.Errorf("FindExact(%q) = %q, %v, want %q", text, got, err, want)
			}
			other := scope.Scope{BusinessID: b.scope.BusinessID, Domain: scope.Live, Role: scope.Owner}
			if got, err := b.lists().FindExact(t.Context(), other, text); err != nil || got != "" {
				t.Errorf("FindExact(%q) in the other domain = %q, %v, want none", text, got, err)
			}
		}
		developer := scope.Scope{BusinessID: b.scope.BusinessID, Domain: scope.Live, Role: scope.Developer}
		if _, err := b.lists().FindExact(t.Context(), developer, hash); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a developer in live: %v, want forbidden", err)
		}
	})
}

// TestSearchFindsBeginningsAndEnds: a search finds how hashes and addresses begin, in letters of any size, and how
// references end; shorter texts find nothing by them.
func TestSearchFindsBeginningsAndEnds(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		references := b.placed(2, nil)
		p := b.view(references[0]).Payment
		hash := "0x" + strings.Repeat("aB12", 16)
		must(t, b.db.Exec(t.Context()).Create(&models.Transfer{Network: "n", TxID: hash,
			BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: &p.ID}).Error)
		address := "0xDe0B295669a9FD93d5F28D9Ec85E40f4cb697BAe"
		must(t, b.db.Exec(t.Context()).Model(&models.Payment{}).Where("id = ?", p.ID).Update("address", address).Error)
		must(t, b.db.Exec(t.Context()).Where("payment_id = ?", p.ID).Delete(&models.Destination{}).Error)
		must(t, b.db.Exec(t.Context()).Create(&models.Destination{Network: "n", Address: address, Tag: -1,
			BusinessID: b.scope.BusinessID, Domain: "test", PaymentID: &p.ID}).Error)
		other := b.view(references[1]).Payment
		end := p.BusinessReference[len(p.BusinessReference)-5:]
		if strings.HasSuffix(other.BusinessReference, end) || strings.HasSuffix(other.Reference, p.Reference[24:]) {
			t.Fatalf("both payments end alike: %s and %s", p.BusinessReference, other.BusinessReference)
		}
		for text, want := range map[string]int{
			hash[:8]: 1, "ab12AB": 1, strings.ToUpper(hash[2:20]): 1, hash: 1, hash[2:50]: 1, "ab12A": 0, "ab13ab": 0,
			address[:10]: 1, strings.ToLower(address[:16]): 1, strings.ToLower(address): 1, "0xde0b2957": 0,
			p.Reference[24:]: 1, strings.ToLower(p.Reference[20:]): 1, end: 1, p.BusinessReference[1:]: 1,
			p.Reference[len(p.Reference)-3:]: 0, "x" + end: 0,
		} {
			found := b.search(list.Filter{Query: text, Limit: 10}).Payments
			if len(found) != want || want == 1 && found[0].ID != p.ID {
				t.Errorf("a search for %q finds %d payments, want %d", text, len(found), want)
			}
		}
	})
}

// TestListsAskForTheRight refuses a role and a scope that may not see payments, and foreign places.
func TestListsAskForTheRight(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		b.placed(1, nil)
		newest, err := b.lists().Newest(t.Context(), b.scope)
		if err != nil || newest.None() {
			t.Fatalf("newest = %v, err = %v", newest, err)
		}
		live := scope.Scope{BusinessID: b.scope.BusinessID, Domain: scope.Live, Role: scope.Developer}
		for name, call := range map[string]func(sc scope.Scope) error{
			"search": func(sc scope.Scope) error {
				_, err := b.lists().Search(t.Context(), sc, list.Filter{Before: newest})
				return err
			},
			"count": func(sc scope.Scope) error {
				_, err := b.lists().Count(t.Context(), sc, list.Filter{})
				return err
			},
			"news": func(sc scope.Scope) error {
				_, err := b.lists().CountNewer(t.Context(), sc, list.Filter{}, newest)
				return err
			},
			"export": func(sc scope.Scope) error {
				return b.lists().Export(t.Context(), sc, list.Filter{}, func([]models.Payment) error { return errors.New("came") })
			},
		} {
			if err := call(live); fault.KindOf(err) != fault.Forbidden {
				t.Errorf("%s by a developer in live: %v", name, err)
			}
			if err := call(scope.Scope{Role: scope.Owner}); !errors.Is(err, scope.ErrZero) {
				t.Errorf("%s in no scope: %v", name, err)
			}
		}
		other := scope.Scope{BusinessID: b.scope.BusinessID + 1, Domain: scope.Test, Role: scope.Owner}
		if _, err := b.lists().Search(t.Context(), other, list.Filter{Before: newest}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a foreign place: %v", err)
		}
	})
}

// TestExport hands over each payment once, in order, over several batches, and ends at an error.
func TestExport(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		count := speed.Pick(1100, 2500) // a batch has 1,000
		fill(t, b, count, 0, 0)
		var seen []models.Payment
		batches := 0
		err := b.lists().Export(t.Context(), b.scope, list.Filter{}, func(rows []models.Payment) error {
			batches++
			seen = append(seen, rows...)
			return nil
		})
		if err != nil || len(seen) != count || batches != 1+count/1000 {
			t.Fatalf("%d payments in %d batches, %v", len(seen), batches, err)
		}
		if !slices.IsSortedFunc(seen, func(a, b models.Payment) int { return b.CreatedAt.Compare(a.CreatedAt) }) {
			t.Error("they are not in order")
		}
		ended := errors.New("ended")
		batches = 0
		err = b.lists().Export(t.Context(), b.scope, list.Filter{}, func([]models.Payment) error { batches++; return ended })
		if !errors.Is(err, ended) || batches != 1 {
			t.Errorf("%d batches, %v", batches, err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := b.lists().Export(stopped, b.scope, list.Filter{}, func([]models.Payment) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("called off: %v", err)
		}
	})
}

// TestNews counts what came since a place, as far as the filter chooses it.
func TestNews(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		none, err := b.lists().Newest(t.Context(), b.scope)
		if err != nil || !none.None() {
			t.Fatalf("none = %v, err = %v", none, err)
		}
		references := b.placed(3, func(i int, r *payment.Request) { r.Currency = []string{"NGN", "USD", "USD"}[i] })
		for name, c := range map[string]struct {
			f     list.Filter
			since list.Place
			want  int
		}{
			"all": {list.Filter{}, none, 3}, "since the first": {list.Filter{}, list.Place{Reference: references[0]}, 2},
			"filtered": {list.Filter{Currency: "NGN"}, none, 1}, "none": {list.Filter{Currency: "NGN"}, list.Place{Reference: references[0]}, 0},
			"states": {list.Filter{States: []payment.State{payment.Pending, payment.Failed}}, list.Place{Reference: references[1]}, 1},
		} {
			if n, err := b.lists().CountNewer(t.Context(), b.scope, c.f, c.since); err != nil || n != c.want {
				t.Errorf("%s: %d, %v", name, n, err)
			}
		}
	})
}
