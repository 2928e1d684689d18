/**
 * The keywords of JSON Schema that look at an array: how many items it has, which schema each of them matches, and the items
 * that no other keyword has looked at. `SchemaKeywords` has those for values of other types.
 *
 * Each keyword leaves a value that is no array to `type`.
 */
import type { Check, Evaluated, Keyword, Run } from "./SchemaCheck.js"
import * as SchemaCheck from "./SchemaCheck.js"
import { attempt, count, inside, mark, nothing, schemas } from "./SchemaCheck.js"

const arrays =
  (check: (items: ReadonlyArray<unknown>, run: Run, evaluated: Evaluated | undefined) => boolean): Check =>
  (value, run, evaluated) => !Array.isArray(value) || check(value, run, evaluated)

const itemsFrom = (start: number, check: Check): Check =>
  arrays((items, run, evaluated) => {
    let valid = true
    for (let n = start; n < items.length; n++) {
      run.budget.spend(0.25)
      valid = inside(check, items[n], n, run) && valid
      mark(evaluated?.items, n, run.budget)
    }
    return valid
  })

const firstItems = (checks: ReadonlyArray<Check>): Check =>
  arrays((items, run, evaluated) => {
    let valid = true
    for (let n = 0; n < Math.min(items.length, checks.length); n++) {
      valid = inside(checks[n]!, items[n], n, run) && valid
      mark(evaluated?.items, n, run.budget)
    }
    return valid
  })

export const lists: Readonly<Record<string, Keyword>> = {
  maxItems: (given) => {
    const limit = count(given)
    return arrays((items, run) => items.length <= limit || run.fail(`must have at most ${limit} items`))
  },
  minItems: (given) => {
    const limit = count(given)
    return arrays((items, run) => items.length >= limit || run.fail(`must have at least ${limit} items`))
  },
  uniqueItems: (unique) =>
    arrays((items, run) =>
      unique !== true || new Set(items.map((item) =>
          SchemaCheck.canonicalText(item, run.budget)
        )).size === items.length ||
      run.fail("must not contain the same item twice")
    ),
  contains: (given, { compile, draft, schema }) => {
    const check = compile(given)
    const counts = draft !== "draft-07"
    const min = counts && schema["minContains"] !== undefined ? count(schema["minContains"]) : 1
    const max = counts && schema["maxContains"] !== undefined ? count(schema["maxContains"]) : Infinity
    return arrays((items, run, evaluated) => {
      let found = 0
      for (let n = 0; n < items.length; n++) {
        run.budget.spend(1)
        if (!attempt((item) => inside(check, item, n, run), items[n], run, undefined)) continue
        found++
        if (draft === "2020-12") mark(evaluated?.items, n, run.budget)
      }
      return (found >= min && found <= max) || run.fail(`contains ${found} items that match contains`)
    })
  },
  prefixItems: (given, source) => source.draft === "2020-12" ? firstItems(schemas(given, source)) : nothing,
  items: (given, source) =>
    source.draft !== "2020-12" && Array.isArray(given)
      ? firstItems(schemas(given, source))
      : itemsFrom(
        source.draft === "2020-12" && Array.isArray(source.schema["prefixItems"])
          ? source.schema["prefixItems"].length
          : 0,
        source.compile(given)
      ),
  additionalItems: (given, { compile, draft, schema }) =>
    draft !== "2020-12" && Array.isArray(schema["items"]) ? itemsFrom(schema["items"].length, compile(given)) : nothing,
  unevaluatedItems: (given, { compile, draft }) => {
    if (draft === "draft-07") return nothing
    const check = compile(given)
    return arrays((items, run, evaluated) => {
      let valid = true
      for (let n = 0; n < items.length; n++) {
        run.budget.spend(1)
        if (evaluated!.items.has(n)) continue
        valid = inside(check, items[n], n, run) && valid
        mark(evaluated!.items, n, run.budget)
      }
      return valid
    })
  }
}
