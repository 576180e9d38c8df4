package cli

import (
	"context"
	"slices"

	"genkan/internal/api/client"
	"genkan/internal/gateway"
)

// usualStatuses are the statuses of items unless the configuration names others.
func usualStatuses() []gateway.Text {
	return []gateway.Text{
		gateway.Textf("Open"), gateway.Textf("Specification"), gateway.Textf("Waiting"), gateway.Textf("Ready"),
		gateway.Textf("In Progress"), gateway.Textf("Review"), gateway.Textf("Testing"), gateway.Textf("Pending"),
		gateway.Textf("Completed"), gateway.Textf("Closed"), gateway.Textf("Canceled"), gateway.Textf("Rejected"),
	}
}

// priorities are those of items.
func priorities() []gateway.Text {
	return []gateway.Text{gateway.Textf("CRITICAL"), gateway.Textf("HIGH"), gateway.Textf("MEDIUM"), gateway.Textf("LOW"), gateway.Textf("MINIMAL")}
}

// shownWord returns a status or a priority as tables show it. A status of the configuration
// stays as it is.
func (c *command) shownWord(word string, known []gateway.Text) string {
	for _, t := range known {
		if t.Format == word {
			return c.language.Text(t)
		}
	}
	return word
}

func (c *command) shownStatus(status string) string { return c.shownWord(status, usualStatuses()) }

func (c *command) shownPriority(priority string) string { return c.shownWord(priority, priorities()) }

// meantStatus returns the name of a status that may be written as tables show it. One that
// the knowledge base has is meant as it is written.
func (c *command) meantStatus(ctx context.Context, remote *client.Client, status string) string {
	for _, t := range usualStatuses() {
		if t.Format == status || c.language.Text(t) != status {
			continue
		}
		list, err := remote.Statuses(ctx) // without it, what tables show is meant
		if err == nil && slices.ContainsFunc(list.Statuses, func(s client.Status) bool { return s.Name == status }) {
			return status
		}
		return t.Format
	}
	return status
}

func (c *command) meantStatuses(ctx context.Context, remote *client.Client, statuses []string) {
	for i := range statuses {
		statuses[i] = c.meantStatus(ctx, remote, statuses[i])
	}
}
