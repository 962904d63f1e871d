package main

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	forkedjson "k8s.io/apimachinery/third_party/forked/golang/json"
)

// The workload kinds. The table has these and all that they are made of.
var roots = []any{
	appsv1.DaemonSet{},
	appsv1.Deployment{},
	appsv1.ReplicaSet{},
	appsv1.StatefulSet{},
	batchv1.CronJob{},
	batchv1.Job{},
	corev1.Pod{},
	corev1.PodTemplate{},
}

// reachable finds every struct type below the roots that has fields in JSON.
func reachable() (map[string]reflect.Type, error) {
	types := map[string]reflect.Type{}
	var queue []reflect.Type
	for _, root := range roots {
		queue = append(queue, reflect.TypeOf(root))
	}
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		if known, ok := types[t.Name()]; ok {
			if known != t {
				return nil, fmt.Errorf("two types are named %s: %s and %s", t.Name(), known.PkgPath(), t.PkgPath())
			}
			continue
		}
		fields := fieldNames(t)
		if len(fields) == 0 {
			continue
		}
		types[t.Name()] = t
		for _, name := range fields {
			field, _, _, err := forkedjson.LookupPatchMetadataForStruct(t, name)
			if err != nil {
				return nil, err
			}
			if s := structOf(field); s != nil {
				queue = append(queue, s)
			}
		}
	}
	return types, nil
}

// fieldNames yields what may be the JSON names of a struct's fields. Whether
// they are is for the lookup of Kubernetes to say.
func fieldNames(t reflect.Type) []string {
	names := map[string]bool{}
	for i := range t.NumField() {
		field := t.Field(i)
		tag := field.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case !field.IsExported() || tag == "-":
		case name != "":
			names[name] = true
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			for _, inner := range fieldNames(field.Type) {
				names[inner] = true
			}
		default:
			names[field.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// structOf is the struct that a field holds, or lists, or points to.
func structOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct {
		return t
	}
	return nil
}

func printTable(types map[string]reflect.Type) error {
	out := bufio.NewWriter(os.Stdout)
	for _, name := range slices.Sorted(maps.Keys(types)) {
		t := types[name]
		fmt.Fprintf(out, "%s:", name)
		for _, field := range fieldNames(t) {
			word, err := describe(t, field, types)
			if err != nil {
				return fmt.Errorf("%s.%s: %w", name, field, err)
			}
			fmt.Fprintf(out, " %s", word)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// describe writes a field as one word: its name, its shape, and the type of
// what it holds if that is in the table. Shapes are
//
//	=       a value, which is never taken for a list
//	*       a pointer, which Go takes for a list if both documents have one
//	[]      a list that is replaced
//	[key]   a list of objects, merged by their key
//	[+]     a list of scalars, merged as a set
func describe(t reflect.Type, name string, types map[string]reflect.Type) (string, error) {
	field, strategies, key, err := forkedjson.LookupPatchMetadataForStruct(t, name)
	if err != nil {
		return "", err
	}
	// Only who computes a patch needs to know of retainKeys; in a patch it is a directive.
	strategies = slices.DeleteFunc(strategies, func(s string) bool { return s == "" || s == "retainKeys" })
	merged := len(strategies) == 1 && strategies[0] == "merge"
	if !merged && (len(strategies) > 0 || key != "") {
		return "", fmt.Errorf("strategies %v and key %q are more than the table can say", strategies, key)
	}
	pointer := field.Kind() == reflect.Pointer
	inner := field
	if pointer {
		inner = field.Elem()
	}
	list := inner.Kind() == reflect.Slice
	if list {
		inner = inner.Elem()
	}
	if inner.Kind() == reflect.Slice || merged && !list {
		return "", fmt.Errorf("the table cannot describe %s", field)
	}
	shape := "="
	switch {
	case list && key != "":
		shape = "[" + key + "]"
	case list && merged:
		shape = "[+]"
	case list:
		shape = "[]"
	case pointer:
		shape = "*"
	}
	held := ""
	if s := structOf(inner); s != nil && types[s.Name()] == s {
		held = s.Name()
	}
	return name + shape + held, nil
}
