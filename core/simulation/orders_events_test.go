package simulation_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"cointill/core/money"
	"cointill/models"
)

// tellsOfSend lists the types of the events that a change of a send's state asks for.
func tellsOfSend(s models.SendStep) (types []string) {
	if s.Kind != "state" || s.From == s.To {
		return nil
	}
	switch s.To {
	case "processing":
		return []string{"send.processing"}
	case "successful":
		if s.From != "processing" {
			types = append(types, "send.processing")
		}
		return append(types, "send.successful")
	case "failed":
		return []string{"send.failed"}
	case "rejected", "cancelled", "expired":
		if s.From != "failed" { // its end had an event then
			return []string{"send.cancelled"}
		}
	}
	return nil
}

// stepOfEvent returns what the event of a type says of a change. A send that is final when it is first seen was
// processing before that.
func stepOfEvent(kind string, s models.SendStep) models.SendStep {
	if kind != "send.processing" || s.To != "successful" {
		return s
	}
	s.To, s.Reason = "processing", ""
	if slices.Contains([]string{"rejected", "cancelled", "expired"}, s.From) {
		s.Reason = "sent_anyway"
	}
	return s
}

// sendsTold compares the events of sends with their timelines (33), and each change of state against
// the contract's table.
func (w *world) sendsTold(db *models.DB, events []models.Event) {
	var rows []models.Send
	var steps []models.SendStep
	w.must(db.Read(w.t.Context()).Order("id").Find(&rows).Error)
	w.must(db.Read(w.t.Context()).Order("send_id, number").Find(&steps).Error)
	for _, row := range rows {
		of := slices.DeleteFunc(slices.Clone(steps), func(s models.SendStep) bool { return s.SendID != row.ID })
		told := slices.DeleteFunc(slices.Clone(events), func(e models.Event) bool {
			return e.SendID == nil || *e.SendID != row.ID
		})
		slices.SortFunc(told, func(a, b models.Event) int { return a.Sequence - b.Sequence })
		w.orderOf(row).checkTold(row, of, told)
	}
}

// checkTold holds one send's events against its timeline.
func (o *order) checkTold(row models.Send, steps []models.SendStep, events []models.Event) {
	at := ""
	var asked, told []string
	var says []models.SendStep
	for _, s := range steps {
		if s.Kind == "state" {
			if edge := s.From + ">" + s.To; s.From != at || s.From != s.To && !slices.Contains(sendTable, edge) {
				o.find("invariant 31: send %d went %q (%s) after %q", o.number, edge, s.Reason, at)
			} else if s.From != s.To {
				o.count("send edge " + edge)
			}
			at = s.To
		}
		for _, kind := range tellsOfSend(s) {
			asked, says = append(asked, fmt.Sprint(kind, " ", s.CreatedAt.UnixMicro())), append(says, stepOfEvent(kind, s))
		}
	}
	processed := 0
	for i, e := range events {
		if e.Type == "send.processed" {
			processed++
			var began *models.SendStep
			if events[max(0, i-1)].Type != "send.processing" {
				o.find("invariant 33: send %d was processed before it was processing", o.number)
			} else if len(told) <= len(says) {
				began = &says[len(told)-1]
			}
			o.checkBody(row, e, i+1, began)
			continue
		}
		if told = append(told, fmt.Sprint(e.Type, " ", e.CreatedAt.UnixMicro())); len(told) <= len(says) {
			o.checkBody(row, e, i+1, &says[len(told)-1])
		}
	}
	if !slices.Equal(asked, told) {
		o.find("invariant 33: send %d (%s) has %d changes to tell of and %d events: %s", o.number, row.Status,
			len(asked), len(told), firstDifference(asked, told))
	}
	once := row.ProcessedAt != nil
	if once != (processed == 1) || processed > 1 || row.Status == "successful" && !once {
		o.find("invariant 33: send %d (%s) was confirmed first at %v, and its merchant was told %d times", o.number,
			row.Status, row.ProcessedAt, processed)
	}
}

// checkBody holds an event's body against the send and, where the change of state is known, its state then.
func (o *order) checkBody(row models.Send, e models.Event, sequence int, s *models.SendStep) {
	var m message
	o.must(json.Unmarshal([]byte(e.Body), &m))
	got := fmt.Sprint(m.ID, m.Type, m.Domain, m.Timestamp.UnixMicro(), m.Sequence, m.Data.ID,
		m.Data.BusinessReference, m.Data.Amount)
	want := fmt.Sprint(e.ID, e.Type, "test", e.CreatedAt.UnixMicro(), sequence, row.Reference,
		row.BusinessReference, money.Coin(row.Coin).Format(row.Amount))
	if got != want {
		o.find("invariant 33: send %d was told of as %s, and is %s", o.number, got, want)
	}
	if s != nil && (m.Data.Status != s.To || m.Data.Reason != s.Reason) {
		o.find("invariant 33: %s of send %d says %s (%s), and it became %s (%s)", e.Type, o.number, m.Data.Status,
			m.Data.Reason, s.To, s.Reason)
	}
}
