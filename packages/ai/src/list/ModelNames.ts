/**
 * Assigns names for models to the tools of a `ToolList` and of a sampling request (`SamplingPrompt`). `ModelName` makes the names. A tool
 * keeps its name until it is no longer listed, even when other tools are added or removed.
 */
import * as ModelName from "../text/ModelName.js"

export interface Named {
  /** What stays the same while the tool is listed: its server, and its name at the server. */
  readonly key: string
  /** The name that the tool should have. */
  readonly wanted: string
}

/**
 * Returns the names, by the keys of the tools. A tool that has a name in `before` keeps this name. The other tools get their names in
 * order.
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
