package app

import (
	"testing"

	"genkan/internal/gateway"
)

// BenchmarkAudience is what a list and the step that finds the tool of a call cost while
// there are no tools/list workflows.
func BenchmarkAudience(b *testing.B) {
	h := openHouse(b, servers(conf{"a": child(b)}))
	h.waitReady("a")
	house, who := h.house.Load(), gateway.Identity{ClientID: "mine"}
	view := house.Place(who, gateway.View{})
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := house.Page(b.Context(), view, gateway.KindTool, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("call", func(b *testing.B) {
		call := &gateway.Call{Kind: gateway.KindTool, Name: "a__echo", Caller: gateway.Caller{Identity: who, View: view}}
		b.ReportAllocs()
		for b.Loop() {
			call.Tool = nil
			if err := house.find(call); err != nil {
				b.Fatal(err)
			}
		}
	})
}
