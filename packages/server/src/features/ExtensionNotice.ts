/**
 * Logs a warning for each extension that features of a server use and that the server was not given: what belongs to it is
 * not served, which is easily overlooked. Only extensions that one of the server's revisions has count.
 */
import type { Extension } from "@effect-mcp/protocol/Extension"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import type { Version } from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type { RegistryService } from "../Registry.js"

export const warn = (
  { descriptions, handlers }: RegistryService,
  given: ReadonlyMap<string, Extension.Any>,
  versions: ReadonlyArray<Version>
): Effect.Effect<void> => {
  const used = new Set<string>()
  for (const { extension, method: { since, until } } of handlers.values()) {
    if (extension !== undefined && versions.some((version) => ExtensionTable.isIn({ since, until }, version))) {
      used.add(extension)
    }
  }
  for (const { extension } of descriptions) {
    if (extension !== undefined) used.add(extension)
  }
  return Effect.forEach(
    [...used].filter((id) => !given.has(id)),
    (id) =>
      Effect.logWarning(
        `Features of this server use the extension "${id}", which the server was not given: add it to the option \`extensions\``
      ),
    { discard: true }
  )
}
