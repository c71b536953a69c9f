package request_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cointill/core/send/request"
)

const address = "0x52908400098527886E0F7030069857D2E4169EE7"

// describeErrors writes a file's errors as text, one a line.
func describeErrors(err error) string {
	var wrong *request.FileError
	if !errors.As(err, &wrong) {
		return fmt.Sprint(err)
	}
	lines := make([]string, len(wrong.Rows))
	for i, one := range wrong.Rows {
		lines[i] = fmt.Sprintf("%d %s: %s", one.Row, one.Column, one.Sentence)
	}
	return strings.Join(lines, "\n")
}

// TestReadPayouts: files that spreadsheets write are read, whatever the order of their columns.
func TestReadPayouts(t *testing.T) {
	t.Parallel()
	tag := int64(4201)
	rent := request.Request{Kind: "payout", Method: "crypto_tether", Amount: "1200.50", Address: address,
		BusinessReference: "invoice-17", Note: "Rent, May"}
	fee := request.Request{Kind: "payout", Method: "crypto_ripple", FiatAmount: "250", Currency: "USD", Rate: "today",
		Address: "rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe", Tag: &tag}
	for name, c := range map[string]struct {
		file string
		want []request.Request
		rows string
	}{
		"all columns": {"coin,amount,fiat_amount,currency,address,tag,business_reference,note\n" +
			"USDT,1200.50,,," + address + ",,invoice-17,\"Rent, May\"\n" +
			"XRP,,250,USD,rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe,4201,,\n", []request.Request{rent, fee}, "[2 3]"},
		"few columns, in another order": {"address,amount,coin\n" + address + ",3,ETH",
			[]request.Request{{Kind: "payout", Method: "crypto_ethereum", Amount: "3", Address: address}}, "[2]"},
		"semicolons, capitals, a mark, blanks, CRLF and a blank row": {"\ufeffCoin; Amount;ADDRESS;business_reference;note\r\n\r\n" +
			"usdt; 1,200.50 ;" + address + ";invoice-17;Rent, May\r\n", []request.Request{rent}, "[3]"},
	} {
		got, err := request.ReadPayouts([]byte(c.file))
		if err != nil {
			t.Errorf("%s: %s", name, describeErrors(err))
			continue
		}
		if a, b := fmt.Sprintf("%+v", dereference(got.Requests)), fmt.Sprintf("%+v", dereference(c.want)); a != b {
			t.Errorf("%s: got %s, want %s", name, a, b)
		}
		if rows := fmt.Sprint(got.Rows); rows != c.rows {
			t.Errorf("%s: the rows are %s, want %s", name, rows, c.rows)
		}
	}
	if got, err := request.ReadPayouts([]byte(request.Example)); err != nil || len(got.Requests) != 2 {
		t.Errorf("the example: %d payouts, %s", len(got.Requests), describeErrors(err))
	}
}

// dereference writes tags as numbers.
func dereference(requests []request.Request) (texts []string) {
	for _, r := range requests {
		tag := "none"
		if r.Tag != nil {
			tag = fmt.Sprint(*r.Tag)
		}
		r.Tag = nil
		texts = append(texts, fmt.Sprintf("%+v %s", r, tag))
	}
	return texts
}

// TestWrongFiles (SD-11): everything that is wrong is said at once, with its row and column.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	const header = "coin,amount,address,business_reference\n"
	row := "BTC,1," + address + ","
	for name, c := range map[string]struct{ file, want string }{
		"nothing":          {"", "1 : The file is empty. Its first row has the names of the columns."},
		"a header alone":   {header, "2 : The file has no payout below the names of the columns."},
		"unknown columns":  {"coin,amount,Addresse,coin\n", "1 : There is no column \"Addresse\". The columns are coin, network, amount, fiat_amount, currency, address, tag, business_reference, note.\n1 coin: The column is there twice.\n1 address: The column is missing."},
		"another encoding": {"coin,amount\xe9", "0 : The file is no CSV text in UTF-8. Export it as “CSV UTF-8” from your spreadsheet."},
		"a workbook":       {"PK\x03\x04\x00\x00", "0 : The file is no CSV text in UTF-8. Export it as “CSV UTF-8” from your spreadsheet."},
		"a row too short":  {header + "BTC,1\n" + row + "\n", "2 : It has 2 values, and there are 4 columns."},
		"one value":        {header + "BTC\n" + row + "\n", "2 : It has one value, and there are 4 columns."},
		"a row too long":   {header + row + "a,b\n", "2 : It has 5 values, and there are 4 columns."},
		"quotation marks":  {header + "BTC,\"1,x,\n" + row + "\n", "3 : The quotation marks of this row are wrong. Nothing after it was read."},
		"a reference twice": {header + row + "a\n" + row + "b\n" + row + "a\n",
			"4 business_reference: Is the same as in row 2."},
		"a formula": {header + "=1+1,=cmd|' /C calc'!A0,,a\n", "2 coin: Must be one of BTC, ETH, USDT, XRP, DOGE.\n" +
			"2 address: Is required: where the money goes."},
		"wrong values": {"coin,amount,fiat_amount,currency,address,tag\nBTC,1,2,EUR," + address + ",x\nXRP,,,,r,\n",
			"2 fiat_amount: Give an amount of the coin or one in fiat, not both.\n2 currency: Must be one of NGN, GHC, KES, USD.\n" +
				"2 tag: Must be a whole number from 0 to 4294967295.\n3 amount: Is required: the amount that the recipient gets."},
		"too many rows": {header + strings.Repeat(row+"\n", request.MaxRows+1), "1002 : The file has more than 1,000 payouts. Divide it."},
		"too long":      {header + strings.Repeat("a", request.MaxBytes), "0 : The file is larger than 1 MiB."},
	} {
		if _, err := request.ReadPayouts([]byte(c.file)); describeErrors(err) != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, describeErrors(err), c.want)
		}
	}
	if got, err := request.ReadPayouts([]byte(header + strings.Repeat(row+"\n", request.MaxRows))); err != nil || len(got.Requests) != request.MaxRows {
		t.Errorf("as many payouts as may be: %d, %s", len(got.Requests), describeErrors(err))
	}
}

// FuzzReadPayouts (SD-11): any file is read or refused in words, and no request breaks the rules of its values.
//
//fuzz:inputs 20000
func FuzzReadPayouts(f *testing.F) {
	f.Add([]byte(request.Example))
	f.Add([]byte("coin;amount;address\r\nBTC;1;x\r\n"))
	f.Add([]byte("\ufeffcoin,address\n\"BTC,\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := request.ReadPayouts(file)
		count := len(got.Requests)
		if err == nil && count == 0 || count != len(got.Rows) || count != len(got.Wrong) || count > request.MaxRows {
			t.Fatalf("%d requests, %d rows, %d with errors, %v", count, len(got.Rows), len(got.Wrong), err)
		}
		for i, r := range got.Requests {
			if err == nil && len(got.Wrong[i]) > 0 {
				t.Errorf("row %d is wrong, and the file isn't: %v", got.Rows[i], got.Wrong[i])
			}
			if fields := r.Check(); len(fields) > 0 && len(got.Wrong[i]) == 0 {
				t.Errorf("row %d breaks the rules: %v", got.Rows[i], fields)
			}
		}
	})
}

// TestSeparatorsAndSizes: a first row with as many semicolons as commas has commas; a file of exactly the
// greatest size is read; a header that is wrong ends the reading.
func TestSeparatorsAndSizes(t *testing.T) {
	t.Parallel()
	_, err := request.ReadPayouts([]byte("coin;address,note\nx\n"))
	if !strings.Contains(describeErrors(err), `"coin;address"`) {
		t.Errorf("a semicolon and a comma: %s, want columns between commas", describeErrors(err))
	}
	row := "coin,address,amount,note\nBTC," + address + ",1,"
	full := row + strings.Repeat("n", request.MaxBytes-len(row))
	if _, err := request.ReadPayouts([]byte(full)); strings.Contains(describeErrors(err), "larger") {
		t.Errorf("a file of exactly the greatest size: %.100s", describeErrors(err))
	}
	if _, err := request.ReadPayouts([]byte("coin,price\nBTC,1\n")); strings.Contains(describeErrors(err), "\n2 ") {
		t.Errorf("rows below a wrong header are judged: %s", describeErrors(err))
	}
	for what, c := range map[string]struct {
		asked request.Request
		want  bool
	}{
		"a refund of a payment":             {request.Request{Kind: request.Refund, Payment: "PAY_1"}, true},
		"a refund of a transfer":            {request.Request{Kind: request.Refund, TransferID: 1}, true},
		"a refund of both":                  {request.Request{Kind: request.Refund, Payment: "PAY_1", TransferID: 1}, false},
		"a refund of nothing":               {request.Request{Kind: request.Refund}, false},
		"a payout of a coin":                {request.Request{Kind: request.Payout, Method: "crypto_bitcoin"}, true},
		"a payout of nothing that is known": {request.Request{Kind: request.Payout, Method: "cash"}, false},
		"another kind with a coin":          {request.Request{Kind: "gift", Method: "crypto_bitcoin"}, false},
	} {
		if got := c.asked.NamesSource(); got != c.want {
			t.Errorf("%s names its money: %v, want %v", what, got, c.want)
		}
	}
}

// TestErrorsOfFilesAreBounded: a file of nothing but commas, and one with rows of a wrong length, have few errors.
func TestErrorsOfFilesAreBounded(t *testing.T) {
	for what, file := range map[string]string{
		"commas":             strings.Repeat(",", request.MaxBytes),
		"a name again":       strings.Repeat("coin,", request.MaxBytes/5),
		"rows of one value":  "coin,amount,address\n" + strings.Repeat("x\n", request.MaxBytes/3),
		"rows of two values": "coin,amount,address\n" + strings.Repeat("x,y\n", request.MaxBytes/5),
	} {
		p, err := request.ReadPayouts([]byte(file))
		var wrong *request.FileError
		if !errors.As(err, &wrong) || len(wrong.Rows) == 0 || len(wrong.Rows) > request.MaxRows+1 || len(p.Requests) != 0 {
			t.Errorf("%s: %d payouts and the error %T, want none and at most %d errors", what, len(p.Requests), err,
				request.MaxRows+1)
		}
	}
}
