/**
 * Parses the text of a configuration, for `ConfiguredServers`: JSON, JSON with comments and trailing commas, or TOML. A key such as
 * `__proto__` becomes an ordinary member. When the text cannot be parsed, the result is an error message. The message has the line and the
 * column if the parser reports them, and never quotes the text.
 */
import { type ParseError, printParseErrorCode, visit } from "#jsonc-parser"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { parse as parseToml, TomlError } from "smol-toml"

/**
 * Parses a text. Returns a `Left` with the reason when the text cannot be parsed. A blank text becomes an empty object, as in the host
 * applications.
 */
export const parse = (text: string, format: "json" | "toml"): Either.Either<unknown, string> => {
  const plain = text.replace(/^\uFEFF/, "")
  if (format === "toml") return toml(plain)
  if (plain.trim() === "") return Either.right({})
  return Either.orElse(Either.try(() => JSON.parse(plain) as unknown), () => jsonc(plain))
}

const place = (line: number, column: number): string => `in line ${line}, column ${column}`

const jsonc = (text: string): Either.Either<unknown, string> => {
  const errors: Array<string> = []
  let result: unknown
  const open: Array<unknown> = []
  let property = ""
  const put = (value: unknown): void => {
    const parent = open.at(-1)
    if (Array.isArray(parent)) parent.push(value)
    else if (Predicate.isRecord(parent)) {
      Object.defineProperty(parent, property, { value, configurable: true, enumerable: true, writable: true })
    } else result = value
  }
  const begin = (value: unknown): void => {
    put(value)
    open.push(value)
  }
  const end = (): void => void open.pop()
  const read = Either.try(() =>
    visit(text, {
      onObjectBegin: () => begin({}),
      onObjectProperty: (name) => property = name,
      onObjectEnd: end,
      onArrayBegin: () => begin([]),
      onArrayEnd: end,
      onLiteralValue: put,
      onError: (error, _offset, _length, line, column) => {
        if (errors.length === 0) errors.push(`${described(error)} ${place(line + 1, column + 1)}`)
      }
    }, { allowTrailingComma: true })
  )
  // The parser is recursive, so deep nesting overflows the stack.
  if (Either.isLeft(read)) return Either.left("it is nested too deeply")
  return errors[0] === undefined ? Either.right(result) : Either.left(`it is not JSON: ${errors[0]}`)
}

/** Converts the name of a parse error to words: `PropertyNameExpected` becomes "property name expected". */
const described = (error: ParseError["error"]): string =>
  printParseErrorCode(error).replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).toLowerCase()

const toml = (text: string): Either.Either<unknown, string> =>
  Either.try({
    try: () => parseToml(text) as unknown,
    catch: (error) =>
      error instanceof TomlError
        ? `it is not TOML: ${String(error.message.split("\n")[0]).replace(/^Invalid TOML document: /, "")} ${
          place(error.line, error.column)
        }`
        : "it is not TOML"
  })
