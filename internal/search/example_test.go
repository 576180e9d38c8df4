package search_test

import (
	"fmt"

	"genkan/internal/search"
)

func Example() {
	index := search.New(
		search.Server{Name: "weather", Documents: []search.Document{
			{ID: "weather__forecast", Name: "get_forecast", Description: "Returns the weather forecast for a city."},
		}},
		search.Server{Name: "mail", Documents: []search.Document{
			{ID: "mail__send", Name: "send_mail", Description: "Sends an e-mail to a recipient."},
			{ID: "mail__list", Name: "list_mail", Description: "Lists the messages in the inbox."},
		}},
	)
	result := index.Search(search.Query{Text: "will it rain? show me the forecast", Limit: 1})
	for _, hit := range result.Hits {
		fmt.Println(hit.Server, hit.Document.ID)
	}
	// Output: weather weather__forecast
}
