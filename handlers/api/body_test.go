package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cointill/models"
)

// trap is a body that a lenient reader would misread.
type trap struct {
	name   string
	body   string
	status int
	fields string // of a 422, in order of the alphabet
}

func traps() []trap {
	good := body()
	open := strings.TrimSuffix(good, "}")
	with := func(field, value string) string { return body(field, value) }
	all := "amount currency email first_name last_name payment_method"
	return []trap{
		// unreadable
		{"empty", "", 400, ""}, {"blanks", " \n\t", 400, ""}, {"not JSON", "amount=5", 400, ""}, {"cut off", open, 400, ""},
		{"cut off in a text", `{"currency":"NG`, 400, ""}, {"cut off in a name", `{"curr`, 400, ""}, {"one brace", "{", 400, ""},
		{"byte order mark", "\ufeff" + good, 400, ""}, {"UTF-16", "{\x00\"\x00a\x00", 400, ""}, {"trailing comma", open + ",}", 400, ""},
		{"comment", open + "/* hi */}", 400, ""}, {"single quotes", "{'amount':1}", 400, ""}, {"bare name", `{amount:1}`, 400, ""},
		{"trailing text", good + "x", 400, ""}, {"trailing document", good + good, 400, ""}, {"trailing number", good + " 1", 400, ""},
		{"trailing NUL", good + "\x00", 400, ""}, {"trailing brace", good + "}", 400, ""}, {"leading comma", "," + good, 400, ""},
		{"duplicate", open + `,"amount":1}`, 400, ""}, {"duplicate, escaped", open + `,"\u0061mount":1}`, 400, ""},
		{"duplicate unknown", open + `,"x":1,"x":2}`, 400, ""}, {"duplicate nested", with("metadata", `{"a":{"b":1,"b":2}}`), 400, ""},
		{"duplicate in an array", with("metadata", `[{"b":1,"b":1}]`), 400, ""}, {"duplicate in unknown", open + `,"x":{"y":1,"y":1}}`, 400, ""},
		{"raw NUL in a text", with("first_name", "\"A\x00\""), 400, ""}, {"raw line feed in a text", with("first_name", "\"A\nB\""), 400, ""},
		{"bad UTF-8", with("first_name", "\"A\xff\""), 400, ""}, {"bad UTF-8 in metadata", with("metadata", "{\"a\":\"\xc3\"}"), 400, ""},
		{"bad UTF-8 in a name", open + ",\"\xff\":1}", 400, ""}, {"overlong UTF-8", with("first_name", "\"\xc0\x80\""), 400, ""},
		{"surrogate in UTF-8", with("first_name", "\"\xed\xa0\x80\""), 400, ""}, {"lone surrogate", with("first_name", `"\ud800"`), 400, ""},
		{"lone low surrogate", with("metadata", `["\udc00"]`), 400, ""}, {"bad escape", with("first_name", `"\x41"`), 400, ""},
		{"short escape", with("first_name", `"\u12"`), 400, ""}, {"leading zero", with("amount", "05"), 400, ""}, {"plus", with("amount", "+5"), 400, ""},
		{"hex", with("amount", "0x5"), 400, ""}, {"point first", with("amount", ".5"), 400, ""}, {"point last", with("amount", "5."), 400, ""},
		{"NaN", with("amount", "NaN"), 400, ""}, {"Infinity", with("amount", "Infinity"), 400, ""}, {"underscore", with("amount", "1_000"), 400, ""},
		{"capital true", with("metadata", "True"), 400, ""}, {"depth 20,000", with("metadata", strings.Repeat("[", 20000)+strings.Repeat("]", 20000)), 400, ""},
		// no object
		{"null", "null", 422, "body"}, {"array", "[" + good + "]", 422, "body"}, {"text", `"x"`, 422, "body"}, {"number", "5", 422, "body"}, {"true", "true", 422, "body"},
		// wrong type
		{"empty object", "{}", 422, all}, {"other case", strings.ToUpper(`{"amount":1}`), 422, all}, {"1.0", with("amount", "1.0"), 422, "amount"},
		{"1e3", with("amount", "1e3"), 422, "amount"}, {"1E3", with("amount", "1E3"), 422, "amount"}, {"amount as text", with("amount", `"5"`), 422, "amount"},
		{"amount null", with("amount", "null"), 422, "amount"}, {"amount true", with("amount", "true"), 422, "amount"}, {"amount array", with("amount", "[5]"), 422, "amount"},
		{"name as number", with("first_name", "7"), 422, "first_name"}, {"e-mail null", with("email", "null"), 422, "email"},
		{"currency array", with("currency", `["NGN"]`), 422, "currency"}, {"metadata text", with("metadata", `"{}"`), 422, "metadata"},
		{"metadata null", with("metadata", "null"), 422, "metadata"}, {"metadata number", with("metadata", "1"), 422, "metadata"},
		{"reference number", with("business_reference", "1"), 422, "business_reference"}, {"reference null", with("business_reference", "null"), 422, "business_reference"},
		// wrong value
		{"0", with("amount", "0"), 422, "amount"}, {"-0", with("amount", "-0"), 422, "amount"}, {"-1", with("amount", "-1"), 422, "amount"},
		{"1,000,001", with("amount", "1000001"), 422, "amount"}, {"2^53+1", with("amount", "9007199254740993"), 422, "amount"},
		{"2^63", with("amount", "9223372036854775808"), 422, "amount"}, {"-2^63-1", with("amount", "-9223372036854775809"), 422, "amount"},
		{"400 digits", with("amount", strings.Repeat("9", 400)), 422, "amount"}, {"escaped NUL in a name", with("first_name", `"A\u0000"`), 422, "first_name"},
		{"escaped NUL in metadata", with("metadata", `{"a":"\u0000"}`), 422, "metadata"}, {"escaped NUL in a metadata key", with("metadata", `{"\u0000":1}`), 422, "metadata"},
		{"lower case currency", with("currency", `"ngn"`), 422, "currency"}, {"direction mark", with("last_name", `"\u202eibO"`), 422, "last_name"},
		{"reference empty", with("business_reference", `""`), 422, "business_reference"}, {"reference with a slash", with("business_reference", `"a/b"`), 422, "business_reference"},
		{"metadata of 17 levels", with("metadata", strings.Repeat("[", 17)+strings.Repeat("]", 17)), 422, "metadata"},
		{"metadata over 8 KiB", with("metadata", `["`+strings.Repeat("x", 8<<10)+`"]`), 422, "metadata"},
		// all right
		{"good", good, 201, ""}, {"white space", " \r\n\t" + strings.ReplaceAll(good, ",", " ,\n ") + "\n", 201, ""}, {"unknown fields", open + `,"x":[{"y":null}],"":0}`, 201, ""},
		{"escaped name and value", open + `,"\u0062usiness_reference":"\u0041\u002d1"}`, 201, ""}, {"surrogate pair", with("metadata", `["\ud83d\ude00"]`), 201, ""},
		{"backslash before u0000", with("metadata", `["\\u0000"]`), 201, ""}, {"metadata array", with("metadata", `[]`), 201, ""}, {"metadata of 16 levels", with("metadata", strings.Repeat("[", 16)+strings.Repeat("]", 16)), 201, ""},
		{"other scripts", with("first_name", `"Ọlá"`), 201, ""}, {"1,000,000", with("amount", "1000000"), 201, ""},
	}
}

// TestTraps (AP-15) sends bodies that two readers of JSON would understand differently,
// and values of every wrong kind.
func TestTraps(t *testing.T) {
	b := quick(t)
	want := 0
	for _, trap := range traps() {
		t.Run(trap.name, func(t *testing.T) {
			b.T = t
			if trap.status == 201 {
				want++
			}
			code := map[int]string{400: "unreadable_json", 422: "validation_failed"}[trap.status]
			a := b.call("POST", "/v1/payment/initiate", trap.body, "Content-Type", "application/json")
			fields := strings.Join(slices.Sorted(maps.Keys(a.Body.Errors)), " ")
			if a.Status != trap.status || a.Body.Code != code || fields != trap.fields {
				t.Errorf("%d %s [%s], want %d [%s]: %s", a.Status, a.Body.Code, fields, trap.status, trap.fields, a.Raw)
			}
		})
	}
	b.T = t
	var stored int64
	b.must(b.db.Read(t.Context()).Model(&models.Payment{}).Count(&stored).Error)
	if stored != int64(want) {
		t.Errorf("%d payments stored, want %d", stored, want)
	}
}

// TestErrorCodes: each sentence about a field has its code for programs, whether the shape of the value, the value or a
// query parameter is wrong.
func TestErrorCodes(t *testing.T) {
	b := quick(t)
	for asked, want := range map[[3]string]string{
		{"POST", "/v1/payment/initiate", `{"amount":0,"currency":"GHS","email":7,"payment_method":"cash"}`}: `{"amount":["out_of_range"],` +
			`"currency":["unknown_value"],"email":["wrong_type"],"first_name":["required"],"last_name":["required"],` +
			`"payment_method":["unknown_value"]}`,
		{"GET", "/v1/payments?limit=0&limit=1&statuss=x", ""}: `{"statuss":["unknown_parameter"]}`,
		{"GET", "/v1/payments?limit=5&limit=6&from=x", ""}:    `{"from":["wrong_format"],"limit":["repeated"]}`,
	} {
		a := b.expect(b.call(asked[0], asked[1], asked[2]), 422, "validation_failed")
		if got, err := json.Marshal(a.Body.ErrorCodes); err != nil || string(got) != want {
			t.Errorf("%s %s has the codes %s (%v), want %s", asked[0], asked[1], got, err, want)
		}
	}
}

// TestUnknownParameters sends every operation a parameter that it doesn't have: it is refused by its name, and nothing
// happens. One with a likely name says which it was meant to be.
func TestUnknownParameters(t *testing.T) {
	b := quick(t)
	for path, item := range b.tree()["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			if _, is := operation.(map[string]any); !is || path == "/v1/openapi.json" { // that one takes no key
				continue
			}
			at := regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(path, "PAY_1") + "?surprise=1"
			a := b.call(strings.ToUpper(method), at, "")
			if a.Status != 422 || a.Body.Code != "validation_failed" || len(a.Body.Errors) != 1 || len(a.Body.Errors["surprise"]) != 1 {
				t.Errorf("%s %s answers %d %s, want 422 for surprise", method, at, a.Status, a.Raw)
			}
		}
	}
	many := url.Values{"statuss": {"pending"}, "limit": {"5"}, strings.Repeat("é", 40): {"1"}}
	for i := range 20 {
		many.Set(fmt.Sprint("filter", i), "1")
	}
	if a := b.call("GET", "/v1/payments?"+many.Encode(), ""); a.Status != 422 || len(a.Body.Errors) != 10 {
		t.Errorf("22 unknown parameters answer %d %s, want 422 for ten of them", a.Status, a.Raw)
	}
	wrong := b.call("GET", "/v1/payments?statuss=pending&"+strings.Repeat("%C3%A9", 40)+"=1&%FF=1", "")
	if said := fmt.Sprint(wrong.Body.Errors["statuss"]); wrong.Status != 422 || len(wrong.Body.Errors) != 3 ||
		!strings.Contains(said, "did you mean status?") || len(wrong.Body.Errors[strings.Repeat("é", 32)]) != 1 {
		t.Errorf("a mistyped, a long and a broken name answer %d %s", wrong.Status, wrong.Raw)
	}
}

// The server's own tests send larger ones, over a socket.
func TestBodiesAtTheEdge(t *testing.T) {
	b := quick(t)
	pad := func(n int) string { return body("x", `"`+strings.Repeat("y", n-len(body("x", `""`)))+`"`) }
	b.expect(b.call("POST", "/v1/payment/initiate", pad(64<<10)), 201, "")
	b.expect(b.call("POST", "/v1/payment/initiate", body(), "Content-Encoding", "gzip"), 415, "unsupported_media_type")
	b.expect(b.call("POST", "/v1/payment/initiate", body(), "Content-Type", "text/plain"), 415, "unsupported_media_type")
	b.expect(b.call("PUT", "/v1/payment/initiate", body()), 405, "method_not_allowed")
	b.expect(b.call("GET", "/v1/payment/initiate", ""), 405, "method_not_allowed")
	b.expect(b.call("GET", "/v1/nowhere", ""), 404, "not_found")
	b.expect(b.call("GET", "/v1/Payments", ""), 404, "not_found")
}
