// Checks a proof of a log, and the growth from an older checkpoint, with Go's own packages.
// Input, as lines of JSON: {"note", "key", "entry", "leaf", "proof", "old_size", "old_root", "growth"}.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type given struct {
	Note, Key, Entry string
	Leaf             int64
	Proof            []string
	OldSize          int64  `json:"old_size"`
	OldRoot          string `json:"old_root"`
	Growth           []string
}

func must(err error) {
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
}

func hashes(texts []string) []tlog.Hash {
	var found []tlog.Hash
	for _, text := range texts {
		found = append(found, hash(text))
	}
	return found
}

func hash(text string) (result tlog.Hash) {
	octets, err := base64.StdEncoding.DecodeString(text)
	must(err)
	copy(result[:], octets)
	return result
}

func main() {
	var in given
	must(json.NewDecoder(os.Stdin).Decode(&in))
	verifier, err := note.NewVerifier(in.Key)
	must(err)
	opened, err := note.Open([]byte(in.Note), note.VerifierList(verifier))
	must(err)
	lines := strings.Split(opened.Text, "\n")
	var size int64
	fmt.Sscan(lines[1], &size)
	root := hash(lines[2])
	must(tlog.CheckRecord(hashes(in.Proof), size, root, in.Leaf, tlog.RecordHash([]byte(in.Entry))))
	must(tlog.CheckTree(hashes(in.Growth), size, root, in.OldSize, hash(in.OldRoot)))
	fmt.Println("holds")
}
