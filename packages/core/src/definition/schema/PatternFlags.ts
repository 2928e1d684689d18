/**
 * Converts a regular expression with flags to the `pattern` of a JSON Schema, for `JsonSchema`. A pattern of JSON Schema has no flags, and
 * validators read it with the flag `u`.
 *
 * Flags that change which texts match (`i`, `m`, `s`, `y`, and the sets of `v`) are written into the pattern if the result is exact:
 * letters become classes (`/ab/i` is `[aA][bB]`), a dot becomes `[\s\S]`, and `y` becomes `^`. If the result would not be exact, the schema
 * has no pattern, because with a wrong pattern a client would refuse valid texts. The flags `d`, `g` and `u` change nothing.
 */
import * as SchemaTree from "../../protocol/schema/SchemaTree.js"

/** Returns the source of the expression, written without flags; `undefined` when this module cannot write it exactly. */
export const make = ({ flags, source }: RegExp): string | undefined => {
  if (!/[imsvy]/.test(flags)) return source
  const has = (flag: string) => flags.includes(flag)
  const isUnicode = has("u") || has("v")
  const written: Array<string> = []
  for (const token of source.match(tokens) ?? []) {
    if (inexact.test(token) || (has("m") && isAnchor(token)) || (has("v") && isSet(token))) return undefined
    const exact = has("s") && token === "." ? "[\\s\\S]" : has("i") ? withoutCase(token, isUnicode) : token
    if (exact === undefined) return undefined
    written.push(exact)
  }
  const pattern = written.join("")
  return has("y") ? `^(?:${pattern})` : pattern
}

/** A regular expression whose flags change its pattern. */
export interface Flagged {
  readonly source: string
  /** The expression with its flags, in the syntax of JavaScript. */
  readonly text: string
  readonly pattern: string | undefined
}

/**
 * Finds the regular expressions of a schema whose flags change the pattern. The key of each entry is the source of the expression. When the
 * schema has one source with different flags, and these flags give different patterns, the entry has no pattern.
 */
export const ofTree = (root: SchemaTree.AST): ReadonlyMap<string, Flagged> => {
  const found = new Map<string, Flagged>()
  const seen = new Set<SchemaTree.AST>()
  const visit = (ast: SchemaTree.AST): void => {
    if (seen.has(ast)) return
    seen.add(ast)
    const expression = SchemaTree.patternOf(ast)
    if (expression !== undefined) {
      const { source } = expression
      const other = found.get(source)
      const pattern = make(expression)
      const isAgreed = other === undefined || other.pattern === pattern
      found.set(source, { source, text: String(expression), pattern: isAgreed ? pattern : undefined })
    }
    partsOf(ast).forEach(visit)
  }
  visit(root)
  return new Map([...found].filter(([source, { pattern }]) => pattern !== source))
}

const partsOf = (ast: SchemaTree.AST): ReadonlyArray<SchemaTree.AST> => {
  switch (ast._tag) {
    case "Refinement":
      return [ast.from]
    case "Transformation":
      return [ast.from, ast.to]
    case "Suspend":
      return [ast.f()]
    case "Union":
      return ast.types
    case "TupleType":
      return [...ast.elements, ...ast.rest].map(({ type }) => type)
    case "TypeLiteral":
      return [
        ...ast.propertySignatures.map(({ type }) => type),
        ...ast.indexSignatures.flatMap(({ parameter, type }) => [parameter, type])
      ]
    default:
      return []
  }
}

/** An escape, a class, the beginning of a group, a quantifier, or one character. */
const tokens =
  /\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|k<[^>]*>|[pP]\{[^}]*\}|[^])|\[(?:\\[^]|[^\]\\])*\]|\(\?(?:<?[=!]|:|<[^>]*>|[a-z-]*:)|\{[\d,]*\}|[^]/gi

/** The beginning of a group with flags of its own. */
const inexact = /^\(\?[a-z-]/i

const isAnchor = (token: string): boolean => token === "^" || token === "$"

/**
 * Whether only the flag `v` can read this token: a class inside of a class, an operation on sets, or a property of more than one character.
 */
const isSet = (token: string): boolean =>
  token.startsWith("[") ? /\[|--|&&|\\q/.test(token.slice(1)) : /^\\p\{\w*Emoji/i.test(token)

const withoutCase = (token: string, isUnicode: boolean): string | undefined => {
  if (token.startsWith("[")) return classWithoutCase(token, isUnicode)
  if (isLetter(token)) return `[${token}${others(token, isUnicode)}]`
  return isCaseless(token, isUnicode) ? token : undefined
}

/** Returns a class, with the other case of each letter in it added. */
const classWithoutCase = (token: string, isUnicode: boolean): string | undefined => {
  let more = ""
  for (const member of token.slice(1, -1).replace(/^\^/, "").match(members) ?? []) {
    const ends = member.match(bounds) ?? []
    if (!ends.every((end) => isCaseless(end, isUnicode))) return undefined
    const [first, last] = [codeOf(ends[0]!), codeOf(ends[ends.length - 1]!)]
    // `undefined` is the escape of a class or of a control. In a range, it means that the range is not a range of ASCII letters.
    if (first === undefined || last === undefined) {
      if (ends.length > 1) return undefined
      continue
    }
    for (let code = first; code <= last; code++) {
      const letter = String.fromCharCode(code)
      if (isLetter(letter)) more += others(letter, isUnicode)
    }
  }
  return `${token.slice(0, -1)}${more}]`
}

/** A character of a class, or a range of characters. */
const members = /(?:\\[^]|[^\\])(?:-(?:\\[^]|[^\\]))?/g

const bounds = /^(?:\\[^]|[^\\])|(?:\\[^]|[^\\])$/g

/** Returns the code of a character of a class; `undefined` for the escape of a class or of a control. */
const codeOf = (end: string): number | undefined => {
  if (!end.startsWith("\\")) return end.charCodeAt(0)
  return /[a-z\d]/i.test(end.charAt(1)) ? undefined : end.charCodeAt(1)
}

const isLetter = (text: string): boolean => /^[a-z]$/i.test(text)

/** Returns the letters that the flag `i` treats as equal to this letter. With the flag `u`, two of them are outside of ASCII. */
const others = (letter: string, isUnicode: boolean): string => {
  const lower = letter.toLowerCase()
  const more = lower === "s" ? "\u017f" : lower === "k" ? "\u212a" : ""
  return (letter === lower ? letter.toUpperCase() : lower) + (isUnicode ? more : "")
}

/**
 * Whether a token means the same in both cases: ASCII without letters, or an escape. With the flags `i` and `u`, `\w` and `\b` have more
 * letters.
 */
const isCaseless = (token: string, isUnicode: boolean): boolean => {
  if (!token.startsWith("\\")) return /^\p{ASCII}*$/u.test(token)
  return /^\\(?:[^\da-z]|[dfnrstv0])$/i.test(token) || (!isUnicode && /^\\[wb]$/i.test(token))
}
