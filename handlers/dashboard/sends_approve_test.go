package dashboard_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"cointill/core/money"
	"cointill/core/send"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestApproveTogetherPages (SD-4, SD-5) ticks sends in the queue, shows each with all that an approval covers, and
// approves them with one proof. One that changed meanwhile is refused, and the others are approved.
func TestApproveTogetherPages(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		const (
			page  = "/dashboard/sends/approve"
			queue = "/dashboard/sends?show=approve"
		)
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		ask := func(amount string) send.View {
			v, err := s.Sends.Ask(t.Context(), sc, send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin),
				Amount: amount, Address: anAddress, Note: "Salary"})
			s.FailOn(err)
			return v
		}
		lacks(t, b.Get(queue), "Approve together")
		first, second, third := ask("0.001"), ask("0.002"), ask("0.003")
		boxes := func(a servertest.Answer) int { return strings.Count(a.Body, `type="checkbox" name="send"`) }
		ticked := func(a servertest.Answer) int { return strings.Count(a.Body, `" checked aria-label="Approve SND_`) }
		list := b.Get(queue)
		expect(t, list, 200, "Approve together", "Tick all on this page")
		all := b.Get(queue + "&tick=all")
		if boxes(list) != 3 || ticked(list) != 0 || ticked(all) != 3 {
			t.Errorf("the queue has %d boxes with %d ticked, and with tick=all %d ticked; want 3, 0 and 3", boxes(list),
				ticked(list), ticked(all))
		}
		leads(t, b.Get(page), queue)
		leads(t, b.Get(page+"?send=SND_none"), queue)
		expect(t, b.Get(queue), 200, "Tick 1 to 100 sends that you may approve.")
		leads(t, b.Get(page+"?"+url.Values{"send": make([]string, send.MaxTogether+1)}.Encode()), queue)

		form := b.Get(page + "?send=" + first.Send.Reference + "&send=" + second.Send.Reference + "&send=SND_none")
		expect(t, form, 200, "Approve these sends", "0.00100000 BTC", "0.00200000 BTC", anAddress, "Salary", "Ama Mensah",
			"Approve 2 sends", "1 of the ticked sends is not here")
		lacks(t, form, third.Send.Reference)
		var shown []string
		for _, part := range strings.Split(form.Body, `name="send" value="`)[1:] {
			value, _, _ := strings.Cut(part, `"`)
			shown = append(shown, value)
		}
		if len(shown) != 2 || shown[0] != first.Send.Reference+" "+first.Version() {
			t.Fatalf("the form has the sends %q, want two with their versions", shown)
		}
		post := func(password string) servertest.Answer {
			return b.PostFrom("/dashboard/sends/new", page, url.Values{"send": shown, "password": {password}})
		}
		expect(t, post("not the passphrase"), 422, "Approve 2 sends", first.Send.Reference, second.Send.Reference)
		s.Clock.Advance(time.Minute)
		s.FailOn(s.DB.Exec(t.Context()).Model(&models.Send{}).Where("id = ?", second.Send.ID).
			UpdateColumn("amount", "700000").Error)
		half := post(servertest.Password)
		expect(t, half, 409, "You approved 1 send.", "These were not approved", "This send changed since you opened it",
			second.Send.Reference, "0.00700000 BTC", "Approve 1 send")
		expect(t, b.Get("/dashboard/sends/"+first.Send.Reference), 200, "To sign", "1 of 1 needed")
		expect(t, b.Get("/dashboard/sends/"+second.Send.Reference), 200, "It waits for 1 more approval")

		shown = []string{hiddenValue(half, "send"), third.Send.Reference + " " + third.Version()}
		leads(t, post(servertest.Password), queue)
		expect(t, b.Get(queue), 200, "You approved 2 sends.")
		expect(t, b.Get("/dashboard/sends/"+third.Send.Reference), 200, "To sign")
		shown = nil
		leads(t, post(servertest.Password), queue)
	})
}
