import { assert, describe, it } from "@effect/vitest"
import { changes, type Version } from "../../src/entries/EntryChanges.js"

const entries = (...all: ReadonlyArray<readonly [key: string, settings: string, text: string]>) =>
  new Map(all.map(([key, settings, text]): [string, Version] => [key, { settings, text }]))

const none = entries()
const a = entries(["tool a", "listed a", "{1}"])
const abc = entries(["tool a", "listed a", "{1}"], ["tool b", "listed b", "{2}"], ["prompt c", "listed c", "{3}"])

const rows: ReadonlyArray<
  readonly [sentence: string, before: ReadonlyMap<string, Version>, after: ReadonlyMap<string, Version>, result: string]
> = [
  ["nothing, when there was nothing and is nothing", none, none, ""],
  [
    "nothing, when the lists are equal",
    abc,
    entries(...[...abc].map(([key, v]) => [key, v.settings, v.text] as const)),
    ""
  ],
  ["nothing, when only the order differs", abc, new Map([...abc].reverse()), ""],
  ["each entry of a first list, in its order", none, abc, "add tool a, add tool b, add prompt c"],
  ["the entries that are new", a, abc, "add tool b, add prompt c"],
  ["the entries that have gone", abc, a, "remove tool b, remove prompt c"],
  ["all entries, when the list is empty", abc, none, "remove tool a, remove tool b, remove prompt c"],
  ["an entry whose text differs", abc, new Map([...abc, ...entries(["tool b", "listed b", "{9}"])]), "replace tool b"],
  [
    "an entry whose settings differ",
    abc,
    new Map([...abc, ...entries(["tool b", "hidden b", "{2}"])]),
    "replace tool b"
  ],
  ["an entry whose settings and text have changed places", a, entries(["tool a", "{1}", "listed a"]), "replace tool a"],
  ["a renamed entry, as another one", a, entries(["tool z", "listed a", "{1}"]), "add tool z, remove tool a"],
  [
    "an entry of another kind with the same name, as another one",
    a,
    entries(["prompt a", "listed a", "{1}"]),
    "add prompt a, remove tool a"
  ],
  [
    "what is new or different in the order of the list, and what has gone after that",
    abc,
    entries(["prompt d", "listed d", "{4}"], ["prompt c", "listed c", "{5}"], ["tool a", "listed a", "{6}"]),
    "add prompt d, replace prompt c, replace tool a, remove tool b"
  ]
]

describe("The changes between what is registered and what the upstream lists", () => {
  for (const [sentence, before, after, result] of rows) {
    it(`are ${sentence}`, () => {
      const found = changes(before, after).map(({ _tag, key }) => `${_tag.toLowerCase()} ${key}`)
      assert.strictEqual(found.join(", "), result)
    })
  }
})
