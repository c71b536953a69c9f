package words_test

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/BurntSushi/toml"

	"cointill/core/sandbox"
	"cointill/core/webhook/diagnose"
	"cointill/views/words"
)

// TestRemarksAreByReason: each remark belongs to a reason that a payment has.
func TestRemarksAreByReason(t *testing.T) {
	for _, lang := range words.DashboardLanguages()[1:] {
		var sentences struct{ Remarks map[string]string }
		if _, err := toml.DecodeFile("errors/"+lang+".toml", &sentences); err != nil {
			t.Fatalf("%s: %v", lang, err)
		}
		english := dashboardCatalogue(t, "en")
		for reason := range sentences.Remarks {
			if _, known := english["payment.reason_"+reason]; !known {
				t.Errorf("%s: no payment has the reason %s", lang, reason)
			}
		}
	}
}

// TestProblemsAreByCode: each code of an attempt without an answer, and of what switches a webhook off, has its sentence,
// and each sentence has a code.
func TestProblemsAreByCode(t *testing.T) {
	var codes []string
	for file, code := range map[string]string{"diagnose/problem.go": ` Code = "(\w+)"`, "reason.go": `Reason{"(\w+)"`} {
		text, err := os.ReadFile("../../core/webhook/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(code).FindAllStringSubmatch(string(text), -1) {
			codes = append(codes, found[1])
		}
	}
	for _, lang := range words.DashboardLanguages()[1:] {
		var sentences struct{ Problems map[string]string }
		if _, err := toml.DecodeFile("errors/"+lang+".toml", &sentences); err != nil {
			t.Fatalf("%s: %v", lang, err)
		}
		got := slices.Sorted(maps.Keys(sentences.Problems))
		if want := slices.Sorted(slices.Values(codes)); !slices.Equal(got, want) {
			t.Errorf("%s: the problems are %v, want %v", lang, got, want)
		}
		if got := words.Problem(words.WithLanguage(t.Context(), lang), codes[0], "As it is."); got != sentences.Problems[codes[0]] {
			t.Errorf("Problem(%s) in %s is %q, want %q", codes[0], lang, got, sentences.Problems[codes[0]])
		}
	}
	if got := words.Problem(t.Context(), codes[0], "As it is."); got != "As it is." {
		t.Errorf("Problem(%s) in English is %q, want the sentence itself", codes[0], got)
	}
}

// TestTroubleIsByCode: each trouble of a network has its sentence, and each sentence a trouble.
func TestTroubleIsByCode(t *testing.T) {
	source, err := os.ReadFile("../../core/networks/trouble.go")
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, found := range regexp.MustCompile(` TroubleCode = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		codes = append(codes, found[1])
	}
	slices.Sort(codes)
	for _, lang := range words.DashboardLanguages()[1:] {
		var sentences struct{ Networks map[string]string }
		if _, err := toml.DecodeFile("errors/"+lang+".toml", &sentences); err != nil {
			t.Fatalf("%s: %v", lang, err)
		}
		if got := slices.Sorted(maps.Keys(sentences.Networks)); !slices.Equal(got, codes) || len(codes) == 0 {
			t.Errorf("%s: the sentences are of %v, want %v", lang, got, codes)
		}
		got, want := words.Trouble(words.WithLanguage(t.Context(), lang), codes[0], "As it is."), sentences.Networks[codes[0]]
		if got != want {
			t.Errorf("the trouble %s in %s is %q, want %q", codes[0], lang, got, want)
		}
	}
	if got := words.Trouble(t.Context(), codes[0], "As it is."); got != "As it is." {
		t.Errorf("the trouble %s in English is %q, want the sentence itself", codes[0], got)
	}
}

// TestAdviceIsByCode: each advice on a webhook's failed attempt has its sentence, and each sentence has an advice.
func TestAdviceIsByCode(t *testing.T) {
	codes := map[string]bool{}
	for status := 100; status < 600; status++ {
		if status < 200 || status > 299 {
			codes[diagnose.AdviceCode(status, "")] = true
		}
	}
	problem, err := os.ReadFile("../../core/webhook/diagnose/problem.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(` Code = "(\w+)"`).FindAllStringSubmatch(string(problem), -1) {
		codes[diagnose.AdviceCode(0, diagnose.Code(found[1]))] = true
	}
	codes[diagnose.AdviceCode(0, "of a later release")] = true
	for _, lang := range words.DashboardLanguages()[1:] {
		var sentences struct{ Advice map[string]string }
		if _, err := toml.DecodeFile("errors/"+lang+".toml", &sentences); err != nil {
			t.Fatalf("%s: %v", lang, err)
		}
		if got, want := slices.Sorted(maps.Keys(sentences.Advice)), slices.Sorted(maps.Keys(codes)); !slices.Equal(got, want) {
			t.Errorf("%s: the advice is on %v, want %v", lang, got, want)
		}
		if got := words.Advice(words.WithLanguage(t.Context(), lang), "answered_404", "As it is."); got != sentences.Advice["answered_404"] {
			t.Errorf("the advice on a 404 in %s is %q, want %q", lang, got, sentences.Advice["answered_404"])
		}
	}
	if got := words.Advice(t.Context(), "answered_404", "As it is."); got != "As it is." {
		t.Errorf("the advice on a 404 in English is %q, want the sentence itself", got)
	}
	if got := diagnose.AdviceCode(204, ""); got != "" {
		t.Errorf("the advice on a success has the code %q, want none", got)
	}
}

// TestScenariosAreByCode: the sandbox's scenarios, each variant of their explanations, the next steps, and the ways
// to sign a send have their words, with the blanks of the English ones.
func TestScenariosAreByCode(t *testing.T) {
	labels, signs, signed := map[string]string{}, map[string]string{}, map[string]string{}
	for _, s := range sandbox.Scenarios() {
		labels[s.Code] = s.Label
	}
	for _, s := range sandbox.SendScenarios() {
		signs[s.Code], signed[s.Code] = s.Label, s.Explanation
	}
	for _, lang := range words.DashboardLanguages()[1:] {
		var own struct{ Sandbox, Sends map[string]map[string]string }
		if _, err := toml.DecodeFile("errors/"+lang+".toml", &own); err != nil {
			t.Fatalf("%s: %v", lang, err)
		}
		for name, c := range map[string]struct {
			english, own map[string]string
			say          func(ctx context.Context, code, english string) string
		}{
			"sandbox.labels":       {labels, own.Sandbox["labels"], words.ScenarioLabel},
			"sandbox.explanations": {sandbox.Explanations(), own.Sandbox["explanations"], words.ScenarioText},
			"sandbox.next":         {sandbox.NextSentences(), own.Sandbox["next"], sayNext},
			"sends.labels":         {signs, own.Sends["labels"], words.SignLabel},
			"sends.explanations":   {signed, own.Sends["explanations"], words.SignText},
		} {
			if got, want := slices.Sorted(maps.Keys(c.own)), slices.Sorted(maps.Keys(c.english)); !slices.Equal(got, want) {
				t.Errorf("%s: %s are of %v, want %v", lang, name, got, want)
			}
			for code, english := range c.english {
				compare(t, lang+": "+name+" "+code, c.own[code], english)
				said := c.say(words.WithLanguage(t.Context(), lang), code, english)
				if said == english || fillBlanks(said) != "" {
					t.Errorf("%s: %s %s is said as %q", lang, name, code, said)
				}
				if got := c.say(t.Context(), code, english); got != english {
					t.Errorf("%s %s in English is %q, want the sentence itself", name, code, got)
				}
				if got := c.say(words.WithLanguage(t.Context(), lang), "of a later release", english); got != english {
					t.Errorf("%s: %s without a code is %q, want the English sentence", lang, name, got)
				}
			}
		}
		if got := words.CodedLanguage(lang); got != lang {
			t.Errorf("sentences by code are told to readers of %s in %q", lang, got)
		}
	}
	if got := words.CodedLanguage("sw"); got != "en" {
		t.Errorf("sentences by code are told to readers of a language without them in %q, want en", got)
	}
}

// sayNext tells what comes next with a fact for each blank.
func sayNext(ctx context.Context, code, english string) string {
	return words.ScenarioNext(ctx, code, english, "Depth", "2", "Seconds", "12", "State", "Refusé", "Undone", "2", "Back", "3",
		"Blocks", "30", "Network", "Arbitrum One")
}
