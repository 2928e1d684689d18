/**
 * Reports irregular texts in lists of servers: characters that people cannot see, and names that look alike. `ToolList` of package `ai`,
 * `CurrentEntries` and the `Mirror` of package `proxy` have one report each. A report logs the same finding only once, however often the
 * lists are read. `HiddenCharacters` and `LookAlikes` find the characters.
 */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Diagnostic from "../../jsonrpc/Diagnostic.js"
import * as HiddenCharacters from "../../protocol/rules/HiddenCharacters.js"
import * as LookAlikes from "../../protocol/rules/LookAlikes.js"

/** The entries of one kind, of one server or of all servers of a group. */
export interface Listing {
  /** What is listed, in words for people: `the tools of "search"`. */
  readonly subject: string
  /** Whether models and people choose these entries by name. Only such names are compared. */
  readonly isNamed: boolean
  readonly entries: ReadonlyArray<Entry>
}

export interface Entry {
  readonly server: string
  readonly name: string
  /** Whether a text of the entry, except its name, had hidden characters. */
  readonly isChanged: boolean
}

export interface ListReport {
  /** Reports what was found in these lists. Reports nothing when the previous report about the same subject had the same findings. */
  readonly report: (listings: ReadonlyArray<Listing>) => Effect.Effect<void>
}

/** How many names a diagnostic has. `MAX_NAME` is how many characters of each it has. */
const MAX_NAMES = 5
const MAX_NAME = 60

export const make: Effect.Effect<ListReport> = Effect.gen(function*() {
  /** What was found last, as text, by subject. */
  const before = yield* Ref.make<ReadonlyMap<string, string>>(new Map())
  const log = Diagnostic.logger()
  const reportOne = Effect.fnUntraced(function*(listing: Listing) {
    const found = findings(listing)
    const text = JSON.stringify(found)
    const known = yield* Ref.getAndUpdate(before, (texts) => new Map(texts).set(listing.subject, text))
    if (known.get(listing.subject) !== text) yield* Effect.forEach(found, log, { discard: true })
  })
  return { report: (listings) => Effect.forEach(listings, reportOne, { discard: true }) }
})

const findings = ({ entries, isNamed, subject }: Listing): ReadonlyArray<Diagnostic.Diagnostic> => {
  const found: Array<Diagnostic.Diagnostic> = []
  const hidden = entries.filter(({ isChanged, name }) => isChanged || HiddenCharacters.removed(name) !== name)
  if (hidden.length > 0) {
    const names = hidden.slice(0, MAX_NAMES).map(shown)
    found.push(Diagnostic.Diagnostic.HiddenCharacters({ subject, count: hidden.length, names }))
  }
  if (!isNamed) return found
  const { alike, mixed } = LookAlikes.find(entries.map(({ name }) => name))
  const groups = [...alike, ...mixed.map((name) => [name])]
  if (groups.length > 0) {
    const entryOf = new Map(entries.map((entry) => [entry.name, entry]))
    const names = groups.slice(0, MAX_NAMES).map((group) =>
      group.slice(0, MAX_NAMES).map((name) => shown(entryOf.get(name)!))
    )
    found.push(Diagnostic.Diagnostic.LookAlikes({ subject, count: groups.length, names }))
  }
  return found
}

const shown = ({ name, server }: Entry): string => `${shortened(name)} of ${shortened(server)}`

const shortened = (name: string): string => HiddenCharacters.escaped(name.slice(0, MAX_NAME))
