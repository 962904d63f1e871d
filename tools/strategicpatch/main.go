// Kubernetes' own strategic merge patch as a program. Every line of input is
// a question,
//
//	{"type": "PodSpec", "original": {…}, "patch": {…}}
//
// and is answered with one line, {"result": {…}} or {"error": "…"}. With the
// argument "table" it prints what Go knows about merging each type instead.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

type question struct {
	Type     string          `json:"type"`
	Original json.RawMessage `json:"original"`
	Patch    json.RawMessage `json:"patch"`
}

type answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func main() {
	types, err := reachable()
	if err == nil {
		if len(os.Args) > 1 && os.Args[1] == "table" {
			err = printTable(types)
		} else {
			err = answerAll(types)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answerAll(types map[string]reflect.Type) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := answers.Encode(answerTo(lines.Bytes(), types)); err != nil {
			return err
		}
	}
	return lines.Err()
}

// answerTo takes a panic for an error: Kubernetes compares values that Go
// cannot compare when a document has an object where none belongs.
func answerTo(line []byte, types map[string]reflect.Type) (a answer) {
	defer func() {
		if reason := recover(); reason != nil {
			a = answer{Error: fmt.Sprintf("panic: %v", reason)}
		}
	}()
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return answer{Error: fmt.Sprintf("not a question: %v", err)}
	}
	t, known := types[q.Type]
	if !known {
		return answer{Error: fmt.Sprintf("not a question: no type %s", q.Type)}
	}
	result, err := strategicpatch.StrategicMergePatch(q.Original, q.Patch, reflect.New(t).Interface())
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Result: result}
}
