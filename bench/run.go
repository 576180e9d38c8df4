package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// part is one group of measurements.
type part struct {
	name    string
	measure func(*lab, *report) error
}

func parts() []part {
	return []part{
		{"calls", measureCalls},
		{"history", measureHistory},
		{"workflows", measureWorkflows},
		{"stdio", measureStdio},
		{"list", measureList},
		{"start", measureStart},
		{"memory", measureMemory},
		{"kb", measureKB},
		{"memory-server", measureMemoryServer},
		{"allocations", measureAllocations},
	}
}

func partNames() string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// measureAll runs the parts one after the other. With an error comes what was
// measured until then.
func measureAll(ctx context.Context, opt options, progress io.Writer) (*report, error) {
	chosen := parts()
	if opt.only != "" {
		names := strings.Split(opt.only, ",")
		chosen = slices.DeleteFunc(chosen, func(p part) bool { return !slices.Contains(names, p.name) })
		if len(chosen) != len(names) {
			return nil, fmt.Errorf("-only takes %s", partNames())
		}
	}
	l, err := open(ctx, opt, progress)
	if err != nil {
		return nil, err
	}
	defer l.close()
	r := &report{Machine: machine(), Scale: opt.scale.name, Log: "a file, at the default level (info)"}
	for _, p := range chosen {
		if err := p.measure(l, r); err != nil {
			return r, fmt.Errorf("%s: %w", p.name, errors.Join(err, context.Cause(ctx)))
		}
	}
	return r, nil
}

func open(ctx context.Context, opt options, progress io.Writer) (*lab, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "genkan-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{
		ctx: ctx, dir: dir, self: self, scale: opt.scale, rival: opt.rival, profileDir: opt.profileDir,
		kbDir: opt.kbDir, kbItems: opt.scale.kbItems, noC: opt.noC, progress: progress,
	}
	switch {
	case opt.selfAsGenkan:
		l.genkan = []string{self, roleCommand, "genkan"}
	case opt.genkan != "":
		l.genkan = []string{opt.genkan}
	default:
		fmt.Fprintln(progress, "building genkan")
		err = l.buildGenkan()
	}
	if err == nil {
		err = l.makePristine()
	}
	if err == nil {
		err = l.startLoader()
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}
