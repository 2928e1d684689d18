/**
 * Reads one member of an entry of a configuration that people write by hand, for `ServersConfig`: a number or a boolean is a text where a
 * text is wanted, `null` is absent, and what cannot be read is named by its place. No message quotes a value: it may be a secret.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

/** What cannot be read: the place in the entry, and why. */
export interface Flaw {
  readonly member: string
  readonly reason: string
}

export type Read<A> = Either.Either<A, Flaw>

export const flaw = (member: string, reason: string): Read<never> => Either.left({ member, reason })

/** An own member: a value that a key such as `__proto__` has put behind the object does not count. */
export const own = (entry: Readonly<Record<string, unknown>>, member: string): unknown =>
  Object.hasOwn(entry, member) ? entry[member] ?? undefined : undefined

/** An object that is not a list. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isRecord(value) && !Array.isArray(value)

/** Reads a member that may be absent. */
export const optional =
  <A>(read: (value: unknown, member: string) => Read<A>) => (value: unknown, member: string): Read<A | undefined> =>
    value === undefined ? Either.right(undefined) : read(value, member)

export const text = (value: unknown, member: string): Read<string> =>
  typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
    ? Either.right(String(value))
    : flaw(member, "expected a string")

export const filled = (value: unknown, member: string): Read<string> =>
  Either.filterOrLeft(text(value, member), (text) => text !== "", () => ({ member, reason: "is empty" }))

export const texts = (value: unknown, member: string): Read<ReadonlyArray<string>> =>
  Array.isArray(value)
    ? Either.all(value.map((one, index) => text(one, `${member}[${index}]`)))
    : flaw(member, "expected a list of strings")

/** An object of texts. A member that is `null` is left out. */
export const record = (value: unknown, member: string): Read<Readonly<Record<string, string>>> =>
  isObject(value)
    ? Either.map(
      Either.all(
        Object.entries(value).filter(([, one]) => one !== null)
          .map(([key, one]) => Either.map(text(one, within(member, key)), (text) => [key, text] as const))
      ),
      (members): Readonly<Record<string, string>> => Object.fromEntries(members)
    )
    : flaw(member, "expected an object of strings")

const MAX_KEY = 100

/** The place of a member in a member. */
export const within = (member: string, key: string): string => `${member}.${key.slice(0, MAX_KEY)}`

export const flag = (value: unknown, member: string): Read<boolean> =>
  typeof value === "boolean"
    ? Either.right(value)
    : value === "true" || value === "false"
    ? Either.right(value === "true")
    : flaw(member, "expected true or false")
