package words

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/BurntSushi/toml"

	"cointill/core/fault"
)

//go:embed errors/*.toml
var errorFiles embed.FS

// coded are the sentences that the core says in English, by their codes. Sentences of refusals and about fields are
// listed by their English texts, with the verbs of package fmt.
type coded struct {
	Remarks   map[string]string // of payments, by the reason of their state
	Advice    map[string]string // on attempts of webhooks that failed, by its code
	Via       map[string]string // in which way money came that is no payment, by the English text
	Networks  map[string]string // why a network can't be paid on, by the code of its trouble
	Problems  map[string]string // of webhooks: by the code of an attempt without an answer, and of what switched one off
	Names     map[string]string // of fields
	Sentences map[string]string // of refusals, and about fields, by their English texts
	Sandbox   scenarioWords     // what the sandbox does to payments
	Sends     scenarioWords     // what the sandbox's wallet does with sends
}

// scenarioWords are the sentences about the sandbox's scenarios, by their codes.
type scenarioWords struct {
	Labels       map[string]string // by the scenario
	Explanations map[string]string // by the variant
	Next         map[string]string // how it goes on, with blanks
}

var codedSentences = loadCoded()

// loadCoded reads the sentences by code, one file a language. English has none: the core's own
// sentences are English.
func loadCoded() map[string]coded {
	files, err := errorFiles.ReadDir("errors")
	if err != nil {
		panic("words: " + err.Error())
	}
	out := map[string]coded{}
	for _, entry := range files {
		var sentences coded
		if _, err := toml.DecodeFS(errorFiles, path.Join("errors", entry.Name()), &sentences); err != nil {
			panic("words: " + entry.Name() + ": " + err.Error())
		}
		out[strings.TrimSuffix(entry.Name(), ".toml")] = sentences
	}
	return out
}

// Translate returns a sentence in the language of the context, or in English where the language has none.
// Messages among its arguments are translated as well.
func Translate(ctx context.Context, m fault.Message) string {
	args := make([]any, len(m.Args))
	for i, arg := range m.Args {
		if inner, ok := arg.(fault.Message); ok {
			arg = Translate(ctx, inner)
		}
		args[i] = arg
	}
	return fmt.Sprintf(cmp.Or(codedSentences[LanguageOf(ctx)].Sentences[m.Text], m.Text), args...)
}

// TranslateFields returns the sentences of each field in the language of the context.
func TranslateFields(ctx context.Context, fields fault.Fields) map[string][]string {
	all := make(map[string][]string, len(fields))
	for field, messages := range fields {
		for _, m := range messages {
			all[field] = append(all[field], Translate(ctx, m))
		}
	}
	return all
}

// Remark returns the remark of a payment's state whose amounts aren't known, in the language of the
// context: the one of the state's reason, or the English remark where the language has none.
func Remark(ctx context.Context, reason, remark string) string {
	return cmp.Or(codedSentences[LanguageOf(ctx)].Remarks[reason], remark)
}

// Problem returns why a webhook fails in the language of the context: the sentence of the code, or the English one where
// the language has none.
func Problem(ctx context.Context, code, sentence string) string {
	return cmp.Or(codedSentences[LanguageOf(ctx)].Problems[code], sentence)
}

// Advice returns what to do about a webhook's failed attempt in the language of the context: the sentence of the
// advice's code, or the English one where the language has none.
func Advice(ctx context.Context, code, sentence string) string {
	return cmp.Or(codedSentences[LanguageOf(ctx)].Advice[code], sentence)
}

// Via returns in which way money came that is no payment, in the language of the context: our own texts are translated,
// and the network's names of its transactions are not.
func Via(ctx context.Context, via string) string {
	return cmp.Or(codedSentences[LanguageOf(ctx)].Via[via], via)
}

// FieldName returns the name of a form's field for a sentence away from the form, in the language of the context; "" where
// the language has none.
func FieldName(ctx context.Context, field string) string {
	if lang := LanguageOf(ctx); lang != Languages[0] {
		return codedSentences[lang].Names[field]
	}
	return strings.ToUpper(field[:1]) + strings.ReplaceAll(field[1:], "_", " ")
}

// Trouble returns why a network can't be paid on in the language of the context: the sentence of the trouble's code, or
// the English one where the language has none.
func Trouble(ctx context.Context, code, sentence string) string {
	return cmp.Or(codedSentences[LanguageOf(ctx)].Networks[code], sentence)
}

// ScenarioLabel returns what one of the sandbox's scenarios is called in the language of the context: the label of its
// code, or the English one where the language has none.
func ScenarioLabel(ctx context.Context, code, label string) string {
	return cmp.Or(codedSentences[LanguageOf(ctx)].Sandbox.Labels[code], label)
}

// ScenarioText returns what a scenario does to a payment in the language of the context: the sentence of the variant's
// code, or the English one where the language has none.
func ScenarioText(ctx context.Context, variant, sentence string) string {
	return cmp.Or(codedSentences[LanguageOf(ctx)].Sandbox.Explanations[variant], sentence)
}

// ScenarioNext says how a payment goes on after a scenario in the language of the context: the sentence of the code with
// the facts in its blanks, or the English one where the language has none. facts are names and values.
func ScenarioNext(ctx context.Context, code, sentence string, facts ...string) string {
	own := codedSentences[LanguageOf(ctx)].Sandbox.Next[code]
	if own == "" {
		return sentence
	}
	return joinParts(splitBlanks(own), fillBlanks(LanguageOf(ctx), facts))
}

// SignLabel returns what a way of the sandbox's wallet to sign a send is called, as ScenarioLabel does.
func SignLabel(ctx context.Context, code, label string) string {
	return cmp.Or(codedSentences[LanguageOf(ctx)].Sends.Labels[code], label)
}

// SignText returns what the sandbox's wallet does with a send, as ScenarioText does.
func SignText(ctx context.Context, code, sentence string) string {
	return cmp.Or(codedSentences[LanguageOf(ctx)].Sends.Explanations[code], sentence)
}

// CodedLanguage returns the language in which readers of a language read the sentences that the core says in
// English: their own, or English where it has none.
func CodedLanguage(lang string) string {
	if _, known := codedSentences[lang]; known {
		return lang
	}
	return Languages[0]
}
