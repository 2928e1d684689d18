/**
 * Regular expressions that match a text in time linear in its length, for the patterns of schemas (`KeywordCheck`). JavaScript's own engine
 * can need exponential time. `make` compiles the expression to a list of instructions. All its possible matches advance together, one
 * character at a time. There are no instructions for back references and lookarounds, so `make` refuses expressions that have them. `make`
 * also refuses expressions that are too long or nest too deeply. `native` runs an expression on JavaScript's engine, if the application has
 * chosen this for its own schema (`RawTool`).
 */
import * as Either from "effect/Either"
import type { Budget } from "./WorkBudget.js"

/** Whether some part of the text matches. Each character and each possible match takes steps from the budget. */
export type LinearPattern = (text: string, budget: Budget) => boolean

/** How many characters an expression may have, how many instructions it may have, and how deep its groups may nest. */
const limits = { length: 2000, instructions: 2000, depth: 50 } as const

type Assertion = (previous: string | undefined, next: string | undefined) => boolean

type Instruction =
  | { readonly _tag: "Character"; readonly accepts: (character: string) => boolean }
  | { readonly _tag: "Assert"; readonly holds: Assertion }
  /** Continues at both instructions. */
  | { readonly _tag: "Fork"; first: number; second: number }
  | { readonly _tag: "Match" }

/** Appends the instructions of one part of an expression to the program. */
type Part = (program: Array<Instruction>) => void

/**
 * Compiles an expression. Each instruction takes steps from the budget. Left: why the expression is refused, as the end of a sentence whose
 * subject is the expression.
 */
export const make = (source: string, budget: Budget): Either.Either<LinearPattern, string> =>
  Either.gen(function*() {
    if (source.length > limits.length) return yield* Either.left(`is longer than ${limits.length} characters`)
    budget.spend(source.length)
    const flags = yield* Either.orElse(
      Either.map(regExp(source, "u"), () => "u"),
      // Some expressions that are in use are not valid in Unicode mode, where an unneeded escape is an error.
      () => Either.map(regExp(source, ""), () => "")
    )
    const program: Array<Instruction> = []
    yield* Either.try({
      try: () => new Parser(source, flags).expression()(program),
      catch: (cause) => cause instanceof Error ? cause.message : String(cause)
    })
    budget.spend(5 * program.length)
    program.push({ _tag: "Match" })
    return (text, budget) => {
      budget.spend(text.length)
      return run(program, flags === "u" ? Array.from(text) : text.split(""), budget)
    }
  })

/** Does the same as `make`, but the expression runs on JavaScript's engine. Use it only for expressions of the application. */
export const native = (source: string): Either.Either<LinearPattern, string> =>
  Either.map(Either.orElse(regExp(source, "u"), () => regExp(source, "")), (expression) => (text, budget) => {
    budget.spend(text.length / 8)
    return expression.test(text)
  })

const regExp = (source: string, flags: string): Either.Either<RegExp, string> =>
  Either.try({ try: () => new RegExp(source, flags), catch: () => "is not a regular expression" })

const run = (program: ReadonlyArray<Instruction>, text: ReadonlyArray<string>, budget: Budget): boolean => {
  const reached = new Int32Array(program.length).fill(-1)
  let waiting: Array<number> = []
  for (let at = 0; at <= text.length; at++) {
    // A match may begin at each character.
    const pending = [0, ...waiting]
    const next: Array<number> = []
    while (pending.length > 0) {
      const index = pending.pop()!
      if (reached[index] === at) continue
      reached[index] = at
      budget.spend(1)
      const instruction = program[index]!
      switch (instruction._tag) {
        case "Match":
          return true
        case "Fork":
          pending.push(instruction.first, instruction.second)
          break
        case "Assert":
          if (instruction.holds(text[at - 1], text[at])) pending.push(index + 1)
          break
        case "Character":
          if (at < text.length && instruction.accepts(text[at]!)) next.push(index + 1)
      }
    }
    waiting = next
  }
  return false
}

const isWord = (character: string | undefined): boolean => character !== undefined && /^\w$/.test(character)

const assertions: Readonly<Record<string, Assertion>> = {
  "^": (previous) => previous === undefined,
  $: (_, next) => next === undefined,
  "\\b": (previous, next) => isWord(previous) !== isWord(next),
  "\\B": (previous, next) => isWord(previous) === isWord(next)
}

const tokens = {
  group: /\((?:\?:|\?<[^=!>]+>|(?!\?))/y,
  quantifier: /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y,
  assertion: /\^|\$|\\[bB]/y,
  reference: /\\(?:[1-9]|k)/y,
  unicode:
    /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u\{[\da-fA-F]+\}|\\[pP]\{[^}]*\}|[\ud800-\udbff][\udc00-\udfff]/y,
  atom: /\[(?:\\[^]|[^\]\\])*\]|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\[^]|[^]/y
}

/** Parses a valid expression from left to right. `at` is the index of the next character. Throws for a part that has no instructions. */
class Parser {
  private at = 0
  private depth = 0

  constructor(private readonly source: string, private readonly flags: string) {}

  expression(): Part {
    if (++this.depth > limits.depth) throw new Error(`is nested more than ${limits.depth} levels deep`)
    const branches = [this.sequence()]
    while (this.source[this.at] === "|") {
      this.at++
      branches.push(this.sequence())
    }
    this.depth--
    return branches.reduceRight((rest, branch) => either(branch, rest))
  }

  private sequence(): Part {
    const parts: Array<Part> = []
    while (this.at < this.source.length && !"|)".includes(this.source[this.at]!)) parts.push(this.repeated())
    return (program) => parts.forEach((part) => part(program))
  }

  private repeated(): Part {
    const part = this.part()
    const quantifier = this.take("quantifier")
    if (quantifier === undefined) return part
    const [, sign, least, comma, most] = quantifier
    const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0
    const max = sign === "?" ? 1 : sign === undefined && comma === undefined ? min : Number(most || Infinity)
    return repeat(part, min, max)
  }

  private part(): Part {
    if (this.take("group") !== undefined) {
      const inner = this.expression()
      this.at++
      return inner
    }
    const assertion = this.take("assertion")
    if (assertion !== undefined) return emit({ _tag: "Assert", holds: assertions[assertion[0]]! })
    if (this.source[this.at] === "(" || this.take("reference") !== undefined) {
      throw new Error("has a lookaround, a back reference or a modifier")
    }
    const [atom] = (this.flags === "u" ? this.take("unicode") : undefined) ?? this.take("atom")!
    if (/^[^\\[.]$/.test(atom)) return emit({ _tag: "Character", accepts: (character) => character === atom })
    // Each call tests one character, so the engine has nothing to try twice.
    const single = new RegExp(`^${atom}$`, this.flags)
    return emit({ _tag: "Character", accepts: (character) => single.test(character) })
  }

  private take(token: keyof typeof tokens): RegExpExecArray | undefined {
    const expression = tokens[token]
    expression.lastIndex = this.at
    const found = expression.exec(this.source) ?? undefined
    if (found !== undefined) this.at = expression.lastIndex
    return found
  }
}

const emit = (instruction: Instruction): Part => (program) => {
  if (program.length >= limits.instructions) throw new Error("is too long, or repeats too much")
  program.push(instruction)
}

const fork = (program: Array<Instruction>): Instruction & { readonly _tag: "Fork" } => {
  const instruction = { _tag: "Fork" as const, first: program.length + 1, second: 0 }
  emit(instruction)(program)
  return instruction
}

const either = (first: Part, second: Part): Part => (program) => {
  const start = fork(program)
  first(program)
  const end = fork(program)
  start.second = program.length
  second(program)
  end.first = end.second = program.length
}

const repeat = (part: Part, min: number, max: number): Part => (program) => {
  for (let n = 0; n < min; n++) {
    emit({ _tag: "Assert", holds: () => true })(program)
    part(program)
  }
  const forks: Array<Instruction & { readonly _tag: "Fork" }> = []
  for (let n = min; n < Math.min(max, min + limits.instructions + 1); n++) {
    const start = program.length
    forks.push(fork(program))
    part(program)
    if (max === Infinity) {
      const back = fork(program)
      back.first = back.second = start
      break
    }
  }
  for (const skipped of forks) skipped.second = program.length
}
