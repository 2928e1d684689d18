/**
 * Reads a member of an entry of a configuration that people write by hand, for `ServersConfig`. A number or a boolean is accepted as a
 * text, and `null` counts as absent. When a member cannot be read, the reason names the place of the member. A reason never quotes a value,
 * because the value may be a secret.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

/** Why an entry cannot be read, and the place inside the entry. */
export interface Flaw {
  readonly member: string
  readonly reason: string
}

export type Read<A> = Either.Either<A, Flaw>

export const flaw = (member: string, reason: string): Read<never> => Either.left({ member, reason })

/**
 * Returns the value of an own member; `undefined` when the member is absent or `null`. A member that the object inherits, for example
 * because of a key `__proto__`, does not count.
 */
export const own = (entry: Readonly<Record<string, unknown>>, member: string): unknown =>
  Object.hasOwn(entry, member) ? entry[member] ?? undefined : undefined

/** Whether a value is an object and not a list. */
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

/** Reads an object of texts. A member that is `null` is left out. */
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

/** Returns the place of a member inside another member. */
export const within = (member: string, key: string): string => `${member}.${key.slice(0, MAX_KEY)}`

export const flag = (value: unknown, member: string): Read<boolean> =>
  typeof value === "boolean"
    ? Either.right(value)
    : value === "true" || value === "false"
    ? Either.right(value === "true")
    : flaw(member, "expected true or false")
