// Compares figures with those of budgets.json: no figure may exceed its budget, and each has one. Who lowers a figure lowers
// its budget. size.mjs and walk.mjs count.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./workspace.mjs"

const file = "scripts/budgets.json"

/** The budgets of one script, by what is counted. */
export const budgetsOf = (script, at = root) => JSON.parse(readFileSync(join(at, file), "utf8"))[script]

/** A table of figures and budgets; what exceeds its budget, with the advice for it; and what could be lowered. */
export const compare = (figures, budgets, advice) => {
  const names = Object.keys(figures)
  const width = Math.max(...names.map((name) => name.length))
  const row = (what, now, budget) => `${what.padEnd(width)}  ${String(now).padStart(7)}  ${String(budget).padStart(7)}`
  const problems = []
  const notices = []
  for (const [name, now] of Object.entries(figures)) {
    const budget = budgets[name]
    if (budget === undefined) problems.push(`${file}: give "${name}" a budget: it is ${now}`)
    else if (now > budget) problems.push(`${file}: "${name}" is ${now}, its budget ${budget}: ${advice(name)}`)
    else if (now < budget) notices.push(`${file}: notice: lower the budget of "${name}" from ${budget} to ${now}`)
  }
  for (const name of Object.keys(budgets)) {
    if (figures[name] === undefined) problems.push(`${file}: remove "${name}": nothing of this name is counted`)
  }
  const table = [
    row("what", "now", "budget"),
    ...names.map((name) => row(name, figures[name], budgets[name] ?? "none"))
  ]
  return { table, problems, notices }
}
