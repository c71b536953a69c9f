package mailbox

import (
	"testing"
	"time"

	"cointill/core/mail"
	"cointill/views/layout"
)

func TestMailProps(t *testing.T) {
	id, kept := int64(7), mail.Mail{ID: 3, State: mail.Kept, About: "PAY_1", CreatedAt: noon}
	if props := mailProps(layout.Page{}, kept, false, time.UTC); props.CanResend || props.PaymentReference != "" || props.ID != "3" {
		t.Errorf("%+v", props)
	}
	kept.PaymentID = &id
	if props := mailProps(layout.Page{}, kept, true, time.UTC); !props.CanResend || props.PaymentReference != "PAY_1" {
		t.Errorf("%+v", props)
	}
}
