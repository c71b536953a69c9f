package signing

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"cointill/core/money"
)

// vector is a payment as xrpl.js signs it. e2e/vectors/signing.mjs writes them.
type vector struct {
	Network            uint32
	JSON, Signed, Hash string
	Regular            bool // the account's regular key signed it
}

// payment returns what the vector's object pays.
func (v vector) payment(t testing.TB) Payment {
	t.Helper()
	var object struct {
		Account, Destination         string
		DestinationTag               *uint32
		Amount, Fee                  money.Amount
		Sequence, LastLedgerSequence uint32
		InvoiceID                    string
	}
	if err := json.Unmarshal([]byte(v.JSON), &object); err != nil {
		t.Fatal(err)
	}
	p := Payment{Account: object.Account, Destination: object.Destination, Tag: object.DestinationTag,
		Amount: object.Amount, Fee: object.Fee, Sequence: object.Sequence,
		LastLedgerSequence: object.LastLedgerSequence, NetworkID: v.Network}
	if n, err := hex.Decode(p.InvoiceID[:], []byte(object.InvoiceID)); n != 32 || err != nil {
		t.Fatalf("the invoice id %s: %v", object.InvoiceID, err)
	}
	return p
}

// TestSignatureOfXrplJsIsAccepted builds the objects of 60 payments, and checks them as xrpl.js
// signs them with keys of both kinds.
func TestSignatureOfXrplJsIsAccepted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/signed.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) == 0 {
		t.Fatalf("testdata/signed.json: %d vectors, %v", len(vectors), err)
	}
	for i, v := range vectors {
		p := v.payment(t)
		if got, err := BuildUnsigned(p); err != nil || string(got) != v.JSON {
			t.Errorf("payment %d: BuildUnsigned gives %s, %v, want %s", i, got, err, v.JSON)
		}
		signed, differences, err := CheckSigned(p, v.Signed)
		want := Signed{Hash: v.Hash, Account: p.Account, Raw: v.Signed, Fee: p.Fee, OtherKey: v.Regular}
		if err != nil || len(differences) > 0 || fmt.Sprint(signed) != fmt.Sprint(want) {
			t.Errorf("payment %d: CheckSigned gives %+v, %v, %v, want %+v", i, signed, differences, err, want)
		}
	}
}

// TestPublishedTransactions reads signed payments that were published with their hash. All lack
// the id of a send. The names say where they stand: tx3 and tx4 are in
// _code-samples/tx-serialization of github.com/XRPLF/xrpl-dev-portal, the others in
// packages/xrpl/test/wallet/index.test.ts of github.com/XRPLF/xrpl.js.
func TestPublishedTransactions(t *testing.T) {
	t.Parallel()
	const till = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
	tag := uint32(9999)
	for name, c := range map[string]struct {
		payment   Payment
		raw, hash string
		want      []string // beside the missing id of the send
		otherKey  bool
	}{
		"sign with a prepared payment": {Payment{Account: "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59",
			Destination: "rQ3PTWGLCbPz8ZCicV5tCX3xuymojTng5r", Amount: money.Units(1), Fee: money.Units(12), Sequence: 23,
			LastLedgerSequence: 8819954},
			"12000022800000002400000017201B008694F261400000000000000168400000000000000C732102A8A44DB3D4C73EEEE11DFE54D2029" +
				"103B776AA8A8D293A91D645977C9DF5F54474473045022100E8929B68B137AB2AAB1AD3A4BB253883B0C8C318DC8BB39579375751" +
				"B8E54AC502206893B2D61244AFE777DAC9FA3D9DDAC7780A9810AF4B322D629784FD626B8CE481145E7B112523F68D2F5E879DB4E" +
				"AC51C6698A693048314FDB08D07AAA0EB711793A3027304D688E10C3648",
			"AA1D2BDC59E504AA6C2416E864C615FB18042C1AB4457BEB883F7194D8C452B5", nil, true},
		"a transaction with no flags": {Payment{Account: "r45Rev1EXGxy2hAUmJPCne97KUE7qyrD3j",
			Destination: "rQ3PTWGLCbPz8ZCicV5tCX3xuymojTng5r", Amount: money.Units(20_000_000), Fee: money.Units(4),
			Sequence: 1, LastLedgerSequence: 1},
			"1200002400000001614000000001312D0068400000000000000C732102A8A44DB3D4C73EEEE11DFE54D2029103B776AA8A8D293A91D64" +
				"5977C9DF5F5447446304402201C0A74EE8ECF5ED83734D7171FB65C01D90D67040DEDCC66414BD546CE302B5802205356843841BF" +
				"FF60D15F5F5F9FB0AB9D66591778140AB2D137FF576D9DEC44BC8114EE3046A5DDF8422C40DDB93F1D522BB4FE6419158314FDB08" +
				"D07AAA0EB711793A3027304D688E10C3648",
			"E22186AE9FE477821BF361358174C2B0AC2D3289AA6F7E8C1102B3D270C41204", []string{FieldLastLedgerSequence}, true},
		"sign with lowercase hex data in memo": {Payment{Account: "rwiZ3q3D3QuG4Ga2HyGdq3kPKJRGctVG8a",
			Destination: "rUeEBYXHo8vF86Rqir3zWGRQ84W9efdAQd", Tag: &tag, Amount: money.Units(10_000_000),
			Fee: money.Units(12), Sequence: 12, LastLedgerSequence: 14000999},
			"120000228000000023000022B8240000000C2E0000270F201B00D5A36761400000000098968068400000000000000C73210305E09ED60" +
				"2D40AB1AF65646A4007C2DAC17CB6CDACDE301E74FB2D728EA057CF744730450221009C00E8439E017CA622A5A1EE7643E26B4DE9" +
				"C808DE2ABE45D33479D49A4CEC66022062175BE8733442FA2A4D9A35F85A57D58252AE7B19A66401FE238B36FA28E5A081146C185" +
				"6D0E36019EA75C56D7E8CBA6E35F9B3F71583147FB49CD110A1C46838788CD12764E3B0F837E0DDF9EA7C1F687474703A2F2F6578" +
				"616D706C652E636F6D2F6D656D6F2F67656E657269637D0472656E74E1F1",
			"41B9CB78D8E18A796CDD4B0BC6FB0EA19F64C4F25FDE23049197852CAB71D10D",
			[]string{FieldSourceTag, FieldMemos}, false},
		"sign succeeds with source.amount/destination.minAmount": {Payment{Account: "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59",
			Destination: till, Amount: money.Units(1), Fee: money.Units(12), Sequence: 1, LastLedgerSequence: 15696358},
			"12000022800200002400000001201B00EF81E661EC6386F26FC0FFFF0000000000000000000000005553440000000000054F6F784A58F" +
				"9EFB0A9EB90B83464F9D166461968400000000000000C6940000000000000646AD3504529A0465E2E000000000000000000000000" +
				"5553440000000000054F6F784A58F9EFB0A9EB90B83464F9D1664619732102A8A44DB3D4C73EEEE11DFE54D2029103B776AA8A8D2" +
				"93A91D645977C9DF5F54474463044022049AD75980A5088EBCD768547E06427736BD8C4396B9BD3762CA8C1341BD7A4F9022060C9" +
				"4071C3BDF99FAB4BEB7C0578D6EBEE083157B470699645CCE4738A41D61081145E7B112523F68D2F5E879DB4EAC51C6698A693048" +
				"314CA6EDC7A28252DAEA6F2045B24F4D7C333E146170112300000000000000000000000005553440000000000054F6F784A58F9EF" +
				"B0A9EB90B83464F9D166461900",
			"71D0B4AA13277B32E2C2E751566BB0106764881B0CAA049905A0EDAC73257745",
			[]string{FieldDestination, FieldAmount, FieldFlags, FieldSendMax, FieldDeliverMin, FieldPaths}, true},
		"tx3": {Payment{Account: "rweYz56rfmQ98cAdRaeTxQS9wVMGnrdsFp", Destination: till, Amount: money.Units(10_000_000),
			Fee: money.Units(12), Sequence: 842, LastLedgerSequence: 9902014},
			"1200002200000000240000034A201B009717BE61400000000098968068400000000000000C69D4564B964A845AC000000000000000000" +
				"0000000555344000000000069D33B18D53385F8A3185516C2EDA5DEDB8AC5C673210379F17CFA0FFD7518181594BE69FE9A10471D" +
				"6DE1F4055C6D2746AFD6CF89889E74473045022100D55ED1953F860ADC1BC5CD993ABB927F48156ACA31C64737865F4F4FF6D015A" +
				"80220630704D2BD09C8E99F26090C25F11B28F5D96A1350454402C2CED92B39FFDBAF811469D33B18D53385F8A3185516C2EDA5DE" +
				"DB8AC5C6831469D33B18D53385F8A3185516C2EDA5DEDB8AC5C6F9EA7C06636C69656E747D077274312E312E31E1F1011201F3B19" +
				"97562FD742B54D4EBDEA1D6AEA3D4906B8F100000000000000000000000000000000000000000FF014B4E9C06F24296074F7BC48F" +
				"92A97916C6DC5EA901DD39C650A96EDA48334E70CC4A85B8B2E8502CD310000000000000000000000000000000000000000000",
			"B521424226FC100A2A802FE20476A5F8426FD3F720176DC5CCCE0D75738CC208",
			[]string{FieldDestination, FieldSendMax, FieldMemos, FieldPaths}, false},
		"tx4": {Payment{Account: "rDspBaumB5u6YWRdw5BWoBP3rcExFrXxoY", Destination: "rpjU8anTxTQX97GKHsuv8TyQ659j6pPak4",
			Amount: money.Units(10_000), Fee: money.Units(100), Sequence: 3885445, LastLedgerSequence: 1},
			"12000024003B498561600000000000002710003B49848403524C52FC5B7E804DFE38271A5B1B3E46A93B684000000000000064732102FC" +
				"20ED4D4D43CFAF4E449A85F68CAEE35B59F19233773818CA05221643A09FBC74473045022100A6FFF3327662DCA0246EA196A2E56" +
				"754341D614F2A04AF2378A0B273EEB1A87F02207C47C93E185083BEA57C5725947042C279DDEC36EBAE9BACF4880DCCE7D6845181" +
				"148403524C52FC5B7E804DFE38271A5B1B3E46A93B831412F36D6C45FE5F0C37A6DFA21BE514C45D1E0655",
			"", []string{FieldAmount, FieldLastLedgerSequence}, false},
	} {
		c.payment.InvoiceID = [32]byte{1}
		signed, differences, err := CheckSigned(c.payment, c.raw)
		if err != nil || c.hash != "" && signed.Hash != c.hash || signed.OtherKey != c.otherKey {
			t.Errorf("%s: CheckSigned gives %+v, %v, want the hash %s, other key %t", name, signed, err, c.hash, c.otherKey)
		}
		got := listFields(differences)
		got = slices.DeleteFunc(got, func(field string) bool { return field == FieldInvoiceID })
		if len(differences) != len(c.want)+1 || !slices.Equal(got, c.want) {
			t.Errorf("%s: got differences %v, want %v", name, got, c.want)
		}
	}
}

// TestHigherSignatureIsRefused reads a payment of 2013 from the test data of ripple-binary-codec
// (codec-fixtures.json), whose s is in the upper half, as servers no longer accept it.
func TestHigherSignatureIsRefused(t *testing.T) {
	t.Parallel()
	p := Payment{Account: "r3kmLJN5D28dHuH8vZNUZpMC43pEHpaocV", Destination: "rLQBHVhFnaC5gLEkgr6HgBJJ3bgeZHg9cj",
		Amount: money.Units(10_000_000_000), Fee: money.Units(10), Sequence: 62, LastLedgerSequence: 1,
		InvoiceID: [32]byte{1}}
	const raw = "1200002200000000240000003E6140000002540BE40068400000000000000A7321034AADB09CFF4A4804073701EC53C3510CDC9591" +
		"7C2BB0150FB742D0C66E6CEE9E74473045022022EB32AECEF7C644C891C19F87966DF9C62B1F34BABA6BE774325E4BB8E2DD62022100" +
		"A51437898C28C2B297112DF8131F2BB39EA5FE613487DDD611525F17962646398114550FC62003E785DC231A1058A05E56E3F09CF4E6" +
		"8314D4CC8AB5B21D86A82C3E9E8D0ECF2404B77FECBA"
	if _, differences, err := CheckSigned(p, raw); err != ErrSignature {
		t.Errorf("CheckSigned gives %v, %v, want %v", differences, err, ErrSignature)
	}
}
