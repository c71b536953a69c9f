package mail

import (
	"context"
	"html"
	"regexp"

	"cointill/models"
)

// namesCustomers are the kinds of mails to members in which customers' names are filled in. In a mail to a customer
// none is: its text may repeat what another customer typed.
var namesCustomers = map[string]bool{"notification": true, "notifications_held": true, "notifications_daily": true}

// CustomerPlaceholder stands in the text of a mail to members for the name of a payment's customer. The name is read when the
// mail is sent or shown, and stored on the payment alone: once it is erased there, no mail has it.
func CustomerPlaceholder(reference string) string { return "{customer of " + reference + "}" }

var customerPlaceholder = regexp.MustCompile(`\{customer of (PAY_\w+)\}`)

// noName is what a mail says where the business has no such payment.
const noName = "–"

// fillCustomers writes the names of customers into a mail to members, by one statement.
func (s *Service) fillCustomers(ctx context.Context, row *models.Mail) error {
	if !namesCustomers[row.Kind] {
		return nil
	}
	var references []string
	for _, found := range customerPlaceholder.FindAllStringSubmatch(row.Text+row.HTML, -1) {
		references = append(references, found[1])
	}
	if len(references) == 0 {
		return nil
	}
	var payments []models.Payment
	if err := s.DB.Read(ctx).Select("reference", "customer_name").
		Where("business_id = ? AND domain = ? AND reference IN ?", row.BusinessID, row.Domain, references).
		Find(&payments).Error; err != nil {
		return err
	}
	names := map[string]string{}
	for _, p := range payments {
		names[CustomerPlaceholder(p.Reference)] = p.CustomerName
	}
	find := func(place string) string {
		if name := names[place]; name != "" {
			return name
		}
		return noName
	}
	row.Text = customerPlaceholder.ReplaceAllStringFunc(row.Text, find)
	row.HTML = customerPlaceholder.ReplaceAllStringFunc(row.HTML, func(place string) string {
		return html.EscapeString(find(place))
	})
	return nil
}
