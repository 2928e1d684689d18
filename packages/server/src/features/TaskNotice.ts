/**
 * Logs a warning for tools that run as tasks only, on a server that runs no tasks: their calls are served as those of other tools,
 * which is easily overlooked. Only for servers with a revision that has tasks.
 */
import * as Version from "@effect-mcp/protocol/Version"
import * as Effect from "effect/Effect"
import type { RegistryService } from "../Registry.js"
import * as TaskRunner from "../tasks/TaskRunner.js"

export const warn = (registry: RegistryService, versions: ReadonlyArray<Version.Version>): Effect.Effect<void> => {
  if (TaskRunner.of(registry) !== undefined || !versions.some((version) => Version.isAtLeast(version, "2025-11-25"))) {
    return Effect.void
  }
  const names = Array.from(registry.tools.values())
    .flatMap(({ advertised, task }) => task?.support === "required" ? [`"${advertised.name}"`] : [])
  return names.length === 0 ? Effect.void : Effect.logWarning(
    `This server runs no tasks, so these tools, which require one, are served without: ${names.join(", ")}. Add ` +
      "`Tasks.layer` to its features"
  )
}
