/**
 * Gives each tool of a list a name that models accept, for `ToolList` and for the tools of a sampling request (`SamplingPrompt`).
 * `ModelName` makes the names. A tool keeps its name while its server lists it, even when the server adds or removes other tools.
 */
import * as ModelName from "../text/ModelName.js"

export interface Named {
  /** The identity of the tool: its server, and its name at the server. */
  readonly key: string
  /** The name that the tool should have. */
  readonly wanted: string
}

/**
 * Returns the name of each tool, by the `key` of the tool. A tool that has a name in `before` keeps this name. The other tools get their
 * names in the order of `tools`.
 */
export const assign = (
  tools: ReadonlyArray<Named>,
  before: ReadonlyMap<string, string> = new Map()
): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const { key } of tools) {
    const name = before.get(key)
    if (name === undefined || taken.has(name)) continue
    names.set(key, name)
    taken.add(name)
  }
  const unique = ModelName.unique(taken)
  for (const { key, wanted } of tools) if (!names.has(key)) names.set(key, unique(wanted))
  return names
}
