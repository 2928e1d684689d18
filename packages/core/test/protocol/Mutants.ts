/**
 * Ways to break a message: a member that is missing, `null`, of the wrong type, added, far too large, named
 * `__proto__`, or nested ten thousand levels deep, at any path.
 */

export type Path = ReadonlyArray<string | number>

export interface Mutant {
  readonly kind: Kind
  readonly path: Path
  readonly value: unknown
}

const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? { a: value } : [value]
  return value
}

const abyss = deep(10_000)
const long = "x".repeat(100_000)
const many = Array.from({ length: 10_000 }, () => "x")

const gone = Symbol("gone")

const others = (value: unknown): ReadonlyArray<unknown> =>
  [0, 1.5, "", "word", true, [], [0], {}, { a: 0 }].filter((other) =>
    typeof other !== typeof value || Array.isArray(other) !== Array.isArray(value)
  )

const changes = {
  missing: () => gone,
  null: () => null,
  type: (value: unknown, nth: number) => {
    const all = others(value)
    return all[nth % all.length]
  },
  extra: (value: unknown) =>
    Array.isArray(value)
      ? [...value as Array<unknown>, { extra: true }]
      : typeof value === "object" && value !== null
      ? { ...value, "com.example/extra": { deep: [1] } }
      : [value],
  oversize: (value: unknown) =>
    typeof value === "number"
      ? 1e308
      : Array.isArray(value)
      ? many
      : typeof value === "object"
      ? { [long]: long }
      : long,
  negative: (value: unknown) => typeof value === "number" ? -1.5 : typeof value === "string" ? `${value}\u0000` : -1,
  prototype: (value: unknown) => {
    const poison = JSON.parse("{\"__proto__\":{\"polluted\":true}}") as object
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.defineProperties({ ...value }, Object.getOwnPropertyDescriptors(poison))
      : poison
  },
  deep: () => abyss
} satisfies Record<string, (value: unknown, nth: number) => unknown>

export type Kind = keyof typeof changes

export const kinds = Object.keys(changes) as ReadonlyArray<Kind>

/** Every path of a value, the root first. */
export const paths = (value: unknown, at: Path = []): ReadonlyArray<Path> => [
  at,
  ...(typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => paths(inner, [...at, Array.isArray(value) ? Number(key) : key]))
    : [])
]

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], value)

const replaced = (value: unknown, [key, ...rest]: Path, by: (value: unknown) => unknown): unknown => {
  if (key === undefined) return by(value)
  const inner = replaced((value as Record<string | number, unknown>)[key], rest, by)
  if (Array.isArray(value)) {
    return inner === gone
      ? value.filter((_, i) => i !== key)
      : value.map((one, i) => i === key ? inner : one as unknown)
  }
  if (inner !== gone) return { ...value as object, [key]: inner }
  const copy = { ...value as Record<string, unknown> }
  delete copy[key]
  return copy
}

/** A value broken at a path. The root of parameters stays an object, because the message parser refuses all else. */
export const mutate = (value: unknown, path: Path, kind: Kind, nth: number): Mutant | undefined => {
  if (path.length === 0 && kind !== "extra" && kind !== "prototype") return undefined
  const change = changes[kind]
  return { kind, path, value: replaced(value, path, () => change(valueAt(value, path), nth)) }
}

/** All mutants of a value, each kind at each path. */
export const all = (value: unknown): ReadonlyArray<Mutant> =>
  paths(value).flatMap((path) =>
    kinds.flatMap((kind, nth) => {
      const mutant = mutate(value, path, kind, nth + path.length)
      return mutant === undefined ? [] : [mutant]
    })
  )

/** Whether one path is the other, or leads into it. */
export const touches = (one: string, other: Path): boolean => {
  const there = other.join(".")
  return one === there || one === "" || there === "" || one.startsWith(`${there}.`) || there.startsWith(`${one}.`)
}

/** Whether an object anywhere in a value has a prototype from a peer. */
export const isPolluted = (value: unknown, depth = 20): boolean => {
  if (typeof value !== "object" || value === null || depth === 0) return false
  const prototype = Object.getPrototypeOf(value) as unknown
  return (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) ||
    Object.values(value).some((inner) => isPolluted(inner, depth - 1))
}
