/**
 * Escapes texts of servers, programs, files and users for a terminal. A character that could control the terminal, or that nobody can see,
 * is written as its number: `\u{1b}`, and in JSON `\u001b`. `CommandOutput` escapes every text that it writes. Other modules call `line`,
 * `fit` and `jsonText` for the parts of their texts.
 *
 * The escaped characters are controls except line feed and tab, format characters (bidirectional, tags, zero width), separators of lines
 * and paragraphs, lone surrogates, and all characters that Unicode calls ignorable. There are two exceptions. A joiner is not escaped
 * between two pictographs and between two letters of a script that joins. A variation selector is not escaped after a character that it
 * varies.
 */

export const ESC = "\u001b"

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** Letters and marks of scripts in which a joiner changes how the text looks. */
const JOINING = "(?=[\\p{L}\\p{M}])[" + [
  ...["Arab", "Syrc", "Mong", "Nkoo", "Adlm"],
  ...["Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh", "Khmr", "Mymr"]
].map((script) => `\\p{scx=${script}}`).join("") + "]"

/** Finds the hidden characters that are not escaped because of the characters around them. */
const SEEN = new RegExp(
  [
    "[\\t\\n]",
    "(?<=\\p{ExtPict}[\\ufe0f\\p{EMod}]?)\\u200d(?=\\p{ExtPict})",
    `(?<=${JOINING})[\\u200c\\u200d](?=${JOINING})`,
    "(?<=[\\p{ExtPict}\\p{So}])[\\ufe0e\\ufe0f]",
    "(?<=[0-9#*])\\ufe0f(?=\\u20e3)",
    "(?<=[\\p{Script=Han}\\p{Script=Mongolian}])\\p{Variation_Selector}"
  ].join("|"),
  "yu"
)

const isSeen = (text: string, at: number): boolean => {
  SEEN.lastIndex = at
  return SEEN.test(text)
}

const replaced = (text: string, show: (character: string) => string): string =>
  text.replace(HIDDEN, (character, at: number) => isSeen(text, at) ? character : show(character))

/** Returns the text with line feeds as the ends of lines. Characters that could control a terminal, or that nobody can see, are escaped. */
export const escaped = (text: string): string =>
  replaced(text.replaceAll("\r\n", "\n"), (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)

/** Returns the escaped text on one line. */
export const line = (text: string): string => escaped(text).replace(/\s+/g, " ").trim()

const inJson = (character: string): string =>
  character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")

/** Returns a value as JSON that is safe to print, for a person. Joined letters stay joined. */
export const jsonText = (
  value: unknown,
  indent: number,
  replacer?: (key: string, value: unknown) => unknown
): string => replaced(JSON.stringify(value, replacer, indent) ?? "", inJson)

/** Returns a value as one line of JSON that is safe to print, for a program. */
export const jsonLine = (value: unknown): string => JSON.stringify(value).replace(HIDDEN, inJson)

const graphemes = new Intl.Segmenter()

const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u

/** How many UTF-16 code units of a text are read at most for each column. */
const UNITS = 32

/** Returns how many columns of a terminal a grapheme takes. */
const columnsOf = (grapheme: string): number => WIDE.test(grapheme) ? 2 : 1

/** Cuts a text to `room` columns. A text that was cut ends with `…`. `sizeOf` measures a grapheme, by default in columns. */
export const fit = (text: string, room: number, sizeOf = columnsOf): string => {
  const beginning = text.slice(0, room * UNITS)
  let [size, end] = [0, 0]
  for (const { index, segment } of graphemes.segment(beginning)) {
    size += sizeOf(segment)
    if (size > room) break
    if (size < room) end = index + segment.length
  }
  return size > room || beginning.length < text.length ? `${text.slice(0, end)}…` : text
}

/** Returns how many columns a text takes, but at most `most`. */
export const widthOf = (text: string, most: number): number => {
  let width = 0
  for (const { segment } of graphemes.segment(text.slice(0, most * UNITS))) {
    width += columnsOf(segment)
    if (width >= most) return most
  }
  return width
}

/**
 * Escapes a text, except for the matches of `sequences`. The function `of` replaces each match. The regular expression must have exactly
 * one group, around the whole expression.
 */
export const except = (text: string, sequences: RegExp, of: (sequence: string) => string): string =>
  text.split(sequences).map((part, index) => index % 2 === 1 ? of(part) : escaped(part)).join("")

const COLOR = new RegExp(`(${ESC}\\[[\\d;:]{0,64}m)`)

/** Finds the end of a chunk that the next chunk may complete: the beginning of a sequence, or a carriage return before its line feed. */
const UNFINISHED = new RegExp(`(?:\\r|${ESC}(?:\\[[\\d;:]{0,64})?)$`)

/** The sequence that ends all colors. */
export const RESET = `${ESC}[0m`
const MAX_OPEN = 8

/**
 * Escapes what others write to a stream, chunk by chunk, for `guard` of `CommandOutput`. Only the sequences of colors are not escaped, and
 * only if `isColored` is true. Each chunk ends its colors, and the next chunk begins them again. This is a class with state, because a
 * character, a sequence and a color may continue in the next chunk.
 */
export class Passage {
  private readonly decoder = new TextDecoder()
  /** The end of the last chunk, if a sequence may continue in the next chunk. */
  private rest = ""
  /** The colors with which the next chunk begins. */
  private open: ReadonlyArray<string> = []

  constructor(private readonly isColored: boolean) {}

  /** Returns the escaped text of a chunk. */
  readonly next = (chunk: string | Uint8Array): string => {
    const text = this.rest + (typeof chunk === "string" ? chunk : this.decoder.decode(chunk, { stream: true }))
    this.rest = UNFINISHED.exec(text)?.[0] ?? ""
    const whole = text.slice(0, text.length - this.rest.length)
    if (whole === "") return ""
    const before = this.open.join("")
    const shown = except(whole, COLOR, this.color)
    return `${before}${shown}${this.open.length > 0 ? RESET : ""}`
  }

  private readonly color = (sequence: string): string => {
    if (!this.isColored) return ""
    const [first = "", ...more] = sequence.slice(2, -1).split(/[;:]/)
    const ends = Number(first) === 0
    const kept = ends ? [] : this.open
    this.open = ends && more.length === 0 ? [] : [...kept, sequence].slice(-MAX_OPEN)
    return sequence
  }
}
