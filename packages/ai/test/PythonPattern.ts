/**
 * Whether Python's `re.compile` accepts a regular expression: the grammar of Python 3.11's parser, without references to groups and
 * without the expressions that begin with `(?`, other than `(?:`. OpenAI refuses look-around. For the rules that `ProviderRules` checks.
 *
 * @see https://docs.python.org/3.11/library/re.html#regular-expression-syntax
 */

class Refused extends Error {}

/** `undefined` for a pattern that Python accepts, otherwise what it says. */
export const refusal = (pattern: string): string | undefined => {
  try {
    alternatives({ text: Array.from(pattern), at: 0 }, 0)
    return undefined
  } catch (error) {
    if (error instanceof Refused) return error.message
    throw error
  }
}

interface Reader {
  readonly text: ReadonlyArray<string>
  at: number
}

const MAX_REPEAT = 4_294_967_295

const alternatives = (reader: Reader, depth: number): void => {
  if (depth > 200) throw new Refused("groups are nested too deeply")
  do sequence(reader, depth)
  while (taken(reader, "|"))
  if (depth === 0 && reader.at < reader.text.length) throw new Refused("unbalanced parenthesis")
}

/** The next character, if it is this one. */
const taken = (reader: Reader, char: string): boolean => {
  if (reader.text[reader.at] !== char) return false
  reader.at++
  return true
}

const sequence = (reader: Reader, depth: number): void => {
  /** Whether the last item can be repeated. */
  let item: "none" | "one" | "repeated" = "none"
  for (;;) {
    const char = reader.text[reader.at]
    if (char === undefined || char === "|" || char === ")") return
    reader.at++
    if (char === "\\") item = escape(reader)
    else if (char === "[") item = set(reader)
    else if (char === "(") item = group(reader, depth)
    else if (char === "^" || char === "$") item = "none"
    else if (char === "*" || char === "+" || char === "?" || char === "{") item = repetition(reader, char, item)
    else item = "one"
  }
}

const group = (reader: Reader, depth: number): "one" => {
  if (taken(reader, "?") && !taken(reader, ":")) throw new Refused("look-around, or an extension")
  alternatives(reader, depth + 1)
  if (!taken(reader, ")")) throw new Refused("missing ), unterminated subpattern")
  return "one"
}

const repetition = (reader: Reader, char: string, item: "none" | "one" | "repeated"): "one" | "repeated" => {
  if (char === "{") {
    const found = /^(\d*)(,?)(\d*)\}/.exec(reader.text.slice(reader.at).join(""))
    // `{}` and braces around other text are plain text, and so is `{` without a number and a comma.
    if (found === null || (found[1] === "" && found[2] === "")) return "one"
    const [all, low = "", , high = ""] = found
    reader.at += all.length
    const [min, max] = [Number(low), high === "" ? MAX_REPEAT - 1 : Number(high)]
    if (Math.max(min, high === "" ? 0 : max) >= MAX_REPEAT) throw new Refused("the repetition number is too large")
    if (max < min) throw new Refused("min repeat greater than max repeat")
  }
  if (item === "none") throw new Refused("nothing to repeat")
  if (item === "repeated") throw new Refused("multiple repeat")
  // Lazy, and possessive.
  if (!taken(reader, "?")) taken(reader, "+")
  return "repeated"
}

const DIGIT = /^\d$/

const escape = (reader: Reader): "none" | "one" => {
  const char = reader.text[reader.at]
  if (char === undefined) throw new Refused("bad escape at the end of the pattern")
  reader.at++
  if ("AbBZ".includes(char)) return "none"
  if ("dDsSwW".includes(char)) return "one"
  character(reader, char, false)
  return "one"
}

/** The code of an escaped character. */
const character = (reader: Reader, char: string, isInSet: boolean): number => {
  const digits = (count: number): number => {
    const hex = reader.text.slice(reader.at, reader.at + count).join("")
    if (!new RegExp(`^[0-9a-fA-F]{${count}}$`).test(hex)) throw new Refused(`incomplete escape \\${char}`)
    reader.at += count
    return Number.parseInt(hex, 16)
  }
  if (char === "x") return digits(2)
  if (char === "u") return digits(4)
  if (char === "U") {
    const code = digits(8)
    if (code > 0x10FFFF) throw new Refused("bad escape \\U")
    return code
  }
  if (char === "0") {
    let code = 0
    for (let count = 0; count < 2 && /^[0-7]$/.test(reader.text[reader.at] ?? ""); count++) {
      code = code * 8 + Number(reader.text[reader.at++])
    }
    return code
  }
  if (DIGIT.test(char)) throw new Refused(isInSet ? "bad escape" : "invalid group reference")
  const code = "\u0007\b\f\n\r\t\v"["abfnrtv".indexOf(char)]
  if (code !== undefined && (char !== "b" || isInSet)) return codeOf(code)
  if (/^[a-zA-Z]$/.test(char)) throw new Refused(`bad escape \\${char}`)
  return codeOf(char)
}

/** A set of characters, after its `[`. A `]` that comes first is a member. */
const set = (reader: Reader): "one" => {
  taken(reader, "^")
  const begin = reader.at
  for (;;) {
    const low = member(reader)
    if (low === "]" && reader.at - 1 > begin) return "one"
    if (reader.text[reader.at] !== "-") continue
    if (reader.text[reader.at + 1] === "]") continue
    reader.at++
    const high = member(reader)
    if (low === "class" || high === "class") throw new Refused("bad character range")
    if (codeOf(high) < codeOf(low)) throw new Refused("bad character range")
  }
}

const codeOf = (one: string | number): number => typeof one === "number" ? one : Number(one.codePointAt(0))

/** A member of a set: a character, the code of an escaped one, or a class of characters. */
const member = (reader: Reader): string | number => {
  const char = reader.text[reader.at++]
  if (char === undefined) throw new Refused("unterminated character set")
  if (char !== "\\") return char
  const escaped = reader.text[reader.at++]
  if (escaped === undefined) throw new Refused("bad escape at the end of the pattern")
  return "dDsSwW".includes(escaped) ? "class" : character(reader, escaped, true)
}
