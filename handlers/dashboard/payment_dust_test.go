package dashboard_test

import (
	"fmt"
	"strings"
	"testing"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestPageOfDust (BTC-12): a payment that got thousands of crumbs has a page, and a page to
// print, of bounded size, which say how many more there are.
func TestPageOfDust(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		b, reference := s.SignIn(ama), declined(s, sc)
		var p models.Payment
		s.FailOn(s.DB.Read(t.Context()).Where("reference = ?", reference).Take(&p).Error)
		var dust []models.Transfer
		var steps []models.Step
		for i := range 1_000 {
			dust = append(dust, models.Transfer{Network: p.Network, TxID: fmt.Sprint("crumb-", i), Asset: p.Coin, Amount: money.Units(1), PaymentID: &p.ID, BusinessID: p.BusinessID, Domain: p.Domain})
			steps = append(steps, models.Step{PaymentID: p.ID, Number: p.Steps + 1 + i, Kind: payment.StepTransfer, Remark: "Seen on the network.", Detail: "{}", Actor: "system"})
		}
		steps = append(steps, models.Step{PaymentID: p.ID, Number: p.Steps + 1_001, Kind: payment.StepNote, Remark: "What was said last.", Detail: "{}", Actor: "system"})
		s.FailOn(s.DB.Exec(t.Context()).CreateInBatches(dust, 100).Error)
		s.FailOn(s.DB.Exec(t.Context()).CreateInBatches(steps, 100).Error)
		var before int64
		s.FailOn(s.DB.Read(t.Context()).Model(&models.Transfer{}).Where("payment_id = ? AND unmatched = ''", p.ID).Count(&before).Error)
		more := fmt.Sprintf("%d more transfers are included in the total", before-payment.MaxTransfers)
		page := b.Get("/dashboard/payments/" + reference)
		expect(t, page, 200, more, fmt.Sprintf("%d transfers", before), "What was said last.")
		if n := strings.Count(page.Body, "Seen on the network."); n < 400 || n > 500 {
			t.Errorf("%d of the timeline's sightings", n)
		}
		expect(t, b.Get("/dashboard/payments/"+reference+"/receipt"), 200, more)
	})
}
