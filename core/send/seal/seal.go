// Package seal makes the keyed hashes that show whether a send is what people asked for, approved or handed out
// (contract section 7). Only the server can make one, so that no statement in the database changes a send unnoticed.
package seal

import (
	"fmt"

	"cointill/core/secret"
	"cointill/core/send/request"
	"cointill/models"
)

// DescribeContent writes everything of a send that an approval covers. An amount in fiat at today's
// price is converted at the last approval, so that its coin amount is not part of it.
func DescribeContent(row models.Send) string {
	tag, paid, transfer := int64(-1), int64(0), int64(0)
	if row.Tag != nil {
		tag = *row.Tag
	}
	if row.PaymentID != nil {
		paid = *row.PaymentID
	}
	if row.TransferID != nil {
		transfer = *row.TransferID
	}
	amount := row.Amount.String()
	if row.Rate == request.RateToday {
		amount = fmt.Sprint(row.Fiat, " ", row.Currency)
	}
	return fmt.Sprintf("%s %d %s %s %s %s %s %q %d %d %d", row.Reference, row.BusinessID, row.Domain, row.Kind,
		row.Coin, row.Network, amount, row.Address, tag, paid, transfer)
}

// SealRequest returns what a send stores about its request: it covers what an approval does, who asked, who named the
// address, and how many must approve.
func SealRequest(box *secret.Box, row models.Send) string {
	return box.Hash("send request", fmt.Sprintf("%s %s %d %s", row.Actor, row.AddressBy, row.Approvals,
		DescribeContent(row)))
}

// HasRequestSeal reports that only the server wrote what the request of a send is. Another send needs a person's approval
// whatever the rules say, and its address waits.
func HasRequestSeal(box *secret.Box, row models.Send) bool {
	return row.RequestSeal == SealRequest(box, row)
}

// SealApproval returns what an approval of a person stores.
func SealApproval(box *secret.Box, row models.Send, actor string) string {
	return box.Hash("send approval", actor+" "+DescribeContent(row))
}

// SealReady returns what a ready send stores: it covers the coin amount, too, and once it is prepared the
// wallet and what the transaction has beside the send, or the batch that has it.
func SealReady(box *secret.Box, row models.Send) string {
	content := row.Amount.String() + " " + DescribeContent(row)
	if row.Terms != "" {
		content += "\n" + row.Account + "\n" + row.Terms
	}
	if row.BatchID != nil {
		content += fmt.Sprintf("\nbatch %d of %s", *row.BatchID, row.Account)
	}
	return box.Hash("send ready", content)
}

// SealMark returns what the mark of a person stores who says that a send was sent in another way.
func SealMark(box *secret.Box, row models.Send, actor string) string {
	return box.Hash("send mark", actor+" "+row.Amount.String()+" "+DescribeContent(row))
}
