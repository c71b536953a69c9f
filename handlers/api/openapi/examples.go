package openapi

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/handlers/api/body"
	"cointill/views/docs"
)

// request is an operation's example request. Body is JSON; without one it is empty.
type request struct {
	method, url string
	idempotency string
	body        []byte
}

// exampleRequest returns the operation's request with its parameters' examples.
func (d *Document) exampleRequest(op *Operation) request {
	path := op.Path
	for _, p := range op.Params {
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(p.Example))
		}
	}
	r := request{method: op.Method, url: d.baseURL + path}
	if op.ID == "initiatePayment" {
		r.idempotency = "order-1001"
	}
	if op.Sample != nil {
		var err error
		if r.body, err = body.EncodeJSON(op.Sample); err != nil {
			panic("openapi: an example can't be written: " + err.Error()) // a mistake in the table, found by every test
		}
	}
	return r
}

// listExamples are programs that make the request, with nothing but what their languages bring.
func (r request) listExamples() []docs.Example {
	return []docs.Example{
		{Language: "curl", Text: r.writeCurl()},
		{Language: "Node", Text: r.writeNode()},
		{Language: "PHP", Text: r.writePHP()},
		{Language: "Python", Text: r.writePython()},
	}
}

func (r request) writeCurl() string {
	command := "curl "
	if r.method != http.MethodGet && (r.method != http.MethodPost || r.body == nil) {
		command += "-X " + r.method + " "
	}
	lines := []string{command + r.url, `-H "Authorization: Bearer $COINTILL_KEY"`}
	if r.idempotency != "" {
		lines = append(lines, `-H "Idempotency-Key: `+r.idempotency+`"`)
	}
	if r.body != nil {
		lines = append(lines, `-H "Content-Type: application/json"`, "-d '"+literals{}.writeJSON(r.body, "")+"'")
	}
	return strings.Join(lines, " \\\n  ")
}

func (r request) writeNode() string {
	lines := []string{`const answer = await fetch("` + r.url + `", {`, `  method: "` + r.method + `",`, "  headers: {",
		"    Authorization: `Bearer ${process.env.COINTILL_KEY}`,"}
	if r.idempotency != "" {
		lines = append(lines, `    "Idempotency-Key": "`+r.idempotency+`",`)
	}
	if r.body != nil {
		lines = append(lines, `    "Content-Type": "application/json",`, "  },",
			"  body: JSON.stringify("+literals{}.writeJSON(r.body, "  ")+"),")
	} else {
		lines = append(lines, "  },")
	}
	return strings.Join(append(lines, "});", "console.log(answer.status, await answer.text());"), "\n")
}

func (r request) writePHP() string {
	lines := []string{"<?php", "$context = stream_context_create(['http' => [", "    'method' => '" + r.method + "',",
		"    'header' => [", "        'Authorization: Bearer ' . getenv('COINTILL_KEY'),"}
	if r.idempotency != "" {
		lines = append(lines, "        'Idempotency-Key: "+r.idempotency+"',")
	}
	if r.body != nil {
		lines = append(lines, "        'Content-Type: application/json',", "    ],",
			"    'content' => json_encode("+phpLiterals.writeJSON(r.body, "    ")+"),")
	} else {
		lines = append(lines, "    ],")
	}
	return strings.Join(append(lines, "    'ignore_errors' => true,", "    'timeout' => 20,", "]]);",
		"echo file_get_contents('"+r.url+"', false, $context);"), "\n")
}

func (r request) writePython() string {
	lines := []string{"import json", "import os", "import urllib.request", "", "request = urllib.request.Request(",
		`    "` + r.url + `",`, `    method="` + r.method + `",`, "    headers={",
		`        "Authorization": "Bearer " + os.environ["COINTILL_KEY"],`}
	if r.idempotency != "" {
		lines = append(lines, `        "Idempotency-Key": "`+r.idempotency+`",`)
	}
	if r.body != nil {
		lines = append(lines, `        "Content-Type": "application/json",`, "    },",
			"    data=json.dumps("+pythonLiterals.writeJSON(r.body, "    ")+").encode(),")
	} else {
		lines = append(lines[1:], "    },") // without a body, json isn't used
	}
	return strings.Join(append(lines, ")", "with urllib.request.urlopen(request, timeout=20) as answer:",
		"    print(answer.read().decode())"), "\n")
}

// literals says how a language writes JSON's values. The zero value writes JSON, which JavaScript reads too.
type literals struct {
	// open, closed and colon stand in objects; empty is an object without members.
	open, closed, colon, empty string
	// indent is a step of indentation; words replace true, false and null.
	indent string
	words  map[string]string
	// quote writes a text.
	quote func(string) string
}

var (
	phpLiterals = literals{open: "[", closed: "]", colon: " => ", empty: "(object) []", indent: "    ",
		quote: func(text string) string {
			return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
		}}
	pythonLiterals = literals{indent: "    ",
		words: map[string]string{"true": "True", "false": "False", "null": "None"}}
)

// writeJSON writes a JSON value in the language. All lines but the first begin with the margin.
func (l literals) writeJSON(value []byte, margin string) string {
	if l.open == "" {
		l.open, l.closed, l.colon, l.empty = "{", "}", ": ", "{}"
	}
	if l.indent == "" {
		l.indent = "  "
	}
	return l.writeValue(jsontext.NewDecoder(bytes.NewReader(value)), "\n"+margin)
}

func (l literals) writeValue(in *jsontext.Decoder, margin string) string {
	token := readToken(in)
	switch token.Kind() {
	case '{':
		members := []string{}
		for in.PeekKind() != '}' {
			members = append(members, margin+l.indent+l.writeValue(in, margin)+l.colon+l.writeValue(in, margin+l.indent))
		}
		readToken(in)
		if len(members) == 0 {
			return l.empty
		}
		return l.open + strings.Join(members, ",") + margin + l.closed
	case '[':
		members := []string{}
		for in.PeekKind() != ']' {
			members = append(members, margin+l.indent+l.writeValue(in, margin+l.indent))
		}
		readToken(in)
		if len(members) == 0 {
			return "[]"
		}
		return "[" + strings.Join(members, ",") + margin + "]"
	case '"':
		if l.quote != nil {
			return l.quote(token.String())
		}
		text, err := jsontext.AppendQuote(nil, token.String())
		if err != nil {
			panic("openapi: an example's text can't be quoted: " + err.Error())
		}
		return string(text)
	}
	if word, other := l.words[token.String()]; other {
		return word
	}
	return token.String()
}

// readToken reads the next token of an example. An example is written by the table, so it is JSON.
func readToken(in *jsontext.Decoder) jsontext.Token {
	token, err := in.ReadToken()
	if err != nil {
		panic("openapi: an example is no JSON: " + err.Error())
	}
	return token
}
