/**
 * How an address is taken apart that a URI template may have become: worked out once for a template, then a scan from both
 * ends towards one open place, never a search back and forth. A template for which what was expanded might not be found
 * again has no plan, and the reason is said.
 *
 * It reads no template and expands none: see `UriTemplate`.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import type { Expression, Spec } from "./UriExpression.js"
import { styles } from "./UriExpression.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Plan {
  /** Why there is none. */
  readonly ambiguity: string | undefined
  /** @internal */
  readonly steps: ReadonlyArray<Step>
  /**
   * Where the query begins: at the mark that has so many before it.
   *
   * @internal
   */
  readonly query: { readonly mark: string; readonly nth: number; readonly specs: ReadonlyArray<Spec> } | undefined
}

type Step = string | Place

type Kind = "text" | "reserved" | "list" | "segments" | "params"

/**
 * `left` is the place, in the text behind it, of a character that cannot be part of it and so tells its end; `right` the
 * same in the text before it.
 */
interface Place {
  readonly kind: Kind
  readonly specs: readonly [Spec, ...Array<Spec>]
  readonly left: number
  readonly right: number
}

/** Nothing tells. */
const NONE = -1
/** The slash of the segments behind it tells, or the end. */
const AT_SLASH = -2

/** What expanding a place never gives. */
const foreign: Readonly<Record<Kind, RegExp>> = {
  text: /[^A-Za-z0-9._~%-]/,
  reserved: /(?!)/,
  list: /[^A-Za-z0-9._~%,-]/,
  segments: /[^A-Za-z0-9._~%/-]/,
  params: /[^A-Za-z0-9._~%;=-]/
}

const place = (kind: Kind, ...specs: Place["specs"]): Place => ({ kind, specs, left: NONE, right: NONE })

const stepsOf = ({ operator, specs }: Expression): ReadonlyArray<Step> => {
  const { first, reserved, separator } = styles[operator]
  if (operator === ";") return [place("params", ...specs as Place["specs"])]
  return specs.flatMap((spec, i) =>
    spec.explode && operator === "/"
      ? [place("segments", spec)]
      : [i === 0 ? first : separator, place(spec.explode ? "list" : reserved ? "reserved" : "text", spec)]
  )
}

const merged = (steps: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const all: Array<Step> = []
  for (const step of steps) {
    const last = all.at(-1)
    if (typeof step === "string" && typeof last === "string") all[all.length - 1] = last + step
    else if (step !== "") all.push(step)
  }
  return all
}

const edge = ({ kind }: Place, text: Step | undefined, which: "indexOf" | "lastIndexOf"): number =>
  typeof text === "string" ? text.split("").map((char) => foreign[kind].test(char))[which](true) : NONE

const isQuery = (part: string | Expression): part is Expression =>
  typeof part === "object" && /[?&]/.test(part.operator)

// What separates the values of a list may stand in them, or be gone with an empty list.
const isMixed = (part: string | Expression): boolean =>
  typeof part === "object" && part.specs.some(({ explode }) => explode) &&
  (/[+#.]/.test(part.operator) || (part.operator === "" && part.specs.length > 1))

/**
 * The plan of a template, given as its texts and its expressions.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (parts: ReadonlyArray<string | Expression>): Plan => {
  const begin = parts.findIndex(isQuery)
  const body = begin === -1 ? parts : parts.slice(0, begin)
  const tail = parts.find(isQuery)
  const bare = merged(body.flatMap((part) => typeof part === "string" ? [part] : stepsOf(part)))
  const steps = bare.map((step, i): Step => {
    if (typeof step === "string") return step
    const next = bare[i + 1]
    const atSlash = i + 2 === bare.length && typeof next === "object" && next.kind === "segments" &&
      foreign[step.kind].test("/")
    return {
      ...step,
      left: atSlash ? AT_SLASH : edge(step, next, "indexOf"),
      right: edge(step, bare[i - 1], "lastIndexOf")
    }
  })
  const texts = steps.filter((step) => typeof step === "string").join("")
  const nth = tail === undefined ? 0 : texts.split(tail.operator).length - 1
  const ambiguity = tail !== undefined && parts.at(-1) !== tail
    ? "something stands behind the query"
    : body.some(isMixed)
    ? "the values of a list cannot be told apart"
    : tail !== undefined && (steps.some((step) => typeof step === "object" && step.kind === "reserved") ||
        (tail.operator === "?" && nth > 0))
    ? "the query cannot be told apart from what is before it"
    : open(steps) > 1
    ? "two variables cannot be told apart"
    : undefined
  return { ambiguity, steps, query: tail && { mark: tail.operator, nth, specs: tail.specs } }
}

/** How many steps are left between what is found from the left and what is found from the right. */
const open = (steps: ReadonlyArray<Step>): number => {
  let left = 0
  let right = steps.length
  const isClosed = (step: Step, side: "left" | "right") => typeof step === "string" || step[side] !== NONE
  while (left < right && isClosed(steps[left]!, "left")) left++
  while (right > left && isClosed(steps[right - 1]!, "right")) right--
  return right - left
}

/**
 * What is found of a variable, by its name.
 *
 * @since 0.1.0
 * @category models
 */
export type Entries = ReadonlyArray<readonly [name: string, value: string | ReadonlyArray<string>]>

/**
 * The values that an address has for the variables, decoded; `undefined` when it is not of this form, or the plan has none.
 *
 * @since 0.1.0
 * @category conversions
 */
export const follow = ({ ambiguity, query, steps }: Plan, uri: string): Entries | undefined => {
  if (ambiguity !== undefined) return undefined
  const cut = query === undefined ? uri.length : nthIndexOf(uri, query.mark, query.nth)
  const path = scan(steps, uri.slice(0, cut))
  const rest = query === undefined || cut === uri.length ? [] : params(query.specs, uri.slice(cut + 1).split("&"))
  return path === undefined || rest === undefined ? undefined : [...path, ...rest]
}

const nthIndexOf = (text: string, mark: string, nth: number): number => {
  let at = text.indexOf(mark)
  for (let i = 0; i < nth && at !== -1; i++) at = text.indexOf(mark, at + 1)
  return at === -1 ? text.length : at
}

const slashOrEnd = (text: string, from: number): number => {
  const at = text.indexOf("/", from)
  return at === -1 ? text.length : at
}

const scan = (steps: ReadonlyArray<Step>, uri: string): Entries | undefined => {
  const found: Array<Entries> = []
  let [start, end, left, right] = [0, uri.length, 0, steps.length]
  const take = (step: Place, from: number, to: number): boolean => {
    const entries = from < start || to > end || from > to ? undefined : read(step, uri.slice(from, to))
    if (entries !== undefined) found.push(entries)
    return entries !== undefined
  }
  for (; left < right; left++) {
    const step = steps[left]!
    if (typeof step === "string") {
      if (!uri.startsWith(step, start)) return undefined
      start += step.length
      continue
    }
    if (step.left === NONE) break
    const stop = step.left === AT_SLASH
      ? slashOrEnd(uri, start)
      : uri.indexOf((steps[left + 1] as string).charAt(step.left), start) - step.left
    if (!take(step, start, stop)) return undefined
    start = stop
  }
  for (; right > left; right--) {
    const step = steps[right - 1]!
    if (typeof step === "string") {
      if (end - step.length < start || !uri.startsWith(step, end - step.length)) return undefined
      end -= step.length
      continue
    }
    if (step.right === NONE) break
    const before = steps[right - 2] as string
    const mark = uri.lastIndexOf(before.charAt(step.right), end - 1)
    const from = mark - step.right + before.length
    if (mark === -1 || !take(step, from, end)) return undefined
    end = from
  }
  const done = left === right ? start === end : take(steps[left] as Place, start, end)
  return done ? found.flat() : undefined
}

const decode = (text: string): string | undefined =>
  Either.getOrElse(Encoding.decodeUriComponent(text), () => undefined)

/** Texts that do not lead out of where they stand. */
const decodeAll = (texts: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const decoded = texts.map((text) => /[/?#]/.test(text) ? undefined : decode(text))
  return decoded.some((text) => text === undefined) ? undefined : decoded as ReadonlyArray<string>
}

const valuesOf: Readonly<Record<Exclude<Kind, "params">, (text: string) => ReadonlyArray<string> | undefined>> = {
  text: (text) => decodeAll([text]),
  reserved: (text) => {
    const decoded = decode(text)
    return decoded === undefined ? undefined : [decoded]
  },
  list: (text) => text === "" ? [] : decodeAll(text.split(",")),
  segments: (text) => text === "" ? [] : text.startsWith("/") ? decodeAll(text.slice(1).split("/")) : undefined
}

const read = ({ kind, specs }: Place, text: string): Entries | undefined => {
  if (kind === "params") {
    return text === "" ? [] : text.startsWith(";") ? params(specs, text.slice(1).split(";")) : undefined
  }
  const values = valuesOf[kind](text)
  return values && [[specs[0].name, kind === "text" || kind === "reserved" ? values[0]! : values]]
}

/** Parameters by name, those that are named. A list is every value of one; nothing else may stand twice. */
const params = (specs: ReadonlyArray<Spec>, pairs: ReadonlyArray<string>): Entries | undefined => {
  const lists = new Map(specs.map(({ explode, name }) => [name, explode]))
  const found = new Map<string, Array<string>>()
  for (const pair of pairs) {
    const equals = pair.indexOf("=")
    const name = equals === -1 ? pair : pair.slice(0, equals)
    const isList = lists.get(name)
    if (isList === undefined) continue
    const value = decodeAll([equals === -1 ? "" : pair.slice(equals + 1)])?.[0]
    const values = found.get(name)
    if (value === undefined || (values !== undefined && !isList)) return undefined
    if (values === undefined) found.set(name, [value])
    else values.push(value)
  }
  return [...found].map(([name, values]) => [name, lists.get(name) === true ? values : values[0]!])
}
