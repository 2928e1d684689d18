/**
 * Variables in the texts of a configuration (`ServersConfig`), in the spellings of hosts. A variable for which only a host can have a
 * value, such as `${input:token}`, counts as a variable without a value.
 */
import * as Either from "effect/Either"

interface Variable {
  /** The name of the variable, as it is in the text. */
  readonly name: string
  /** The name under which the value is looked up; `undefined` when only a host can have a value. */
  readonly key: string | undefined
  readonly byDefault: string | undefined
}

/** Returns the text of a reference to an environment variable, in this syntax. */
export const reference = (name: string, syntax: Syntax): string =>
  syntax === "{env:NAME}" ? `{env:${name}}` : `\${env:${name}}`

const places = {
  "${NAME}": /\$\{([^{}]*(?:\$\{[^{}]*\}[^{}]*)*)\}/g,
  "$NAME": /\$\{([^{}]*(?:\$\{[^{}]*\}[^{}]*)*)\}|\$([A-Za-z_][A-Za-z0-9_]*)/g,
  "{env:NAME}": /\{((?:env|file):[^{}]*)\}/g
}

export type Syntax = keyof typeof places

/** The text between the braces of a variable. Other expressions of a shell, such as `${#list}`, are not variables. */
const form = /^(?:env:(?<env>[^:]+?)|(?<name>[A-Za-z_][A-Za-z0-9_]*|\/))(?::-(?<byDefault>.*))?$|^[A-Za-z]+:(?!-)/s

const variableOf = (inside: string): Variable | undefined => {
  const found = form.exec(inside)
  if (found === null) return undefined
  const { byDefault, env, name } = found.groups ?? {}
  const key = env ?? name
  // A default that has a variable is not supported, because it would have to be filled in as well.
  return key === undefined || byDefault?.includes("${") === true
    ? { name: inside, key: undefined, byDefault: undefined }
    : { name: key, key, byDefault }
}

/** Returns the names of the variables in a text. */
export const names = (text: string, syntax: Syntax): ReadonlyArray<string> =>
  [...text.matchAll(places[syntax])].flatMap(([, inside, bare]) => {
    const variable = variableOf(inside ?? bare ?? "")
    return variable === undefined ? [] : [variable.name]
  })

/** Replaces the variables of a text by their values. On the left: the name of the first variable that has no value and no default. */
export const fill = (
  text: string,
  syntax: Syntax,
  valueOf: (key: string) => string | undefined
): Either.Either<string, string> => {
  const missing: Array<string> = []
  const filled = text.replace(places[syntax], (whole, inside?: string, bare?: string) => {
    const variable = variableOf(inside ?? bare ?? "")
    if (variable === undefined) return whole
    const value = (variable.key === undefined ? undefined : valueOf(variable.key)) ?? variable.byDefault
    if (value === undefined) missing.push(variable.name)
    return value ?? ""
  })
  return missing[0] === undefined ? Either.right(filled) : Either.left(missing[0])
}
