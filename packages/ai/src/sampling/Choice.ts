/**
 * Which of the application's models serves a request for a message: the first hint that one of their names contains, then the
 * priorities of the server, weighed with what the application says of each model; then the order of the application.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#model-preferences
 */
import type { ModelPreferences } from "@effect-mcp/protocol/Sampling"

export interface Rated {
  readonly name: string
  readonly aliases?: ReadonlyArray<string> | undefined
  readonly cost?: number | undefined
  readonly speed?: number | undefined
  readonly intelligence?: number | undefined
}

export const choose = <A extends Rated>(
  models: readonly [A, ...Array<A>],
  preferences: ModelPreferences = {}
): A => {
  for (const { name } of preferences.hints ?? []) {
    const [first, ...rest] = name === undefined || name === "" ? [] : models.filter((model) => matches(model, name))
    if (first !== undefined) return best([first, ...rest], preferences)
  }
  return best(models, preferences)
}

const matches = ({ aliases = [], name }: Rated, hint: string): boolean =>
  [name, ...aliases].some((one) => one.toLowerCase().includes(hint.toLowerCase()))

/** The first of the highest rating. */
const best = <A extends Rated>(models: readonly [A, ...Array<A>], preferences: ModelPreferences): A =>
  models.reduce((chosen, model) => rating(model, preferences) > rating(chosen, preferences) ? model : chosen, models[0])

const rating = (
  { cost = 0.5, intelligence = 0.5, speed = 0.5 }: Rated,
  { costPriority = 0, intelligencePriority = 0, speedPriority = 0 }: ModelPreferences
): number => cost * costPriority + speed * speedPriority + intelligence * intelligencePriority
