/**
 * Finds names that look alike to people although they are not equal: Cyrillic `а` instead of Latin `a`, `1` instead of `l`, or hidden
 * characters. This module also finds names that mix scripts whose letters look alike. `ListReport` of the client reports both kinds of
 * names.
 *
 * The table has letters of other scripts that look like Latin letters. The table does not have all characters of Unicode's
 * `confusables.txt`, because that list is larger than the code of the client. Names of tools consist of letters, digits and a few signs.
 *
 * @see https://www.unicode.org/reports/tr39/#Confusable_Detection
 */
import * as HiddenCharacters from "./HiddenCharacters.js"

export interface LookAlikes {
  /** Groups of names that look alike. */
  readonly alike: ReadonlyArray<ReadonlyArray<string>>
  /** Names that mix letters of several scripts whose letters look alike. */
  readonly mixed: ReadonlyArray<string>
}

/** Compares the names of one kind, such as the names of tools. Equal names do not count as alike. */
export const find = (names: Iterable<string>): LookAlikes => {
  const byForm = new Map<string, Array<string>>()
  const mixed: Array<string> = []
  for (const name of new Set(names)) {
    const form = formOf(name)
    const same = byForm.get(form)
    if (same === undefined) byForm.set(form, [name])
    else same.push(name)
    if (mixesScripts(name)) mixed.push(name)
  }
  return { alike: [...byForm.values()].filter(({ length }) => length > 1), mixed }
}

/** How many characters of a name are compared, because a server may send a name of any length. */
const MAX_LENGTH = 1000

/** Returns a form of the name. Names that look alike have equal forms. */
const formOf = (name: string): string => {
  const seen = HiddenCharacters.removed(name.slice(0, MAX_LENGTH)).normalize("NFKC")
  let form = ""
  for (const character of seen) form += latin.get(character) ?? character
  return form.replaceAll("rn", "m")
}

const ASCII = /^[\x20-\x7e]*$/

const SCRIPTS = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Lisu"].map((script) =>
  new RegExp(`\\p{Script=${script}}`, "u")
)

const mixesScripts = (name: string): boolean =>
  !ASCII.test(name) && SCRIPTS.filter((script) => script.test(name.slice(0, MAX_LENGTH))).length > 1

/** Characters of other scripts. The second text has, at the same position, the Latin character that each character looks like. */
const pairs: ReadonlyArray<readonly [others: string, latin: string]> = [
  // Letters and digits of ASCII.
  ["01I|", "Olll"],
  // Cyrillic.
  ["аеорсухѕіјԁһԛԝгкАВЕКМНОРСТУХЅІЈԌԚԜҮү", "aeopcyxsijdhqwrkABEKMHOPCTYXSlJGQWYy"],
  // Greek.
  ["αονιυκγηρσωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aoviukynpowABEZHlKMNOPTYX"],
  // Armenian and Cherokee.
  ["օոսհցգզՕՍ", "onuhgqqOU"],
  ["ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ABCDEGHJKLMPRSTVWZ"],
  // Other letters of Latin, and signs.
  ["ıɩɑɡ‐‑‒–—―−⁄∕", "iiag-------//"]
]

const latin: ReadonlyMap<string, string> = new Map(
  pairs.flatMap(([others, forms]) => {
    const form = [...forms]
    return [...others].map((other, i) => [other, form[i]!] as const)
  })
)
